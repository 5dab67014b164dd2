import { type Microseconds, microsecondsOf, next, previous, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ZERO_HASH } from '../../engine/journal/format.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { type AuditRange, AuditRecords } from './audit-export.ts'
import { type AuditPage, type AuditQuery, AuditScan, firstMicroseconds, SCAN_MAXIMUM } from './audit-query.ts'
import type { SpanResult } from '../../engine/verify/span/span-report.ts'
import { verifySpanAside } from '../../engine/verify/span/span-thread.ts'
import { JournalCursor, type JournalEnd } from './journal-cursor.ts'
import { beginningBefore, beginningBeforeSequence, JOURNAL_START } from './journal-places.ts'
import { Turns } from './turns.ts'
import { BackwardScan } from './audit-backwards.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { type Tables, openTables } from '../tables/table-list.ts'
import { getApplied } from '../tables/applied.ts'

/** The result of verifying a span of the chain. */
export interface ChainReport extends SpanResult {
  /** First sequence of the span. */
  readonly from: Sequence
  /** Of the last record of the log. */
  readonly headSequence: Sequence
  /** First sequence of the next span; undefined when this one ends with the log. */
  readonly nextFrom: Sequence | undefined
}

interface ScanOptions {
  readonly scanMaximum?: number
  readonly requireWanted?: () => void
}

/** The end of a journal without records. */
const EMPTY: JournalEnd = { nextSequence: sequenceOf(0), head: ZERO_HASH, place: JOURNAL_START }

/**
 * The audit log, which is the journal, read from any thread while it is written. Each call sees everything that was
 * acknowledged before it, and nothing that is not durable. All calls share short turns of work, so the thread can serve
 * other requests meanwhile.
 */
export class AuditLog {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables
  readonly #turns = new Turns()

  constructor(disk: Disk, paths: StorePaths, environment: ProjectionEnvironment) {
    this.#disk = disk
    this.#paths = paths
    this.#environment = environment
    this.#tables = openTables(environment)
  }

  /** Sequence of the last record. */
  get headSequence(): Sequence {
    return previous(this.#end().nextSequence)
  }

  /**
   * One page of records. Its cost depends on the range and on `scanMaximum`, not on the length of the log.
   * @param requireWanted called between steps; throws when nobody waits for the page any more
   */
  async query(
    query: AuditQuery,
    { scanMaximum = SCAN_MAXIMUM, requireWanted = () => undefined }: ScanOptions = {},
  ): Promise<AuditPage> {
    const end = this.#end()
    if (query.newestFirst === true) return this.#queryBackwards(query, end, scanMaximum, requireWanted)
    const byTime = this.#beginningAt(firstMicroseconds(query))
    const { after } = query
    const cursor = this.#cursorAt(
      after === undefined ? byTime : laterOf(byTime, this.#nearSequence(after.sequence, end)),
      end,
    )
    try {
      return await new AuditScan(query, end, this.#turns, scanMaximum, requireWanted).run(cursor)
    } finally {
      cursor.close()
    }
  }

  /**
   * Verifies the hash chain over the records from a sequence on, `limit` of them at most, in a thread of its own.
   * Damage is reported, and the records after it are verified too.
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
    return { from, headSequence, nextFrom: last < headSequence ? next(last) : undefined, ...result }
  }

  /** All records of a range of time up to now. The caller closes it. */
  records(range: AuditRange): AuditRecords {
    const end = this.#end()
    const cursor = this.#cursorAt(this.#beginningAt(range.fromMicroseconds), end)
    return new AuditRecords(range, cursor, end, this.#turns)
  }

  #queryBackwards(
    query: AuditQuery,
    end: JournalEnd,
    scanMaximum: number,
    requireWanted: () => void,
  ): Promise<AuditPage> {
    const [disk, paths, turns] = [this.#disk, this.#paths, this.#turns]
    const cursor = (beginning: SegmentPlace, place: SegmentPlace) =>
      new JournalCursor(disk, paths, turns, beginning, place)
    const { auditIndex } = this.#tables
    return new BackwardScan(query, { auditIndex, end, turns, scanMaximum, requireWanted, cursor }).run()
  }

  #beginningAt(timeMicroseconds: Microseconds): SegmentPlace {
    return beginningBefore(this.#tables.auditIndex, microsecondsOf(Math.max(0, timeMicroseconds)))
  }

  #nearSequence(sequence: Sequence, end: JournalEnd): SegmentPlace {
    const known = sequenceOf(Math.max(0, Math.min(sequence, end.nextSequence - 1)))
    return beginningBeforeSequence(this.#disk, this.#paths, this.#tables.auditIndex, known)
  }

  #cursorAt(beginning: SegmentPlace, { place }: JournalEnd): JournalCursor {
    return new JournalCursor(this.#disk, this.#paths, this.#turns, beginning, place)
  }

  #end(): JournalEnd {
    this.#environment.refresh()
    const applied = getApplied(this.#tables.applied)?.position
    if (applied === undefined) return EMPTY
    const { sequence, head, segmentFirstSequence, offset } = applied
    return { nextSequence: next(sequence), head, place: { segmentFirstSequence, offset } }
  }
}

function laterOf(left: SegmentPlace, right: SegmentPlace): SegmentPlace {
  const segments = left.segmentFirstSequence - right.segmentFirstSequence
  return segments > 0 || (segments === 0 && left.offset > right.offset) ? left : right
}
