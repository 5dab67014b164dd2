import { partNumbers } from '../engine/domain/part-set.ts'
import type { UploadAborted, UploadCompleted, UploadCreated, UploadPartWritten } from '../engine/events/changes.ts'
import type { PartState } from '../engine/state-ports.ts'
import type { Counters } from './counters.ts'
import type { PayloadLedger } from './payload-ledger.ts'
import type { Tables } from './table-list.ts'
import { getPart, partKey, putPart, putUpload, uploadKey } from './tables/uploads.ts'

/** What entries do to multipart uploads. */
export class UploadRows {
  readonly #tables: Tables
  readonly #counters: Counters
  readonly #payloads: PayloadLedger

  constructor(tables: Tables, counters: Counters, payloads: PayloadLedger) {
    this.#tables = tables
    this.#counters = counters
    this.#payloads = payloads
  }

  created(upload: number, createdMicroseconds: number, change: UploadCreated): void {
    const { bucketId, key, headers, metadata, lock } = change
    putUpload(this.#tables.uploads, bucketId, key, { upload, createdMicroseconds, headers, metadata, lock })
    this.#counters.uploads.uploads += 1
  }

  partWritten(modifiedMicroseconds: number, change: UploadPartWritten): void {
    const { upload, part, size, etag } = change
    const payload = this.#payloads.take(change.payload)
    if (change.replaced) this.#payloads.release(this.#takePart(upload, part).payload)
    putPart(this.#tables.parts, upload, { part, size, md5: Buffer.from(etag, 'hex'), modifiedMicroseconds, payload })
    this.#counters.uploads.parts += 1
    this.#counters.uploads.bytes += size
  }

  completed(completion: number, change: UploadCompleted): void {
    const { bucketId, key, upload, listed, dropped } = change
    const parts: PartState[] = []
    for (const part of partNumbers(listed)) parts.push(this.#takePart(upload, part))
    this.#payloads.compose(
      upload,
      completion,
      parts.reduce((bytes, part) => bytes + part.size, 0),
      {
        count: parts.length,
        payload: (index) => (parts[index] as PartState).payload,
        size: (index) => (parts[index] as PartState).size,
      },
    )
    this.#drop(upload, dropped)
    this.#removeUpload(bucketId, key, upload)
  }

  aborted({ bucketId, key, upload, dropped }: UploadAborted): void {
    this.#drop(upload, dropped)
    this.#removeUpload(bucketId, key, upload)
  }

  #drop(upload: number, dropped: Uint8Array): void {
    for (const part of partNumbers(dropped)) this.#payloads.release(this.#takePart(upload, part).payload)
  }

  #removeUpload(bucketId: number, key: string, upload: number): void {
    this.#tables.uploads.remove(uploadKey(bucketId, key, upload))
    this.#counters.uploads.uploads -= 1
  }

  /** Removes the row of a part; its payload is the caller's now. */
  #takePart(upload: number, part: number): PartState {
    const found = getPart(this.#tables.parts, upload, part)
    if (found === undefined) throw new Error(`part ${part} of upload ${upload} is not there`)
    this.#tables.parts.remove(partKey(upload, part))
    this.#counters.uploads.parts -= 1
    this.#counters.uploads.bytes -= found.size
    return found
  }
}
