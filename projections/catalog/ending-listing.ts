import { type BucketId, bucketIdOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { EndsSpan } from '../../engine/state-ports.ts'
import { NUMBER_BYTES, readNumber } from '../keys.ts'
import type { Row } from '../lmdb-environment.ts'
import { idOfEnd, rowsEnding } from '../tables/ends.ts'
import type { Tables } from '../tables/table-list.ts'

/** Something that ends by itself. */
export type Ended =
  | { readonly kind: 'retention'; readonly bucketId: BucketId; readonly key: string; readonly version: Sequence }
  /** `share`, `embed`, `management token` or `credential`. */
  | { readonly kind: string; readonly id: string }

/** What ends in a span, at most `limit` of it: retentions first. */
export function listEnding({ lockEnds, linkEnds, accessEnds }: Tables, span: EndsSpan, limit: number): Ended[] {
  const locks = rowsEnding(lockEnds, span, limit).map(lockOf)
  const others = [linkEnds, accessEnds].flatMap((table) => rowsEnding(table, span, limit).map(otherOf))
  return [...locks, ...others].slice(0, limit)
}

function lockOf({ key, value }: Row): Ended {
  const bucketId = bucketIdOf(readNumber(key, NUMBER_BYTES))
  return { kind: 'retention', bucketId, key: value.toString(), version: sequenceOf(readNumber(key, 2 * NUMBER_BYTES)) }
}

function otherOf(row: Row): Ended {
  return { kind: row.value.toString(), id: idOfEnd(row) }
}
