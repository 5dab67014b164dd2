import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import { SEGMENT_HEADER } from '../../engine/journal/format.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { TableReader } from '../lmdb-environment.ts'
import type { IndexPart, RecordIndex } from '../record-index/record-index.ts'
import { rowFrom, rowsBefore } from '../tables/audit-index.ts'
import { beginningAt } from './journal-places.ts'
import type { Stretch } from './time-stretches.ts'

/** What stretches are narrowed by. */
interface Narrowing {
  readonly index: RecordIndex
  readonly auditIndex: TableReader
  /** First sequences of all segments. */
  readonly segments: readonly Sequence[]
  /** Terms of the records that are wanted. */
  readonly terms: readonly number[]
  /** Records before the first or after the last of these are not wanted. */
  readonly from: number
  readonly before: number
  /** All records from this one on are read, whatever the index says. */
  readonly wholeFrom: number
}

/**
 * The parts of stretches in which the record index finds one of some terms, and the parts that it does not know, which are
 * whole. Each part is found when it is asked for: of some terms there are a hundred million.
 */
export function* narrowedStretches(stretches: readonly Stretch[], by: Narrowing): Generator<Stretch, void> {
  for (const stretch of stretches) {
    const [from, before] = [Math.max(stretch.first, by.from), Math.min(stretch.following, by.before)]
    if (from >= before) continue
    const known = Math.max(from, Math.min(before, by.wholeFrom))
    for (const part of by.index.ascending(by.terms, from, known)) yield narrowed(stretch, part, by)
    if (known < before) yield narrowed(stretch, { kind: 'unknown', first: known, following: before }, by)
  }
}

/** The same, the last part first. */
export function* narrowedBackwards(stretches: readonly Stretch[], by: Narrowing): Generator<Stretch, void> {
  for (const stretch of stretches.toReversed()) {
    const [from, before] = [Math.max(stretch.first, by.from), Math.min(stretch.following, by.before)]
    if (from >= before) continue
    for (const part of by.index.descending(by.terms, from, before)) yield narrowed(stretch, part, by)
  }
}

/** A part of a stretch as a stretch. */
function narrowed(stretch: Stretch, { kind, first, following }: IndexPart, by: Narrowing): Stretch {
  const { segments, auditIndex } = by
  const [from, before] = [sequenceOf(first), sequenceOf(following)]
  const whole = { isOrdered: stretch.isOrdered, first: from, following: before }
  if (kind === 'unknown' && first === stretch.first && following === stretch.following) return stretch
  const beginning = first === stretch.first ? stretch.beginning : beginningOf(first, by)
  const after = rowFrom(auditIndex, before, 1)
  const isLast = after === undefined || after.firstSequence >= stretch.following
  const end = following === stretch.following || isLast ? stretch.end : beginningAt(after.place)
  const [low, high] = [indexOf(segments, beginning.segmentFirstSequence), indexOf(segments, end.segmentFirstSequence)]
  return { ...whole, beginning, end, segments: segments.slice(low, high + 1) }
}

/** The batch of a row before a record, or the start of its segment. */
function beginningOf(first: number, { auditIndex, segments }: Narrowing): SegmentPlace {
  const segment = segments[indexOf(segments, first)] ?? sequenceOf(0)
  const row = rowsBefore(auditIndex, sequenceOf(first), 1)[0]
  if (row?.place.segmentFirstSequence === segment) return beginningAt(row.place)
  return { segmentFirstSequence: segment, offset: SEGMENT_HEADER.bytes }
}

/** The last segment whose first sequence is at or before another; the first where none is. */
function indexOf(segments: readonly Sequence[], sequence: number): number {
  let [low, high] = [0, segments.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((segments[middle] as number) <= sequence) low = middle
    else high = middle
  }
  return low
}
