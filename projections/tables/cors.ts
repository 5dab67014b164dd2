import { Packr } from 'msgpackr'
import type { CorsRule } from '../../engine/events/changes.ts'
import { decodeCorsRules, encodeCorsRules, type StoredCorsRule } from '../../engine/events/value-codec.ts'
import { numberKey } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/** `cors`: bucket id (8) -> MessagePack of the rules as they are in the journal; no row without rules. */
export const CORS = 'cors'

const packr = new Packr({ useRecords: false, int64AsType: 'number' })

export function getCors(table: TableReader, bucketId: number): readonly CorsRule[] {
  const value = table.get(numberKey(bucketId))
  return value === undefined ? [] : decodeCorsRules(packr.unpack(value) as StoredCorsRule[])
}

export function putCors(table: Table, bucketId: number, rules: readonly CorsRule[]): void {
  if (rules.length === 0) table.remove(numberKey(bucketId))
  else table.put(numberKey(bucketId), packr.pack(encodeCorsRules(rules)))
}
