/** Building blocks of row keys. Numbers are 8 bytes big-endian, so rows sort by them. */
import { type PayloadId, payloadIdOf } from '../engine/brands.ts'

const HIGH = 2 ** 32
export const NUMBER_BYTES = 8

export function writeNumber(target: Buffer, value: number, at: number): void {
  target.writeUInt32BE(Math.floor(value / HIGH), at)
  target.writeUInt32BE(value >>> 0, at + 4)
}

export function readNumber(source: Buffer, at: number): number {
  return readWord(source, at) * HIGH + readWord(source, at + 4)
}

/** By hand, which takes half as long as the platform's checked read: a listing reads two numbers a row. */
function readWord(source: Buffer, at: number): number {
  const high = ((source[at] as number) << 24) | ((source[at + 1] as number) << 16)
  return (high | ((source[at + 2] as number) << 8) | (source[at + 3] as number)) >>> 0
}

/** The id of a payload; undefined for 0, which stands in rows without bytes. */
export function readPayload(source: Buffer, at: number): PayloadId | undefined {
  const id = readNumber(source, at)
  return id === 0 ? undefined : payloadIdOf(id)
}

/** A key that is one number. */
export function numberKey(value: number): Buffer {
  const key = Buffer.allocUnsafe(NUMBER_BYTES)
  writeNumber(key, value, 0)
  return key
}

/** The smallest key after every key with this prefix; undefined if no key can be. */
export function successor(prefix: Buffer): Buffer | undefined {
  for (let index = prefix.length - 1; index >= 0; index -= 1) {
    const byte = prefix[index] as number
    if (byte === 0xff) continue
    const next = Buffer.from(prefix.subarray(0, index + 1))
    next[index] = byte + 1
    return next
  }
  return undefined
}
