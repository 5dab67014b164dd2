import { type BucketId, bucketIdOf } from '../engine/brands.ts'
import { NUMBER_BYTES, readNumber } from './keys.ts'
import { keyOfRow } from './tables/objects.ts'
import { TABLES } from './tables/table-list.ts'
import { keyOfOrderedRow } from './tables/version-keys.ts'

/** Tables whose row keys begin with a bucket and a key, and how they hold the key. */
const KEY_OF: Readonly<Record<string, (row: Buffer) => string>> = {
  [TABLES.objects]: keyOfRow,
  [TABLES.versions]: keyOfOrderedRow,
  [TABLES.locks]: keyOfOrderedRow,
  [TABLES.uploads]: keyOfOrderedRow,
}

/** The object that a row is of; undefined for a row of something else. `key` of the row is in hexadecimal. */
export function targetOfRow(
  table: string,
  key: string,
): { readonly bucketId: BucketId; readonly key: string } | undefined {
  const row = Buffer.from(key, 'hex')
  const keyOf = KEY_OF[table]
  if (keyOf === undefined || row.length <= NUMBER_BYTES) return undefined
  return { bucketId: bucketIdOf(readNumber(row, 0)), key: keyOf(row) }
}
