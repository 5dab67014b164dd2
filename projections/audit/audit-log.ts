import { type Microseconds, microsecondsOf, next, previous, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ZERO_HASH } from '../../engine/journal/format.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { AuditLogDamagedError, type AuditRange, AuditRecords, type RangeEnds } from './audit-export.ts'
import type { AuditFilter } from './audit-filter.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import {
  type AuditCursor,
  type AuditPage,
  type AuditQuery,
  AuditScan,
  firstMicroseconds,
  SCAN_MAXIMUM,
} from './audit-query.ts'
import type { SpanResult } from '../../engine/verify/span/span-report.ts'
import { verifySpanAside } from '../../engine/verify/span/span-thread.ts'
import { type ChainedRecord, readChained } from './chained-records.ts'
import { JournalCursor, type JournalEnd } from './journal-cursor.ts'
import type { DamageList } from './journal-damage.ts'
import { beginningAt, beginningBefore, beginningBeforeSequence, JOURNAL_START } from './journal-places.ts'
import { JournalRange } from './journal-range.ts'
import type { Turns } from './turns.ts'
import { BackwardScan } from './audit-backwards.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type Tables, openTables } from '../tables/table-list.ts'
import { getApplied } from '../tables/applied.ts'
import { rowsBefore } from '../tables/audit-index.ts'
import { RecordFrames } from './record-frames.ts'

/** The result of verifying a span of the chain. */
export interface ChainReport extends SpanResult {
  /** First sequence of the span. */
  readonly from: Sequence
  /** Of the last record of the log. */
  readonly headSequence: Sequence
  /** Its hash, in hexadecimal. */
  readonly headHash: string
  /** First sequence of the next span; undefined when this one ends with the log. */
  readonly nextFrom: Sequence | undefined
}

/** What a range of time has. */
interface RangeSurvey {
  /** Of the records that can be read; undefined without any. */
  readonly ends: RangeEnds | undefined
  /** Audit records that can be read. */
  readonly count: number
  readonly damage: DamageList
}

/** The last record of the log when a page was read, for callers that wait for newer records. */
interface AuditHead {
  readonly head: AuditCursor
}

/** The end of a journal without records. */
const EMPTY: JournalEnd = {
  nextSequence: sequenceOf(0),
  timeMicroseconds: microsecondsOf(0),
  head: ZERO_HASH,
  place: JOURNAL_START,
}

/**
 * The audit log, which is the journal, read from any thread while it is written. Each call sees everything that was
 * acknowledged before it, and nothing that is not durable. It works in short turns of the asking owner, so the thread
 * can serve other requests meanwhile.
 */
export class AuditLog {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables

  constructor(disk: Disk, paths: StorePaths, environment: ProjectionEnvironment) {
    this.#disk = disk
    this.#paths = paths
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** The last record: its sequence, and its hash in hexadecimal. */
  get head(): { readonly sequence: Sequence; readonly hash: string } {
    const { nextSequence, head } = this.#end()
    return { sequence: previous(nextSequence), hash: Buffer.from(head).toString('hex') }
  }

  /**
   * One page of records. Its cost depends on the range and on `scanMaximum`, not on the length of the log.
   */
  async query(query: AuditQuery, turns: Turns, scanMaximum = SCAN_MAXIMUM): Promise<AuditPage & AuditHead> {
    const end = this.#end()
    const head = { timeMicroseconds: end.timeMicroseconds, sequence: previous(end.nextSequence) }
    const isBackwards = query.newestFirst === true
    const page = await (isBackwards
      ? this.#queryBackwards(query, end, turns, scanMaximum)
      : this.#query(query, end, turns, scanMaximum))
    return { ...page, head }
  }

  async #query(query: AuditQuery, end: JournalEnd, turns: Turns, scanMaximum: number): Promise<AuditPage> {
    const byTime = this.#beginningAt(firstMicroseconds(query))
    const { after } = query
    const cursor = this.#cursorAt(
      after === undefined ? byTime : laterOf(byTime, this.#nearSequence(after.sequence, end)),
      end,
      turns,
    )
    try {
      return await new AuditScan(query, end, turns, scanMaximum).run(cursor)
    } finally {
      cursor.close()
    }
  }

  /**
   * Verifies the hash chain over the records from a sequence on, `limit` of them at most, in a separate thread. Damage
   * is reported, and the records after it are verified too.
   */
  async chain(from: Sequence, limit: number): Promise<ChainReport> {
    const end = this.#end()
    const headSequence = previous(end.nextSequence)
    const last = sequenceOf(Math.min(from + limit - 1, headSequence))
    const result = await verifySpanAside({
      directory: this.#paths.journal,
      from,
      last,
      beginning: this.#nearSequence(previous(from), end),
      end: end.place,
      head: { sequence: headSequence, hash: end.head },
    })
    const headHash = Buffer.from(end.head).toString('hex')
    return { from, headSequence, headHash, nextFrom: last < headSequence ? next(last) : undefined, ...result }
  }

  /**
   * The ends of a range, found by the index, in time that does not depend on its length; undefined for an empty one.
   * @throws AuditLogDamagedError when a part of the log near an end cannot be read; `survey` then finds them
   */
  rangeEnds(range: AuditRange, turns: Turns): Promise<RangeEnds | undefined> {
    const end = this.#end()
    const cursor = (time: Microseconds) => this.#cursorAt(this.#beginningAt(time), end, turns)
    return readRangeEnds(range, cursor, turns)
  }

  /** Reads the whole of a range, and says what there is and what cannot be read. */
  async survey(range: AuditRange, turns: Turns): Promise<RangeSurvey> {
    const records = this.records(range, turns)
    try {
      while ((await records.next()) !== undefined);
      const { ends, count, damage } = records
      return { ends, count, damage }
    } finally {
      records.close()
    }
  }

  /** The number of audit records from one sequence to another, both included: all but the genesis and the seals. */
  entriesBetween(first: Sequence, last: Sequence): number {
    // A seal is the last record of its segment, the genesis the first of all.
    const others = [0, ...segmentFirsts(this.#disk, this.#paths).flatMap((start) => (start === 0 ? [] : [start - 1]))]
    return last - first + 1 - others.filter((sequence) => sequence >= first && sequence <= last).length
  }

  /** All records of a range of time up to now that a filter lets through. The caller closes it. */
  records(range: AuditRange & AuditFilter, turns: Turns): AuditRecords {
    const end = this.#end()
    const bound = { timeMicroseconds: range.fromMicroseconds, sequence: sequenceOf(0) }
    const [row] = rowsBefore(this.#tables.auditIndex, bound, 1)
    const cursor = this.#cursorAt(row === undefined ? JOURNAL_START : beginningAt(row.place), end, turns)
    const wanted = row === undefined ? sequenceOf(0) : next(row.sequence)
    return new AuditRecords(range, new JournalRange(cursor, wanted, end.nextSequence), turns)
  }

  /**
   * Records by their sequences, with their places in the chain; without records that are no entry, or not yet written.
   * @throws AuditLogDamagedError
   */
  chained(sequences: readonly Sequence[], turns: Turns): Promise<ReadonlyMap<Sequence, ChainedRecord>> {
    const end = this.#end()
    const near = (sequence: Sequence) => this.#cursorAt(this.#nearSequence(sequence, end), end, turns)
    return readChained(sequences, near, turns)
  }

  #queryBackwards(query: AuditQuery, end: JournalEnd, turns: Turns, scanMaximum: number): Promise<AuditPage> {
    const [disk, paths] = [this.#disk, this.#paths]
    const cursor = (beginning: SegmentPlace, place: SegmentPlace) =>
      new JournalCursor(disk, paths, turns, beginning, place)
    const { auditIndex } = this.#tables
    return new BackwardScan(query, { auditIndex, end, turns, scanMaximum, cursor }).run()
  }

  #beginningAt(timeMicroseconds: Microseconds): SegmentPlace {
    return beginningBefore(this.#tables.auditIndex, microsecondsOf(Math.max(0, timeMicroseconds)))
  }

  #nearSequence(sequence: Sequence, end: JournalEnd): SegmentPlace {
    const known = sequenceOf(Math.max(0, Math.min(sequence, end.nextSequence - 1)))
    return beginningBeforeSequence(this.#disk, this.#paths, this.#tables.auditIndex, known)
  }

  #cursorAt(beginning: SegmentPlace, { place }: JournalEnd, turns: Turns): JournalCursor {
    return new JournalCursor(this.#disk, this.#paths, turns, beginning, place)
  }

  #end(): JournalEnd {
    this.#environment.refresh()
    const applied = getApplied(this.#tables.applied)?.position
    if (applied === undefined) return EMPTY
    const { sequence, timeMicroseconds, head, segmentFirstSequence, offset } = applied
    return { nextSequence: next(sequence), timeMicroseconds, head, place: { segmentFirstSequence, offset } }
  }
}

function laterOf(left: SegmentPlace, right: SegmentPlace): SegmentPlace {
  const segments = left.segmentFirstSequence - right.segmentFirstSequence
  return segments > 0 || (segments === 0 && left.offset > right.offset) ? left : right
}

type Step = (frames: RecordFrames) => 'stop' | 'go on'

/**
 * The ends of a range of time. Both are found near a row of the index, so a few thousand records are read at most.
 * @param cursorNear a cursor at or before the first record of a time
 * @throws AuditLogDamagedError
 */
async function readRangeEnds(
  { fromMicroseconds, toMicroseconds }: AuditRange,
  cursorNear: (time: Microseconds) => JournalCursor,
  turns: Turns,
): Promise<RangeEnds | undefined> {
  let first: Pick<RangeEnds, 'firstSequence' | 'previousHash'> | undefined
  await walk(cursorNear(fromMicroseconds), turns, ({ timeMicroseconds, sequence, previousHash }) => {
    if (timeMicroseconds < fromMicroseconds) return 'go on'
    if (timeMicroseconds < toMicroseconds) first = { firstSequence: sequence, previousHash }
    return 'stop'
  })
  if (first === undefined) return undefined
  const { firstSequence } = first
  let last: Pick<RangeEnds, 'lastSequence' | 'lastHash'> | undefined
  await walk(cursorNear(toMicroseconds), turns, ({ timeMicroseconds, sequence, hash }) => {
    if (timeMicroseconds >= toMicroseconds) return 'stop'
    if (sequence >= firstSequence) last = { lastSequence: sequence, lastHash: hash }
    return 'go on'
  })
  if (last === undefined) throw new AuditLogDamagedError(`the audit log is damaged after sequence ${firstSequence}`)
  return Object.assign(first, last)
}

async function walk(cursor: JournalCursor, turns: Turns, step: Step): Promise<void> {
  try {
    for (let batch = await cursor.next(); batch !== undefined; batch = await cursor.next()) {
      if (batch === 'damaged') throw new AuditLogDamagedError('the audit log is damaged at an end of the range')
      const frames = new RecordFrames(batch.bytes, batch.header)
      while (frames.next()) if (step(frames) === 'stop') return
      if (turns.isOver) await turns.next()
    }
  } finally {
    cursor.close()
  }
}
