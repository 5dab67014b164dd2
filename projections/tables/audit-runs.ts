import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { AppliedPosition, SegmentPlace } from '../../engine/journal/positions.ts'
import { NUMBER_BYTES, numberKey, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { getApplied } from './applied.ts'
import { JOURNAL_START } from './audit-index.ts'

/**
 * `audit-runs`: where the times of records go back, because the host's clock was set back. A run is batches whose records
 * are in the order of their times; each run after the first has a row, so most stores have none.
 *
 *   key   = first sequence of the run (8)
 *   value = time of its first record (8) | latest time of the run before (8) | first sequence of the segment (8)
 *           | offset of the first batch (8)
 *
 * One more row, with the key `last`, counts them: number of rows (8) | earliest time of the last run (8). At the maximum there
 * is no further run: the last one is then without an order, and is read from its start.
 */

/** A query reads all rows: some milliseconds. */
const RUNS_MAXIMUM = 10_000
const LAST = Buffer.from('last')

/** Records in the order of their times; of the last one of very many: in no order. */
export interface Run {
  readonly first: Sequence
  readonly place: SegmentPlace
  readonly earliestMicroseconds: Microseconds
  /** Undefined for the last run. */
  latestMicroseconds: Microseconds | undefined
  readonly isOrdered: boolean
}

/**
 * Starts a run with the batch that is applied, if a record of it has an earlier time than a record before. Called before the
 * position is written.
 * @param firstSequence of the batch
 */
export function noteRun(
  { applied, auditRuns }: { readonly applied: TableReader; readonly auditRuns: Table },
  firstSequence: Sequence,
  position: AppliedPosition,
  maximum = RUNS_MAXIMUM,
): void {
  if (!position.differ && !position.descend) return
  const before = getApplied(applied)?.position
  if (before === undefined) return
  const { earliestMicroseconds, descend, segmentFirstSequence, batchOffset } = position
  if (!descend && earliestMicroseconds >= before.latestMicroseconds) return
  const last = auditRuns.get(LAST)
  const count = last === undefined ? 0 : readNumber(last, 0)
  if (count >= maximum) {
    const earliest = Math.min(earliestMicroseconds, readNumber(last as Buffer, NUMBER_BYTES))
    auditRuns.put(LAST, numbers(maximum + 1, earliest))
    return
  }
  const value = numbers(earliestMicroseconds, before.latestMicroseconds, segmentFirstSequence, batchOffset)
  auditRuns.put(numberKey(firstSequence), value)
  auditRuns.put(LAST, numbers(count + 1, earliestMicroseconds))
}

/** Whether times never went back: there is no row. */
export function hasOneRun(auditRuns: TableReader): boolean {
  return auditRuns.get(LAST) === undefined
}

/** All runs, the first one first. */
export function allRuns(auditRuns: TableReader, maximum = RUNS_MAXIMUM): readonly Run[] {
  const first = { first: sequenceOf(0), place: JOURNAL_START, earliestMicroseconds: microsecondsOf(0) }
  const runs: Run[] = [{ ...first, latestMicroseconds: undefined, isOrdered: true }]
  const last = auditRuns.get(LAST)
  if (last === undefined) return runs
  const isMerged = readNumber(last, 0) > maximum
  for (const { key, value } of auditRuns.rows({})) {
    if (key.length !== NUMBER_BYTES) continue
    ;(runs.at(-1) as Run).latestMicroseconds = microsecondsOf(readNumber(value, NUMBER_BYTES))
    runs.push({
      first: sequenceOf(readNumber(key, 0)),
      earliestMicroseconds: microsecondsOf(readNumber(value, 0)),
      latestMicroseconds: undefined,
      place: {
        segmentFirstSequence: sequenceOf(readNumber(value, 2 * NUMBER_BYTES)),
        offset: readNumber(value, 3 * NUMBER_BYTES),
      },
      isOrdered: true,
    })
  }
  if (!isMerged) return runs
  const merged = runs.pop() as Run
  return [
    ...runs,
    { ...merged, earliestMicroseconds: microsecondsOf(readNumber(last, NUMBER_BYTES)), isOrdered: false },
  ]
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * NUMBER_BYTES)
  values.forEach((value, index) => writeNumber(bytes, value, index * NUMBER_BYTES))
  return bytes
}
