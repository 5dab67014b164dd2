import { call } from '../../api/call.ts'

/** Deletions that are under way at the same time. */
const AT_ONCE = 4

/** The deletion of many objects. What was deleted is not deleted again when the rest is tried once more. */
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
   * Deletes what is left, until all is gone or it is stopped.
   * @param onProgress called with the number of all that are deleted
   * @throws ApiError of the first refusal; what is under way is finished before, and nothing is begun after it
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

  /** Begins no further deletion. */
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

/** The deletion of every object whose key begins so, page by page in the order of keys. What arrives behind the page stays. */
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

  /** As that of `Deletion`. */
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

  /** Begins no further deletion. */
  stop(): void {
    this.#stopped = true
    this.#page?.stop()
  }
}
