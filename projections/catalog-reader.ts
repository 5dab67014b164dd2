import type { BucketState, ObjectState } from '../engine/state-ports.ts'
import type { PayloadLocation } from '../engine/payloads/payload-reader.ts'
import { NUMBER_BYTES, successor, writeNumber } from './keys.ts'
import type { ProjectionEnvironment, Row } from './lmdb-environment.ts'
import { openTables, type Tables } from './table-list.ts'
import { allBuckets, getBucket } from './tables/buckets.ts'
import { decodeListed, getObject, type ListedObject } from './tables/objects.ts'
import { getPayload } from './tables/payloads.ts'
import { type BucketUsage, decodeBucketUsage, decodeVolumeUsage, getBucketUsage } from './tables/usage.ts'

/** What a listing asks for. Byte strings are UTF-8. */
export interface ListRequest {
  readonly prefix: Buffer
  readonly delimiter: Buffer | undefined
  /** First key that may be listed, inclusive; undefined begins with the prefix. */
  readonly from: Buffer | undefined
  /** Objects and common prefixes together, at most. */
  readonly entriesMaximum: number
}

/** One entry of a listing: an object, or a prefix that stands for all keys below it. */
export type ListEntry =
  | { readonly kind: 'object'; readonly object: ListedObject }
  | { readonly kind: 'prefix'; readonly prefix: string }

export interface ListPage {
  readonly entries: readonly ListEntry[]
  /** Where the next page begins (`from`); undefined after the last page. */
  readonly next: Buffer | undefined
}

export interface CatalogTotals {
  readonly buckets: number
  readonly objects: number
  readonly logicalBytes: number
  /** Bytes of live small payloads in volumes. */
  readonly volumeBytes: number
}

/**
 * Reading the catalog, from any thread. Each method is one look at a consistent state that includes everything that
 * was acknowledged before the call.
 */
export class CatalogReader {
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(environment: ProjectionEnvironment) {
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  bucket(name: string): BucketState | undefined {
    this.#environment.refresh()
    return getBucket(this.#tables.buckets, name)
  }

  buckets(): BucketState[] {
    this.#environment.refresh()
    return [...allBuckets(this.#tables.buckets)]
  }

  /** The current object of a key in a bucket that `bucket` returned. */
  object(bucketId: number, key: string): ObjectState | undefined {
    return getObject(this.#tables.objects, bucketId, key)
  }

  /** Where an object's bytes are; undefined when the payload is gone, which means that the object changed meanwhile. */
  payload(payload: number): PayloadLocation | undefined {
    return getPayload(this.#tables.payloads, payload)?.location
  }

  /** Whether an entry refers to a payload file. */
  payloadFileIsUsed(name: string): boolean {
    this.#environment.refresh()
    return this.#tables.payloadFiles.get(Buffer.from(name, 'ascii')) !== undefined
  }

  bucketUsage(bucketId: number): BucketUsage {
    this.#environment.refresh()
    return getBucketUsage(this.#tables.bucketUsage, bucketId)
  }

  totals(): CatalogTotals {
    this.#environment.refresh()
    let objects = 0
    let logicalBytes = 0
    for (const { value } of this.#tables.bucketUsage.rows({})) {
      const usage = decodeBucketUsage(value)
      objects += usage.objects
      logicalBytes += usage.bytes
    }
    let volumeBytes = 0
    for (const { value } of this.#tables.volumeUsage.rows({})) volumeBytes += decodeVolumeUsage(value).bytes
    return { buckets: this.#tables.buckets.count(), objects, logicalBytes, volumeBytes }
  }

  /**
   * One page of a bucket in the order of the keys' bytes. A common prefix is found by seeking behind all its keys, not
   * by reading them, so its cost does not depend on how many there are.
   */
  list(bucketId: number, request: ListRequest): ListPage {
    this.#environment.refresh()
    const page = new PageBuilder(bucketId, request)
    while (page.wantsMore()) {
      const before = page.start
      for (const row of this.#tables.objects.rows(page.range())) {
        if (page.add(row) === 'seek') break
      }
      if (page.start === before) break
    }
    return page.finish()
  }
}

/** Builds one page; knows where the scan stands. */
class PageBuilder {
  /** Row key where the next seek begins. */
  start: Buffer
  readonly #request: ListRequest
  readonly #end: Buffer
  readonly #entries: ListEntry[] = []
  #next: Buffer | undefined
  #done = false

  constructor(bucketId: number, request: ListRequest) {
    this.#request = request
    const bucket = Buffer.allocUnsafe(NUMBER_BYTES)
    writeNumber(bucket, bucketId, 0)
    const { prefix, from } = request
    const first = from !== undefined && Buffer.compare(from, prefix) > 0 ? from : prefix
    this.start = Buffer.concat([bucket, first])
    this.#end = successor(Buffer.concat([bucket, prefix])) as Buffer
  }

  wantsMore(): boolean {
    return !this.#done && this.#request.entriesMaximum > 0
  }

  /** One row more than the page holds tells whether another page follows. */
  range(): { start: Buffer; end: Buffer; limit: number } {
    return { start: this.start, end: this.#end, limit: this.#request.entriesMaximum - this.#entries.length + 1 }
  }

  /** Takes a row in; `seek` means that the scan must go on at `start` instead of at the next row. */
  add(row: Row): 'next' | 'seek' {
    if (this.#entries.length === this.#request.entriesMaximum) {
      this.#next = Buffer.from(row.key.subarray(NUMBER_BYTES))
      this.#done = true
      return 'seek'
    }
    const prefixEnd = this.#commonPrefixEnd(row.key)
    if (prefixEnd === undefined) {
      this.#entries.push({ kind: 'object', object: decodeListed(row.key, row.value) })
      return 'next'
    }
    this.#entries.push({ kind: 'prefix', prefix: row.key.toString('utf8', NUMBER_BYTES, prefixEnd) })
    // UTF-8 has no byte 0xff, so a prefix always has a successor.
    this.start = successor(row.key.subarray(0, prefixEnd)) as Buffer
    return 'seek'
  }

  finish(): ListPage {
    return { entries: this.#entries, next: this.#next }
  }

  #commonPrefixEnd(row: Buffer): number | undefined {
    const { delimiter, prefix } = this.#request
    if (delimiter === undefined) return undefined
    const at = row.indexOf(delimiter, NUMBER_BYTES + prefix.length)
    return at === -1 ? undefined : at + delimiter.length
  }
}
