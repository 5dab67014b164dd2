import type { Disk } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { decodeEntry } from '../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../engine/journal/format.ts'
import type { JournalPlace } from '../engine/journal/journal.ts'
import { type JournalStart, readJournal } from '../engine/journal/read-journal.ts'
import type { ScanPosition } from '../engine/journal/segment-scan.ts'
import type { AppliedPosition } from '../engine/state-ports.ts'
import { BufferedTables } from './buffered-tables.ts'
import type { ProjectionEnvironment } from './lmdb-environment.ts'
import { TableTransaction } from './state-transaction.ts'
import { openTables } from './table-list.ts'

/** Called from time to time with the number of records read so far. */
export type ReplayProgress = (records: number) => void

const PROGRESS_EVERY_RECORDS = 50_000

/**
 * Brings the projections up to the end of the journal, from the position they have. Every record's hash and link is
 * proved on the way. Batches behind `untilSequence` are proved and not applied.
 * @returns records read
 * @throws JournalDamagedError
 */
export function replay(
  disk: Disk,
  paths: StorePaths,
  environment: ProjectionEnvironment,
  from: AppliedPosition | undefined,
  progress?: ReplayProgress,
  untilSequence: number = Number.POSITIVE_INFINITY,
): number {
  const buffered = new BufferedTables(environment, openTables(environment))
  let transaction = new TableTransaction(buffered.tables)
  let records = 0
  let firstSequence = (from?.sequence ?? -1) + 1
  readJournal(disk, paths, from === undefined ? undefined : startBehind(from), {
    record: (record) => {
      records += 1
      if (progress !== undefined && records % PROGRESS_EVERY_RECORDS === 0) progress(records)
      if (record.kind !== RECORD_KIND.change || record.sequence > untilSequence) return
      transaction.apply(record.sequence, record.timeMicroseconds, decodeEntry(record.body).changes)
    },
    batch: (position, place) => {
      if (position.sequence - 1 > untilSequence) return
      transaction.finish(appliedPosition(position, place), firstSequence)
      firstSequence = position.sequence
      if (!buffered.isFull) return
      buffered.flush()
      transaction = new TableTransaction(buffered.tables)
    },
  })
  buffered.flush()
  progress?.(records)
  return records
}

function startBehind(applied: AppliedPosition): JournalStart {
  return {
    position: {
      sequence: applied.sequence + 1,
      batch: applied.batch + 1,
      head: Buffer.from(applied.head),
      timeMicroseconds: applied.timeMicroseconds,
    },
    place: {
      segmentNumber: applied.segmentNumber,
      segmentFirstSequence: applied.segmentFirstSequence,
      offset: applied.offset,
    },
  }
}

function appliedPosition(
  position: ScanPosition,
  place: JournalPlace & { readonly batchOffset: number },
): AppliedPosition {
  return {
    sequence: position.sequence - 1,
    batch: position.batch - 1,
    head: Uint8Array.from(position.head),
    timeMicroseconds: position.timeMicroseconds,
    ...place,
  }
}
