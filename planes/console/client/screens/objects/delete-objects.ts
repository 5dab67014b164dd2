import { call } from '../../api/call.ts'

/** Concurrent deletions. */
const AT_ONCE = 4

/** Deletes many objects. A retry deletes only the rest. */
export class Deletion {
  readonly #bucket: string
  readonly #left: Set<string>
  readonly #total: number
  #stopped = false

  constructor(bucket: string, keys: ReadonlySet<string>) {
    this.#bucket = bucket
    this.#left = new Set(keys)
    this.#total = keys.size
  }

  get deleted(): number {
    return this.#total - this.#left.size
  }

  /**
   * Deletes the remaining objects, until none is left or `stop` is called.
   * @param onProgress called with the number of deleted objects
   * @throws ApiError of the first refusal, after deletions under way have finished; no further one is started
   */
  async run(onProgress: (deleted: number) => void): Promise<void> {
    this.#stopped = false
    const waiting = [...this.#left]
    const work = async () => {
      for (let key = waiting.shift(); key !== undefined && !this.#stopped; key = waiting.shift()) {
        await this.#delete(key)
        onProgress(this.deleted)
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** Starts no further deletion. */
  stop(): void {
    this.#stopped = true
  }

  async #delete(key: string): Promise<void> {
    try {
      await call('DELETE /buckets/{bucket}/object/{key}', { path: { bucket: this.#bucket, key } })
      this.#left.delete(key)
    } catch (error) {
      this.#stopped = true
      throw error
    }
  }
}

const PAGE_KEYS = 1000

/**
 * Deletes every object with a prefix, page by page in the order of keys. An object created meanwhile with a key before
 * the current page stays.
 */
export class FolderDeletion {
  readonly #bucket: string
  readonly #prefix: string
  #page: Deletion | undefined
  #stopped = false
  #before = 0

  constructor(bucket: string, prefix: string) {
    this.#bucket = bucket
    this.#prefix = prefix
  }

  get deleted(): number {
    return this.#before + (this.#page?.deleted ?? 0)
  }

  /** As `Deletion.run`. */
  async run(onProgress: (deleted: number) => void): Promise<void> {
    this.#stopped = false
    const path = { bucket: this.#bucket }
    let after: string | undefined
    do {
      const query = { prefix: this.#prefix, limit: PAGE_KEYS, after }
      const listed = await call('GET /buckets/{bucket}/objects', { path, query })
      this.#before = this.deleted
      this.#page = new Deletion(this.#bucket, new Set(listed.objects.map(({ key }) => key)))
      if (!this.#stopped) await this.#page.run(() => onProgress(this.deleted))
      after = listed.next_after ?? undefined
    } while (after !== undefined && !this.#stopped)
  }

  /** Starts no further deletion. */
  stop(): void {
    this.#stopped = true
    this.#page?.stop()
  }
}
