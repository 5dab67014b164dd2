import type { BucketId } from '../../engine/brands.ts'
import { type CorsRule, corsRules } from '../../engine/events/values.ts'
import { numberKey } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { packed } from './row-codecs.ts'

/** `cors`: bucket id (8) -> MessagePack of the rules as they are in the journal; no row without rules. */
const rows = packed(corsRules)

export function getCors(table: TableReader, bucketId: BucketId): readonly CorsRule[] {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? [] : rows.decode(value)
}

export function putCors(table: Table, bucketId: BucketId, rules: readonly CorsRule[]): void {
  if (rules.length === 0) table.remove(numberKey(bucketId))
  else table.put(numberKey(bucketId), rows.encode(rules))
}
