import { join } from 'node:path'
import type { Children } from './children.ts'
import { runFiller } from './filler.ts'
import type { BenchSecrets } from './server-process.ts'

/** Bytes of each object put into a large store. */
export const FILL_OBJECT_BYTES = 512
export const FILL_BUCKET = 'filled'

/** A data directory that is filled step by step, and shared by all scenarios that need many objects. */
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
    const { seconds } = await runFiller(this.#children, {
      kind: 'objects',
      dataDirectory: this.directory,
      masterKey: this.#secrets.masterKey,
      settings: [],
      bucket: FILL_BUCKET,
      from: this.#objects,
      count: stored,
      objectBytes: FILL_OBJECT_BYTES,
      overwrites: 0,
    })
    this.#objects = objects
    return { stored, seconds }
  }
}
