import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { SEGMENT_HEADER, ZERO_HASH } from '../engine/journal/format.ts'
import { type AuditRange, AuditRecords } from './audit/audit-export.ts'
import { type AuditPage, type AuditQuery, AuditScan, firstMicroseconds, SCAN_MAXIMUM } from './audit/audit-query.ts'
import { ChainCheck } from './audit/chain-check.ts'
import type { ChainReport } from './audit/chain-report.ts'
import { type JournalBeginning, JournalCursor, type JournalEnd } from './audit/journal-cursor.ts'
import { beginningBefore, beginningBeforeSequence } from './audit/journal-places.ts'
import { Turns } from './audit/turns.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { type Tables, openTables } from './table-list.ts'
import { getApplied } from './tables/applied.ts'

/**
 * The audit log, which is the journal, read from any thread while it is written. Each call sees everything that was
 * acknowledged before it, and nothing that is not durable. Work is done in short turns, one for all calls together, so
 * that the thread can serve others meanwhile.
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
  get headSequence(): number {
    return this.#end().sequence
  }

  /** One page of records. Its cost is that of the range and of `scanMaximum`, not that of the log. */
  async query(query: AuditQuery, scanMaximum: number = SCAN_MAXIMUM): Promise<AuditPage> {
    const end = this.#end()
    const byTime = this.#beginningAt(firstMicroseconds(query))
    const { after } = query
    const cursor = this.#cursorAt(
      after === undefined ? byTime : laterOf(byTime, this.#nearSequence(after.sequence, end)),
      end,
    )
    try {
      return await new AuditScan(query, end, this.#turns, scanMaximum).run(cursor)
    } finally {
      cursor.close()
    }
  }

  /**
   * Recomputes the hash chain over the records from a sequence on, `limit` of them at most. Damage is reported, and what
   * stands behind it examined as well.
   */
  async chain(from: number, limit: number): Promise<ChainReport> {
    const end = this.#end()
    const cursor = this.#cursorAt(this.#nearSequence(from - 1, end), end)
    try {
      return await new ChainCheck(from, limit, end, this.#turns).run(cursor)
    } finally {
      cursor.close()
    }
  }

  /** All records of a range of time up to now. To be closed. */
  records(range: AuditRange): AuditRecords {
    const end = this.#end()
    const cursor = this.#cursorAt(this.#beginningAt(range.fromMicroseconds), end)
    return new AuditRecords(range, cursor, end, this.#turns)
  }

  #beginningAt(timeMicroseconds: number): JournalBeginning {
    return beginningBefore(this.#tables.auditIndex, Math.max(0, timeMicroseconds))
  }

  #nearSequence(sequence: number, end: JournalEnd): JournalBeginning {
    const known = Math.max(0, Math.min(sequence, end.sequence))
    return beginningBeforeSequence(this.#disk, this.#paths, this.#tables.auditIndex, known)
  }

  #cursorAt(beginning: JournalBeginning, end: JournalEnd): JournalCursor {
    return new JournalCursor(this.#disk, this.#paths, this.#turns, beginning, end)
  }

  #end(): JournalEnd {
    this.#environment.refresh()
    const applied = getApplied(this.#tables.applied)?.position
    return applied ?? { sequence: -1, head: ZERO_HASH, segmentFirstSequence: 0, offset: SEGMENT_HEADER.bytes }
  }
}

function laterOf(left: JournalBeginning, right: JournalBeginning): JournalBeginning {
  const segments = left.segmentFirstSequence - right.segmentFirstSequence
  return segments > 0 || (segments === 0 && left.offset > right.offset) ? left : right
}
