/** Work that Node does in threads of its own, done at once in this thread, and told in a turn of its own. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'

type Done = (error: Error | null, result?: Buffer) => void

/** Has `work` done now, and its caller told in a later turn. */
function inTurn(work: () => Buffer, done: Done): void {
  let result: Buffer | undefined
  let failure: Error | null = null
  try {
    result = work()
  } catch (error) {
    failure = error as Error
  }
  setImmediate(() => done(failure, result))
}

/** What is derived is as good to tell passwords apart, and takes no 80 ms of a processor. */
const SCRYPT_COST = 2

/** Exchanges compression and the hashing of passwords. @returns puts them back */
export function simulateThreads(): () => void {
  const { deflateRaw, inflateRaw } = zlib
  const { scrypt } = crypto
  Object.assign(zlib, {
    deflateRaw: (bytes: zlib.InputType, options: zlib.ZlibOptions, done: Done) =>
      inTurn(() => zlib.deflateRawSync(bytes, options), done),
    inflateRaw: (bytes: zlib.InputType, options: zlib.ZlibOptions, done: Done) =>
      inTurn(() => zlib.inflateRawSync(bytes, options), done),
  })
  Object.assign(crypto, {
    scrypt: (password: string, salt: Uint8Array, length: number, options: crypto.ScryptOptions, done: Done) =>
      inTurn(() => crypto.scryptSync(password, salt, length, { ...options, cost: SCRYPT_COST }), done),
  })
  syncBuiltinESMExports()
  return () => {
    Object.assign(zlib, { deflateRaw, inflateRaw })
    Object.assign(crypto, { scrypt })
    syncBuiltinESMExports()
  }
}
