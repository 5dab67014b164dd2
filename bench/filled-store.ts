import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Children } from './children.ts'
import type { BenchSecrets } from './server-process.ts'

const FILLER = fileURLToPath(new URL('./fill-store.js', import.meta.url))
/** Objects a second that even a slow machine stores. */
const SLOWEST_PER_SECOND = 1000
const SHORTEST_TIMEOUT_SECONDS = 60

/** Bytes of each object put into a large store. */
export const FILL_OBJECT_BYTES = 512
export const FILL_BUCKET = 'filled'

/** What fill-store.ts reads on standard input. */
export interface FillRequest {
  readonly dataDirectory: string
  /** Hexadecimal. */
  readonly masterKey: string
  readonly bucket: string
  /** Number of the first object. */
  readonly from: number
  readonly count: number
  readonly objectBytes: number
}

/** Storing many objects failed. */
export class FillFailedError extends Error {
  override readonly name = 'FillFailedError'
}

/**
 * A data directory that is filled step by step, and shared by all scenarios that need many objects. Objects are written
 * by the engine itself in a process without HTTP, through the same commands a front end sends it; no server may run on
 * the directory meanwhile.
 */
export class FilledStore {
  readonly directory: string
  readonly #children: Children
  readonly #secrets: BenchSecrets
  #objects = 0

  constructor(parent: string, children: Children, secrets: BenchSecrets) {
    this.directory = join(parent, 'filled-store')
    this.#children = children
    this.#secrets = secrets
  }

  /** Objects in it now. */
  get objects(): number {
    return this.#objects
  }

  /**
   * Fills it up to `objects` objects.
   * @returns objects stored and the seconds it took
   * @throws FillFailedError, ChildTimeoutError
   */
  async fillTo(objects: number): Promise<{ readonly stored: number; readonly seconds: number }> {
    const stored = Math.max(0, objects - this.#objects)
    if (stored === 0) return { stored, seconds: 0 }
    const request: FillRequest = {
      dataDirectory: this.directory,
      masterKey: this.#secrets.masterKey,
      bucket: FILL_BUCKET,
      from: this.#objects,
      count: stored,
      objectBytes: FILL_OBJECT_BYTES,
    }
    const outcome = await this.#children.run(process.execPath, [FILLER], {
      input: JSON.stringify(request),
      timeoutMilliseconds: Math.max(SHORTEST_TIMEOUT_SECONDS, stored / SLOWEST_PER_SECOND) * 1000,
    })
    if (outcome.exitCode !== 0) throw new FillFailedError(`filling the store failed:\n${outcome.stderr.slice(-2000)}`)
    this.#objects = objects
    return { stored, seconds: outcome.seconds }
  }
}
