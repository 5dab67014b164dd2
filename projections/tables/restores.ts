/** `restores`: the sequence of each entry that records a restore from a backup. No values. */
import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

export function putRestore(table: Table, sequence: Sequence): void {
  table.put(numberKey(sequence), Buffer.alloc(0))
}

export function getLastRestore(table: TableReader): Sequence | undefined {
  const [last] = table.keys({ reverse: true, limit: 1 })
  return last && sequenceOf(readNumber(last, 0))
}
