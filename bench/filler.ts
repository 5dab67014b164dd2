import { fileURLToPath } from 'node:url'
import type { Children, CommandOutcome } from './children.ts'

const FILLER = fileURLToPath(new URL('./fill-store.js', import.meta.url))
/** Commands a second that even a slow machine carries out. */
const SLOWEST_PER_SECOND = 1000
const SHORTEST_TIMEOUT_SECONDS = 60

interface FillBase {
  readonly dataDirectory: string
  /** Hexadecimal. */
  readonly masterKey: string
  /** `name=value` settings that a server on the directory will have too. */
  readonly settings: readonly string[]
  readonly bucket: string
}

/** Objects with the numbers `from` to `from + count - 1`. The bucket is made when `from` is 0. */
export interface FillObjects extends FillBase {
  readonly kind: 'objects'
  readonly from: number
  readonly count: number
  readonly objectBytes: number
  /** Objects among these, picked at random, that are then written again. */
  readonly overwrites: number
}

/** Multipart uploads in progress in a new bucket, each of as many parts. */
export interface FillUploads extends FillBase {
  readonly kind: 'uploads'
  readonly keys: readonly string[]
  readonly parts: number
  readonly partBytes: number
}

/** What fill-store.ts reads on standard input. */
export type FillRequest = FillObjects | FillUploads

/** Filling a store failed. */
export class FillFailedError extends Error {
  override readonly name = 'FillFailedError'
}

/**
 * Fills a data directory by the engine itself, in a process without HTTP, through the same commands a front end sends
 * it; no server may run on the directory meanwhile.
 * @throws FillFailedError, ChildTimeoutError
 */
export async function runFiller(children: Children, request: FillRequest): Promise<CommandOutcome> {
  const commands = request.kind === 'objects' ? request.count + request.overwrites : request.keys.length * request.parts
  const outcome = await children.run(process.execPath, [FILLER], {
    input: JSON.stringify(request),
    timeoutMilliseconds: Math.max(SHORTEST_TIMEOUT_SECONDS, commands / SLOWEST_PER_SECOND) * 1000,
  })
  if (outcome.exitCode !== 0) throw new FillFailedError(`filling the store failed:\n${outcome.stderr.slice(-2000)}`)
  return outcome
}
