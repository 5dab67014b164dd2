/** Shows every record of a journal of one segment in memory, by each reader that people look at it with. */
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { recordLine } from '../../../cli/commands/journal/records/record-line.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { segmentName, StorePaths } from '../../../engine/disk/store-paths.ts'
import { EXPORT_FORMS } from '../../../planes/management/audit/audit-forms.ts'
import { AuditRecords } from '../../../projections/audit/audit-export.ts'
import { JournalRange } from '../../../projections/audit/journal-range.ts'
import { type AuditPage, AuditScan } from '../../../projections/audit/audit-query.ts'
import { JournalCursor, type JournalEnd } from '../../../projections/audit/journal-cursor.ts'
import { PieceMemory } from '../../../projections/audit/segment-pieces.ts'
import { RecordFrames } from '../../../projections/audit/record-frames.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { EventList } from '../../../projections/events/event-collectors.ts'
import type { EventNames } from '../../../projections/events/event-names.ts'
import { EventScan } from '../../../projections/events/event-scan.ts'
import type { JournalBuilder } from '../../support/journals/journal-builder.ts'
import { memoryFile } from './memory-files.ts'

const EVER = {
  sinceMicroseconds: microsecondsOf(0),
  untilMicroseconds: microsecondsOf(Number.MAX_SAFE_INTEGER),
  fromMicroseconds: microsecondsOf(0),
  toMicroseconds: microsecondsOf(Number.MAX_SAFE_INTEGER),
}
const LIMIT = 1000
const MEMORY = new PieceMemory()
const PATHS = new StorePaths('store')
/** Names for any id: which there are is for the projections to know. */
const NAMES = { bucket: String, version: String, metadata: (facts: object) => facts } as unknown as EventNames

/** What the readers made of a journal. */
export interface Shown {
  readonly page: AuditPage
  /** A page of a filter that no record of the journal meets. */
  readonly filtered: AuditPage
  /** Records in an export. */
  readonly exported: number
  readonly events: { readonly damaged: boolean }
  /** Sequences of records that `journal show` can only show as bytes. */
  readonly asBytes: readonly number[]
}

/** @throws whatever a reader throws */
export async function showJournal(journal: JournalBuilder): Promise<Shown> {
  const { bytes } = journal.open
  const file = memoryFile(bytes)
  const disk = {
    list: () => [segmentName(sequenceOf(0))],
    openToRead: () => file,
    openToReadAsync: async () => file,
  } as unknown as Disk
  const start = { segmentFirstSequence: sequenceOf(0), offset: 256 }
  const end: JournalEnd = {
    nextSequence: sequenceOf(journal.nextSequence),
    timeMicroseconds: microsecondsOf(journal.time),
    head: journal.lastHash,
    place: { segmentFirstSequence: sequenceOf(0), offset: bytes.length },
  }
  const cursor = () => new JournalCursor(disk, PATHS, serverTurns, start, end.place, MEMORY)
  const { nextSequence: following, place } = end
  const stretch = { first: sequenceOf(0), beginning: start, following, end: place, isOrdered: true }
  const scan = (filter: object) =>
    new AuditScan({ ...EVER, limit: LIMIT, ...filter }, serverTurns, LIMIT).run([stretch], cursor)
  const page = await scan({})
  const filtered = await scan({ bucket: 'no-such-bucket', requestId: 'no-such-request' })
  return {
    page,
    filtered,
    exported: await countExported(
      new AuditRecords(EVER, [stretch], () => new JournalRange(cursor(), stretch.first, following), serverTurns),
    ),
    events: await readEvents(cursor(), journal.nextSequence - 1),
    asBytes: await shownAsBytes(cursor()),
  }
}

async function countExported(records: AuditRecords): Promise<number> {
  let count = 0
  for (let found = await records.next(); found !== undefined; found = await records.next()) {
    for (const record of found) {
      JSON.parse(EXPORT_FORMS.json.record(record))
      EXPORT_FORMS.csv.record(record)
      count += 1
    }
  }
  return count
}

async function readEvents(cursor: JournalCursor, last: number): Promise<Shown['events']> {
  const scan = new EventScan({}, new EventList(LIMIT), NAMES, serverTurns)
  const journal = new JournalRange(cursor, sequenceOf(0), sequenceOf(last + 1))
  for (let step = await journal.next(); step !== undefined; step = await journal.next())
    await scan.step(step, journal.place, sequenceOf(0))
  const head = { sequence: sequenceOf(last), index: 0, timeMicroseconds: microsecondsOf(0) }
  return scan.end(head)
}

async function shownAsBytes(cursor: JournalCursor): Promise<number[]> {
  const found: number[] = []
  for (let step = await cursor.next(); step !== undefined; step = await cursor.next()) {
    if (step === 'damaged') continue
    const frames = new RecordFrames(step.bytes, step.header)
    while (frames.next()) {
      const { sequence, kind, body, hash, previousHash, timeMicroseconds: time, orderMicroseconds: orderTime } = frames
      const line = recordLine({ sequence, kind, body, hash, previousHash, time, orderTime })
      JSON.stringify(line)
      if (line.body !== undefined) found.push(sequence)
    }
  }
  return found
}
