import type { BucketId } from '../../engine/brands.ts'
import { numberKey } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/** `bucket-names`: bucket id (8) -> name in UTF-8, of every bucket that ever was: entries name objects by bucket id alone. */

export function putBucketName(table: Table, bucketId: BucketId, name: string): void {
  table.put(numberKey(bucketId), Buffer.from(name))
}

export function getBucketName(table: TableReader, bucketId: BucketId): string | undefined {
  return table.get(numberKey(bucketId))?.toString()
}
