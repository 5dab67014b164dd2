import type { BucketId } from '../../engine/brands.ts'
import { NUMBER_BYTES, successor, writeNumber } from '../keys.ts'
import type { Row, TableReader } from '../lmdb-environment.ts'
import { decodeListed, type ListedObject } from '../tables/objects.ts'

/** A place in a listing: after a key, or after every key that begins with a common prefix. */
export interface ListPosition {
  readonly kind: 'after-key' | 'after-prefix'
  /** Raw bytes of the key or prefix. */
  readonly bytes: Buffer
}

/** What a listing asks for. Byte strings are UTF-8. */
export interface ListRequest {
  readonly prefix: Buffer
  readonly delimiter: Buffer | undefined
  readonly after: ListPosition | undefined
  /** Objects and common prefixes together, at most. */
  readonly entriesMaximum: number
}

export interface ListPage {
  readonly objects: readonly ListedObject[]
  readonly prefixes: readonly string[]
  /** Where the next page begins; undefined when this is the last one. */
  readonly next: ListPosition | undefined
}

/**
 * One page of a bucket in the order of the keys' bytes. The scan seeks past all keys of a common prefix instead of
 * reading them, so the cost of a prefix does not depend on their number.
 */
export function listObjects(objects: TableReader, bucketId: BucketId, request: ListRequest): ListPage {
  const page = new PageBuilder(bucketId, request)
  while (page.wantsMore()) {
    const before = page.start
    for (const row of objects.rows(page.range())) {
      if (page.add(row) === 'seek') break
    }
    if (page.start === before) break
  }
  return page.finish()
}

/** First row key that may follow a position. */
function firstAfter(position: ListPosition): Buffer {
  // UTF-8 has no byte 0xff, so a prefix always has a successor.
  if (position.kind === 'after-prefix') return successor(position.bytes) as Buffer
  return Buffer.concat([position.bytes, Buffer.of(0)])
}

/** Builds one page and keeps the place of the scan. */
class PageBuilder {
  /** Row key where the next seek begins. */
  start: Buffer
  readonly #request: ListRequest
  readonly #end: Buffer
  readonly #objects: ListedObject[] = []
  readonly #prefixes: string[] = []
  /** Row key of the last entry if that is an object; otherwise what the rows of its common prefix begin with. */
  #lastKey: Buffer | undefined
  #lastPrefix: Buffer | undefined
  #truncated = false

  constructor(bucketId: BucketId, request: ListRequest) {
    this.#request = request
    const bucket = Buffer.allocUnsafe(NUMBER_BYTES)
    writeNumber(bucket, bucketId, 0)
    const { prefix } = request
    const after = request.after === undefined ? prefix : firstAfter(request.after)
    this.start = Buffer.concat([bucket, Buffer.compare(after, prefix) > 0 ? after : prefix])
    this.#end = successor(Buffer.concat([bucket, prefix])) as Buffer
  }

  wantsMore(): boolean {
    return !this.#truncated && this.#request.entriesMaximum > 0
  }

  /** One row more than the page holds: it shows whether another page follows. */
  range(): { start: Buffer; end: Buffer; limit: number } {
    return { start: this.start, end: this.#end, limit: this.#request.entriesMaximum - this.#count + 1 }
  }

  /** Adds a row; `seek` means that the scan must continue at `start` and not at the next row. */
  add(row: Row): 'next' | 'seek' {
    if (this.#count === this.#request.entriesMaximum) {
      this.#truncated = true
      return 'seek'
    }
    const prefixEnd = this.#commonPrefixEnd(row.key)
    if (prefixEnd === undefined) {
      this.#objects.push(decodeListed(row.key, row.value))
      this.#lastKey = row.key
      return 'next'
    }
    const prefix = row.key.subarray(0, prefixEnd)
    this.#prefixes.push(prefix.toString('utf8', NUMBER_BYTES))
    this.#lastKey = undefined
    this.#lastPrefix = prefix
    this.start = successor(prefix) as Buffer
    return 'seek'
  }

  finish(): ListPage {
    return { objects: this.#objects, prefixes: this.#prefixes, next: this.#truncated ? this.#position() : undefined }
  }

  #position(): ListPosition | undefined {
    const row = this.#lastKey ?? this.#lastPrefix
    if (row === undefined) return undefined
    return { kind: row === this.#lastKey ? 'after-key' : 'after-prefix', bytes: row.subarray(NUMBER_BYTES) }
  }

  get #count(): number {
    return this.#objects.length + this.#prefixes.length
  }

  #commonPrefixEnd(row: Buffer): number | undefined {
    const { delimiter, prefix } = this.#request
    if (delimiter === undefined) return undefined
    const at = row.indexOf(delimiter, NUMBER_BYTES + prefix.length)
    return at === -1 ? undefined : at + delimiter.length
  }
}
