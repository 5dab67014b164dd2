import type { BucketId } from '../../engine/brands.ts'
import { tagPairs } from '../../engine/events/names.ts'
import { type CorsRule, corsRules } from '../../engine/events/values.ts'
import { numberKey } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from './row-codecs.ts'

/**
 * `cors`: bucket id (8) -> MessagePack of the rules as they are in the journal; no row without rules.
 *
 * `bucket-tags`: bucket id (8) -> MessagePack [key, value, ...] as in the journal; no row without tags.
 *
 * Neither is in the row of the bucket, which is read for every request.
 */
const rules = packed(corsRules)
const tagRows = packed(tagPairs)

export function getCors(table: TableReader, bucketId: BucketId): readonly CorsRule[] {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? [] : rules.decode(value)
}

export function putCors(table: Table, bucketId: BucketId, set: readonly CorsRule[]): void {
  if (set.length === 0) table.remove(numberKey(bucketId))
  else table.put(numberKey(bucketId), rules.encode(set))
}

export function getBucketTags(table: TableReader, bucketId: BucketId): readonly string[] {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? [] : tagRows.decode(value)
}

export function putBucketTags(table: Table, bucketId: BucketId, tags: readonly string[]): void {
  if (tags.length === 0) table.remove(numberKey(bucketId))
  else table.put(numberKey(bucketId), tagRows.encode(tags))
}
