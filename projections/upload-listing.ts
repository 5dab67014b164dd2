import { readNumber } from './keys.ts'
import type { TableReader } from './lmdb-environment.ts'
import { listOrdered, type OrderedPage, type OrderedRequest, type ScanStart } from './ordered-listing.ts'
import { decodeUpload, uploadKey } from './tables/uploads.ts'
import { endOfPrefix, escapedPrefix, keyOfOrderedRow, orderOf } from './tables/version-keys.ts'

/** A multipart upload in a listing; `order` is its number. */
export interface UploadEntry {
  readonly key: string
  readonly order: number
  readonly createdMicroseconds: number
}

/** One page of the uploads in progress of a bucket: by key, oldest first within a key. */
export function listUploads(uploads: TableReader, bucketId: number, request: OrderedRequest): OrderedPage<UploadEntry> {
  return listOrdered(request, (start, limit) => scan(uploads, bucketId, request.prefix, start, limit))
}

function* scan(
  uploads: TableReader,
  bucketId: number,
  prefix: Buffer,
  { bytes, afterOrder }: ScanStart,
  limit: number,
): Generator<UploadEntry> {
  const start =
    afterOrder === undefined ? escapedPrefix(bucketId, bytes) : uploadKey(bucketId, bytes.toString(), afterOrder + 1)
  for (const { key: row, value } of uploads.rows({ start, end: endOfPrefix(bucketId, prefix), limit })) {
    const order = orderOf(row)
    yield { key: keyOfOrderedRow(row), order, createdMicroseconds: decodeUpload(order, value).createdMicroseconds }
  }
}

/** An upload in progress and where it stands. */
export interface UploadPlace {
  readonly bucketId: number
  readonly key: string
  readonly upload: number
}

/** Uploads in progress of all buckets, in the order of their rows. */
export function uploadsInProgress(uploads: TableReader, after: UploadPlace | undefined, limit: number): UploadPlace[] {
  const start = after && uploadKey(after.bucketId, after.key, after.upload + 1)
  const rows = uploads.keys(start === undefined ? { limit } : { start, limit })
  return Array.from(rows, (row) => ({ bucketId: readNumber(row, 0), key: keyOfOrderedRow(row), upload: orderOf(row) }))
}
