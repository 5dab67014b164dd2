import { microsecondsOf, next, previous, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ZERO_HASH } from '../../engine/journal/format.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { type AuditRange, AuditRecords, type RangeEnds } from './audit-export.ts'
import type { AuditFilter } from './audit-filter.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { type AuditCursor, type AuditPage, type AuditQuery, AuditScan, rangeOf, SCAN_MAXIMUM } from './audit-query.ts'
import type { SpanResult } from '../../engine/verify/span/span-report.ts'
import { verifySpanAside } from '../../engine/verify/span/span-thread.ts'
import { type ChainedRecord, readChained } from './chained-records.ts'
import { JournalCursor, type JournalEnd } from './journal-cursor.ts'
import type { DamageList } from './journal-damage.ts'
import { beginningBeforeSequence } from './journal-places.ts'
import { readRangeEnds } from './range-ends.ts'
import { type Stretch, stretchesFrom, stretchesOf } from './time-stretches.ts'
import type { Turns } from './turns.ts'
import { BackwardScan } from './audit-backwards.ts'
import { narrowedBackwards, narrowedStretches } from './indexed-stretches.ts'
import { PieceMemory } from './segment-pieces.ts'
import { type IndexFacts, RecordIndex } from '../record-index/record-index.ts'
import { termOfFilter } from '../record-index/terms.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type Tables, openTables } from '../tables/table-list.ts'
import { getApplied } from '../tables/applied.ts'
import { JOURNAL_START } from '../tables/audit-index.ts'
import { hasOneRun } from '../tables/audit-runs.ts'

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

/** Records of a query, by sequences. */
interface PartlyWanted {
  readonly from?: number | undefined
  readonly before?: number | undefined
  readonly wholeFrom?: number | undefined
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
  readonly #verifySpan: typeof verifySpanAside
  readonly #index: RecordIndex

  /**
   * @param verifySpan how a span of the chain is verified; by default in a thread of its own
   * @param index says which records are read for a question about an object, a bucket or a principal
   */
  constructor(
    disk: Disk,
    paths: StorePaths,
    environment: ProjectionEnvironment,
    verifySpan = verifySpanAside,
    index = new RecordIndex(disk, paths),
  ) {
    this.#index = index
    this.#disk = disk
    this.#paths = paths
    this.#environment = environment
    this.#tables = openTables(environment)
    this.#verifySpan = verifySpan
  }

  /** How far the record index reaches. */
  get indexed(): IndexFacts {
    return this.#index.facts
  }

  /** The last record: its sequence, and its hash in hexadecimal. */
  get head(): { readonly sequence: Sequence; readonly hash: string } {
    const { nextSequence, head } = this.#end()
    return { sequence: previous(nextSequence), hash: Buffer.from(head).toString('hex') }
  }

  /**
   * One page of records. Its cost depends on the range and on `scanMaximum`, not on the length of the log. Records that the
   * record index does not name are not read, so damage among them is not met.
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
    const { after } = query
    const all = stretchesOf(this.#tables, query, end)
    const first = after === undefined ? undefined : next(after.sequence)
    const stretches =
      this.#narrowed(all, query, { from: first ?? 0 }, narrowedStretches) ??
      (first === undefined ? all : stretchesFrom(all, first, () => this.#nearSequence(first, end)))
    const memory = new PieceMemory()
    const cursor = (stretch: Stretch) => this.#cursorOf(stretch, turns, memory)
    return await new AuditScan(query, turns, scanMaximum).run(stretches, cursor)
  }

  /**
   * Verifies the hash chain over the records from a sequence on, `limit` of them at most, in a separate thread. Damage
   * is reported, and the records after it are verified too.
   */
  async chain(from: Sequence, limit: number): Promise<ChainReport> {
    const end = this.#end()
    const headSequence = previous(end.nextSequence)
    const last = sequenceOf(Math.min(from + limit - 1, headSequence))
    const result = await this.#verifySpan({
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

  /** Whether records are in the order of their times: the host's clock was never set back. */
  get isInOrder(): boolean {
    this.#environment.refresh()
    return hasOneRun(this.#tables.auditRuns)
  }

  /**
   * The ends of a range of a log in order, found by the index, in time that does not depend on its length; undefined for
   * an empty one.
   * @throws AuditLogDamagedError when a part of the log near an end cannot be read; `survey` then finds them
   */
  async rangeEnds(range: AuditRange, turns: Turns): Promise<RangeEnds | undefined> {
    const end = this.#end()
    const [stretch] = this.#stretches(range, end)
    const toEnd = { fromMicroseconds: range.toMicroseconds, toMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY) }
    const nearEnd = this.#stretches(toEnd, end)[0] ?? stretch
    if (stretch === undefined || nearEnd === undefined) return undefined
    const cursors = { begin: () => this.#cursorOf(stretch, turns), nearEnd: () => this.#cursorOf(nearEnd, turns) }
    return readRangeEnds(range, cursors, turns)
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
    const memory = new PieceMemory()
    const open = (stretch: Stretch) => rangeOf(this.#cursorOf(stretch, turns, memory), stretch.first, stretch)
    const all = this.#stretches(range, this.#end())
    // The end of the range is found by the records after the one of the export.
    const stretches = this.#narrowed(all, range, { wholeFrom: range.throughSequence }, narrowedStretches)
    return new AuditRecords(range, stretches ?? all, open, turns)
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
    const memory = new PieceMemory()
    const cursor = (stretch: Stretch) => this.#cursorOf(stretch, turns, memory)
    const { auditIndex } = this.#tables
    const all = stretchesOf(this.#tables, query, end)
    const stretches = this.#narrowed(all, query, { before: query.after?.sequence }, narrowedBackwards)
    return new BackwardScan(query, {
      auditIndex,
      stretches: stretches ?? all.toReversed(),
      turns,
      scanMaximum,
      cursor,
    }).run()
  }

  /** The parts of stretches that the index leaves; undefined where it does not know the filter. */
  #narrowed(
    stretches: readonly Stretch[],
    filter: AuditFilter,
    { from = 0, before = Number.POSITIVE_INFINITY, wholeFrom = Number.POSITIVE_INFINITY }: PartlyWanted,
    narrow: typeof narrowedStretches,
  ): Iterable<Stretch> | undefined {
    const term = termOfFilter(filter)
    if (term === undefined) return undefined
    const segments = segmentFirsts(this.#disk, this.#paths)
    const { auditIndex } = this.#tables
    return narrow(stretches, { index: this.#index, auditIndex, segments, terms: [term], from, before, wholeFrom })
  }

  #stretches({ fromMicroseconds, toMicroseconds }: AuditRange, end: JournalEnd): readonly Stretch[] {
    const range = { sinceMicroseconds: fromMicroseconds, untilMicroseconds: toMicroseconds }
    return stretchesOf(this.#tables, range, end)
  }

  /** The caller closes it. */
  #cursorOf({ beginning, end, segments }: Stretch, turns: Turns, memory?: PieceMemory): JournalCursor {
    return new JournalCursor(this.#disk, this.#paths, turns, beginning, end, memory, segments)
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
