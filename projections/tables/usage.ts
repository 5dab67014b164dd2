import { type BucketId, type VolumeNumber, volumeNumberOf } from '../../engine/brands.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { countRows, type CountsOf } from './row-codecs.ts'

const FILES = Buffer.from('files')
const UPLOADS = Buffer.from('uploads')

/**
 * `bucket-usage`: by bucket id (8). `objects` and `bytes` count current objects, which quotas limit; then noncurrent
 * versions, their bytes, and delete markers; the bytes of parts of uploads in progress; and the bytes that were ever
 * received (spec/decisions/0020).
 */
export const bucketUsage = countRows(
  ['objects', 'bytes', 'noncurrent', 'noncurrentBytes', 'markers', 'uploadBytes', 'receivedBytes'],
  (id: BucketId) => numberKey(id),
)
export type BucketUsage = CountsOf<typeof bucketUsage>

/** `volume-usage`: by volume (8): end of the bytes that were ever referred to; payloads in use, and their bytes. */
export const volumeUsage = countRows(['end', 'payloads', 'bytes'], (volume: VolumeNumber) => numberKey(volume))
export type VolumeUsage = CountsOf<typeof volumeUsage>

/** A volume and how much of it is in use. */
export interface StoredVolume extends Readonly<VolumeUsage> {
  readonly volume: VolumeNumber
}

/** Every volume that was not removed, by number. */
export function storedVolumes(table: TableReader): StoredVolume[] {
  return Array.from(table.rows({}), ({ key, value }) => ({
    volume: volumeNumberOf(readNumber(key, 0)),
    ...volumeUsage.decode(value),
  }))
}

/** `file-usage`: one row: payload files in use, and the bytes in them. */
export const fileUsage = countRows(['files', 'bytes'], () => FILES)
export type FileUsage = CountsOf<typeof fileUsage>

/** `upload-usage`: one row: uploads in progress, their parts, and the bytes of the parts. */
export const uploadUsage = countRows(['uploads', 'parts', 'bytes'], () => UPLOADS)
export type UploadUsage = CountsOf<typeof uploadUsage>
