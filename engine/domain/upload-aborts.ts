import type { BucketId, UploadId } from '../brands.ts'
import type { SpineChangeNamed } from '../events/spine-changes.ts'
import type { StateReader } from '../state-ports.ts'
import { partNumbers, PartSet } from './part-set.ts'

/** Bounds of the uploads that end with their bucket: its entry has 32 KiB, and all other requests wait for it. */
const UPLOADS_WITH_BUCKET_MAXIMUM = 100
const ABORT_BYTES_MAXIMUM = 16 * 1024
const PARTS_WITH_BUCKET_MAXIMUM = 2000
/** Of an abort in an entry, besides its key and the set of its parts. */
const ABORT_HEAD_BYTES = 40

/**
 * The aborts of uploads in progress of a bucket that is deleted, so that the entry of the deletion, and who asked for it,
 * is theirs as well. A system task aborts those beyond the bounds afterwards.
 */
export function abortsWithBucket(bucketId: BucketId, state: StateReader): SpineChangeNamed<'upload.aborted'>[] {
  const aborts: SpineChangeNamed<'upload.aborted'>[] = []
  let bytes = 0
  let parts = 0
  for (const { key, upload } of state.uploads(bucketId, UPLOADS_WITH_BUCKET_MAXIMUM)) {
    if (parts >= PARTS_WITH_BUCKET_MAXIMUM) break
    const abort = abortOf(bucketId, key, upload, state)
    bytes += ABORT_HEAD_BYTES + Buffer.byteLength(key) + abort.dropped.length
    if (bytes > ABORT_BYTES_MAXIMUM) break
    parts += [...partNumbers(abort.dropped)].length
    aborts.push(abort)
  }
  return aborts
}

/** The end of an upload, with what its parts hold. */
export function abortOf(
  bucketId: BucketId,
  key: string,
  upload: UploadId,
  state: StateReader,
): SpineChangeNamed<'upload.aborted'> {
  const dropped = new PartSet()
  let bytes = 0
  for (const { part, size } of state.parts(upload)) {
    dropped.add(part)
    bytes += size
  }
  return { name: 'upload.aborted', bucketId, key, upload, dropped: dropped.bytes, bytes }
}
