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
