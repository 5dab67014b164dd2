import { type BucketId, bucketIdOf, type Microseconds, type UploadId, uploadIdOf } from '../../engine/brands.ts'
import type { UploadChecksum } from '../../engine/events/values.ts'
import { readNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { listOrdered, type OrderedPage, type OrderedRequest, type ScanStart } from './ordered-listing.ts'
import { decodeUpload, uploadKey } from '../tables/uploads.ts'
import { endOfPrefix, escapedPrefix, keyOfOrderedRow, orderOf } from '../tables/version-keys.ts'

/** A multipart upload in a listing; `order` is its id. */
export interface UploadEntry {
  readonly key: string
  readonly order: UploadId
  readonly createdMicroseconds: Microseconds
  /** The checksum that it asked for. */
  readonly checksum: UploadChecksum | undefined
}

/** One page of the uploads in progress of a bucket: by key, oldest first within a key. */
export function listUploads(
  uploads: TableReader,
  bucketId: BucketId,
  request: OrderedRequest,
): OrderedPage<UploadEntry> {
  return listOrdered(request, (start, limit) => scan(uploads, bucketId, request.prefix, start, limit))
}

function* scan(
  uploads: TableReader,
  bucketId: BucketId,
  prefix: Buffer,
  { bytes, afterOrder }: ScanStart,
  limit: number,
): Generator<UploadEntry> {
  const start =
    afterOrder === undefined
      ? escapedPrefix(bucketId, bytes)
      : uploadKey(bucketId, bytes.toString(), uploadIdOf(afterOrder + 1))
  for (const { key: row, value } of uploads.rows({ start, end: endOfPrefix(bucketId, prefix), limit })) {
    const order = uploadIdOf(orderOf(row))
    const { createdMicroseconds, checksum } = decodeUpload(order, value)
    yield { key: keyOfOrderedRow(row), order, createdMicroseconds, checksum }
  }
}

/** An upload in progress and where it is. */
export interface UploadPlace {
  readonly bucketId: BucketId
  readonly key: string
  readonly upload: UploadId
}

/** Uploads in progress of all buckets, in the order of their rows. */
export function uploadsInProgress(uploads: TableReader, after: UploadPlace | undefined, limit: number): UploadPlace[] {
  const start = after && uploadKey(after.bucketId, after.key, uploadIdOf(after.upload + 1))
  const rows = uploads.keys(start === undefined ? { limit } : { start, limit })
  return Array.from(rows, (row) => ({
    bucketId: bucketIdOf(readNumber(row, 0)),
    key: keyOfOrderedRow(row),
    upload: uploadIdOf(orderOf(row)),
  }))
}
