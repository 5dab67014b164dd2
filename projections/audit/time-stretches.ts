import { type Microseconds, next, type Sequence } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { firstRowThat, rowsBefore } from '../tables/audit-index.ts'
import { allRuns, type Run } from '../tables/audit-runs.ts'
import type { JournalEnd } from './journal-cursor.ts'
import { beginningAt } from './journal-places.ts'

/** Consecutive batches that may hold records of a range of time; together all of them. */
export interface Stretch {
  /** First sequence, and the place of its batch or of one before it. */
  readonly first: Sequence
  readonly beginning: SegmentPlace
  /** The sequence after the last one, and the place of its batch. */
  readonly following: Sequence
  readonly end: SegmentPlace
  /** Whether the records are in the order of their times, apart from the records of one batch. */
  readonly isOrdered: boolean
  /**
   * Set where an index names the records from `first` up to `following`, which then are within batches and not at their ends:
   * the segments from `beginning` to `end`. Nothing after `following` is read.
   */
  readonly segments?: readonly Sequence[]
}

/** The tables that a range of time is found by. */
interface TimeTables {
  readonly auditIndex: TableReader
  readonly auditRuns: TableReader
}

/** A range of time, in microseconds since 1970: `since` inclusive, `until` exclusive. */
interface TimeRange {
  readonly sinceMicroseconds: Microseconds
  readonly untilMicroseconds: Microseconds
}

/**
 * The stretches of the journal outside of which no record has a time of the range, in the order of their sequences. Their
 * ends are batches of the index, so some thousand records of a stretch may have other times. Where the host's clock never
 * went back there is one at most.
 */
export function stretchesOf(
  tables: TimeTables,
  range: TimeRange,
  end: JournalEnd,
  runsMaximum?: number,
): readonly Stretch[] {
  if (range.sinceMicroseconds >= range.untilMicroseconds) return []
  const runs = allRuns(tables.auditRuns, runsMaximum).filter(({ first }) => first < end.nextSequence)
  const found: Stretch[] = []
  for (const [index, run] of runs.entries()) {
    if (run.earliestMicroseconds >= range.untilMicroseconds) continue
    if (run.latestMicroseconds !== undefined && run.latestMicroseconds < range.sinceMicroseconds) continue
    const following = runs[index + 1]
    const stretch = stretchIn(tables.auditIndex, range, run, {
      following: following?.first ?? end.nextSequence,
      end: following?.place ?? end.place,
    })
    const before = found.at(-1)
    if (before === undefined || before.following < stretch.first) found.push(stretch)
    else found[found.length - 1] = { ...before, following: stretch.following, end: stretch.end, isOrdered: false }
  }
  return found
}

function stretchIn(
  index: TableReader,
  { sinceMicroseconds, untilMicroseconds }: TimeRange,
  { first, place, isOrdered, earliestMicroseconds, latestMicroseconds }: Run,
  whole: Pick<Stretch, 'following' | 'end'>,
): Stretch {
  const { following } = whole
  const stretch = { first, beginning: place, ...whole, isOrdered }
  if (!isOrdered) return stretch
  const [before] =
    earliestMicroseconds >= sinceMicroseconds
      ? []
      : rowsBefore(
          index,
          firstRowThat(index, first, following, (row) => row.latestMicroseconds >= sinceMicroseconds)?.firstSequence ??
            following,
          1,
        )
  const passed =
    (latestMicroseconds ?? Number.POSITIVE_INFINITY) < untilMicroseconds ||
    untilMicroseconds === Number.POSITIVE_INFINITY
      ? undefined
      : firstRowThat(index, first, following, (row) => row.earliestMicroseconds >= untilMicroseconds)
  return {
    ...stretch,
    // A row of an earlier run is before the beginning of this one.
    ...(before === undefined || before.firstSequence < first
      ? {}
      : { first: next(before.lastSequence), beginning: beginningAt(before.place) }),
    ...(passed === undefined ? {} : { following: passed.firstSequence, end: beginningAt(passed.place) }),
  }
}

/**
 * The parts of stretches with a sequence and after it.
 * @param placeNear returns a place at or before the record of a sequence
 */
export function stretchesFrom(
  stretches: readonly Stretch[],
  sequence: Sequence,
  placeNear: () => SegmentPlace,
): readonly Stretch[] {
  const left = stretches.filter(({ following }) => following > sequence)
  const [first, ...others] = left
  if (first === undefined || first.first >= sequence) return left
  return [{ ...first, beginning: laterOf(first.beginning, placeNear()) }, ...others]
}

function laterOf(left: SegmentPlace, right: SegmentPlace): SegmentPlace {
  const segments = left.segmentFirstSequence - right.segmentFirstSequence
  return segments > 0 || (segments === 0 && left.offset > right.offset) ? left : right
}
