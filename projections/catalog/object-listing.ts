import type { BucketId } from '../../engine/brands.ts'
import { NUMBER_BYTES, successor, writeNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { decodeListed, type ListedObject } from '../tables/objects.ts'

/** A place in a listing: after a key, or after every key with a common prefix. */
export interface ListPosition {
  readonly kind: 'after-key' | 'after-prefix'
  /** Raw bytes of the key or prefix. */
  readonly bytes: Buffer
}

/** Parameters of a listing. Byte strings are UTF-8. */
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
  /** Start of the next page; undefined on the last page. */
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
    for (const object of objects.decoded(page.range(), decodeListed)) {
      if (page.add(object) === 'seek') break
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
  /** Row key of the next seek. */
  start: Buffer
  readonly #request: ListRequest
  /** Row keys of the bucket begin with it. */
  readonly #bucket: Buffer
  readonly #end: Buffer
  readonly #delimiter: string | undefined
  /** Where in a key a delimiter may be: after the prefix. */
  readonly #delimiterFrom: number
  readonly #objects: ListedObject[] = []
  readonly #prefixes: string[] = []
  /** Whether the last entry is a common prefix. */
  #endsWithPrefix = false
  #truncated = false

  constructor(bucketId: BucketId, request: ListRequest) {
    this.#request = request
    const bucket = Buffer.allocUnsafe(NUMBER_BYTES)
    writeNumber(bucket, bucketId, 0)
    this.#bucket = bucket
    const { prefix, delimiter } = request
    this.#delimiter = delimiter?.toString()
    this.#delimiterFrom = prefix.toString().length
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

  /** Adds an object; `seek` means that the scan must continue at `start` and not at the next row. */
  add(object: ListedObject): 'next' | 'seek' {
    if (this.#count === this.#request.entriesMaximum) {
      this.#truncated = true
      return 'seek'
    }
    const prefix = this.#commonPrefix(object.key)
    if (prefix === undefined) {
      this.#objects.push(object)
      this.#endsWithPrefix = false
      return 'next'
    }
    this.#prefixes.push(prefix)
    this.#endsWithPrefix = true
    this.start = successor(Buffer.concat([this.#bucket, Buffer.from(prefix)])) as Buffer
    return 'seek'
  }

  finish(): ListPage {
    return { objects: this.#objects, prefixes: this.#prefixes, next: this.#truncated ? this.#position() : undefined }
  }

  #position(): ListPosition | undefined {
    const last = this.#endsWithPrefix ? this.#prefixes.at(-1) : this.#objects.at(-1)?.key
    if (last === undefined) return undefined
    return { kind: this.#endsWithPrefix ? 'after-prefix' : 'after-key', bytes: Buffer.from(last) }
  }

  get #count(): number {
    return this.#objects.length + this.#prefixes.length
  }

  #commonPrefix(key: string): string | undefined {
    if (this.#delimiter === undefined) return undefined
    const at = key.indexOf(this.#delimiter, this.#delimiterFrom)
    return at === -1 ? undefined : key.slice(0, at + this.#delimiter.length)
  }
}
