import { type BucketId, payloadIdOf, type Sequence, type UploadId } from '../../engine/brands.ts'
import { partNumbers } from '../../engine/domain/part-set.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import { hasOwnTime, type RecordTimes } from '../../engine/journal/record-times.ts'
import type { PartState } from '../../engine/state-ports.ts'
import type { Counters } from './counters.ts'
import type { PayloadLedger } from './payload-ledger.ts'
import type { Tables } from '../tables/table-list.ts'
import { getPart, getUpload, partKey, putPart, putUpload, uploadKey } from '../tables/uploads.ts'

/** Applies changes to multipart uploads. */
export class UploadRows {
  readonly #tables: Tables
  readonly #counters: Counters
  readonly #payloads: PayloadLedger
  #partsTaken = 0

  constructor(tables: Tables, counters: Counters, payloads: PayloadLedger) {
    this.#tables = tables
    this.#counters = counters
    this.#payloads = payloads
  }

  /** Rows of parts that were removed. */
  get partsTaken(): number {
    return this.#partsTaken
  }

  created(upload: UploadId, times: RecordTimes, change: ChangeNamed<'upload.created'>): void {
    const { bucketId, key, headers, metadata, lock, given, checksum } = change
    const { timeMicroseconds: createdMicroseconds, orderMicroseconds } = times
    const agedMicroseconds = hasOwnTime(times) ? orderMicroseconds : undefined
    const created = { upload, createdMicroseconds, agedMicroseconds, headers, metadata, lock, given, checksum }
    putUpload(this.#tables.uploads, bucketId, key, created)
    this.#counters.uploads.add('uploads', 1)
  }

  tagged({ bucketId, key, upload, tags }: ChangeNamed<'upload.tagged'>): void {
    const created = getUpload(this.#tables.uploads, bucketId, key, upload)
    if (created === undefined) throw new Error(`upload ${upload} is tagged but not there`)
    putUpload(this.#tables.uploads, bucketId, key, { ...created, tags })
  }

  partWritten(
    { timeMicroseconds: modifiedMicroseconds }: RecordTimes,
    change: ChangeNamed<'upload.part-written'>,
  ): void {
    const { bucketId, upload, part, size, etag, checksum } = change
    const md5 = Buffer.from(etag, 'hex')
    const payload = this.#payloads.take(change.payload)
    const replaced = change.replaced ? this.#takePart(upload, part) : undefined
    if (replaced !== undefined) this.#payloads.release(replaced.payload)
    const usage = this.#counters.buckets.of(bucketId)
    usage.add('receivedBytes', this.#payloads.takeReceived())
    usage.add('uploadBytes', size - (replaced?.size ?? 0))
    putPart(this.#tables.parts, upload, { part, size, md5, checksum, modifiedMicroseconds, payload })
    const { uploads } = this.#counters
    uploads.add('parts', 1)
    uploads.add('bytes', size)
  }

  completed(completion: Sequence, change: ChangeNamed<'upload.completed'>): void {
    const { bucketId, key, upload, listed, dropped } = change
    const parts = Array.from(partNumbers(listed), (part) => this.#takePart(upload, part))
    const bytes = parts.reduce((total, part) => total + part.size, 0)
    this.#payloads.compose(payloadIdOf(upload), completion, bytes, {
      count: parts.length,
      payload: (index) => (parts[index] as PartState).payload,
      size: (index) => (parts[index] as PartState).size,
      checksum: (index) => parts[index]?.checksum,
    })
    this.#discount(bucketId, bytes + this.#drop(upload, dropped))
    this.#removeUpload(bucketId, key, upload)
  }

  aborted({ bucketId, key, upload, dropped }: ChangeNamed<'upload.aborted'>): void {
    this.#discount(bucketId, this.#drop(upload, dropped))
    this.#removeUpload(bucketId, key, upload)
  }

  /** @returns the bytes of the parts */
  #drop(upload: UploadId, dropped: Uint8Array): number {
    const parts = Array.from(partNumbers(dropped), (part) => this.#takePart(upload, part))
    this.#payloads.releaseAll(parts.map(({ payload }) => payload))
    return parts.reduce((bytes, { size }) => bytes + size, 0)
  }

  /** The bucket may have been deleted before its uploads were. */
  #discount(bucketId: BucketId, bytes: number): void {
    if (bytes > 0 && this.#counters.buckets.has(bucketId))
      this.#counters.buckets.of(bucketId).add('uploadBytes', -bytes)
  }

  #removeUpload(bucketId: BucketId, key: string, upload: UploadId): void {
    this.#tables.uploads.remove(uploadKey(bucketId, key, upload))
    this.#counters.uploads.add('uploads', -1)
  }

  /** Removes the row of a part; the caller takes over its payload. */
  #takePart(upload: UploadId, part: number): PartState {
    const found = getPart(this.#tables.parts, upload, part)
    if (found === undefined) throw new Error(`part ${part} of upload ${upload} is not there`)
    this.#tables.parts.remove(partKey(upload, part))
    this.#partsTaken += 1
    const { uploads } = this.#counters
    uploads.add('parts', -1)
    uploads.add('bytes', -found.size)
    return found
  }
}
