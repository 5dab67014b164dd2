import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { BATCH_HEADER, HASH_BYTES, RECORD, RECORD_KIND, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { decodeBatchHeader } from '../../engine/journal/batch-reader.ts'
import { ColdSegmentDamagedError } from '../../engine/journal/cold/cold-segment.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { firstOf, lastBefore, nextAfter, type NextRecord } from '../../engine/journal/positions.ts'
import { decodeSegmentHeader, segmentFirsts } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { type ScanEnd, scanSegment, SegmentWindow } from '../../engine/journal/segment-scan.ts'
import type { Pace } from '../steady-pace.ts'
import { IndexFile } from './index-file.ts'
import { type IndexHeader, RecordIndexDamagedError } from './index-format.ts'
import { type IndexName, indexPath, makingPath } from './index-names.ts'
import { IndexWriter } from './index-writer.ts'
import { PostingList } from './posting-list.ts'
import { TermFinder, UNREADABLE } from './terms.ts'

/** Postings between two rests. */
const RESTED_POSTINGS = 4096

/** Records of one segment, from its first one or from the end of another file on. */
interface RecordsTask {
  readonly kind: 'records'
  readonly segment: Sequence
  /** Path of the file whose records end before the first one; undefined for the first of the segment. */
  readonly after: string | undefined
  /** Reading ends when this number of records is reached, or before the batch of the sequence. */
  readonly count: number
  readonly before: number
  readonly level: number
}

/** What a file is made of: records, or files that are neighbours. */
export type IndexTask = RecordsTask | { readonly kind: 'merge'; readonly files: readonly IndexName[] }

/**
 * Makes a file of the record index, under another name until it is complete.
 * @returns undefined where there are no records for it yet
 * @throws JournalDamagedError, RecordIndexDamagedError, what the pace throws, and the disk's errors
 */
export function makeIndex(disk: Disk, paths: StorePaths, task: IndexTask, pace: Pace): IndexName | undefined {
  disk.makeDirectory(paths.recordIndex)
  return task.kind === 'merge' ? merged(disk, paths, task.files, pace) : ofRecords(disk, paths, task, pace)
}

/**
 * Hash of the record before a place, as the journal states it there; undefined where another batch is, or the journal has ended.
 * @throws JournalDamagedError, also where no batch can be made out; ColdSegmentDamagedError, and the disk's errors
 */
export function headBefore(disk: Disk, paths: StorePaths, { last }: Pick<IndexHeader, 'last'>): Uint8Array | undefined {
  const following = sequenceOf(last.sequence + 1)
  const isNext = disk.exists(paths.segment(following))
  const path = paths.segment(isNext ? following : last.segmentFirstSequence)
  const file = openSegment(disk, path)
  const read = (offset: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, file.readAt(bytes, offset, length))
  }
  try {
    if (isNext) {
      const header = decodeSegmentHeader(read(0, SEGMENT_HEADER.bytes))
      if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
      return header.chainHead
    }
    const bytes = read(last.offset, BATCH_HEADER.bytes + RECORD.frameBytes)
    const header = decodeBatchHeader(bytes)
    if (header === undefined) {
      const isOpen = segmentFirsts(disk, paths).at(-1) === last.segmentFirstSequence
      if (isOpen && bytes.every((byte) => byte === 0)) return undefined
      throw new JournalDamagedError(`${path}, offset ${last.offset}: no batch begins here`)
    }
    if (header.firstSequence !== following) return undefined
    const at = BATCH_HEADER.bytes + RECORD.previousHashAt
    return bytes.subarray(at, at + HASH_BYTES)
  } finally {
    file.close()
  }
}

type Range = Pick<IndexHeader, 'first' | 'last' | 'unreadable'>

/** Enough records were read. */
class EnoughRead extends Error {
  override readonly name = 'EnoughRead'
}

function ofRecords(disk: Disk, paths: StorePaths, task: RecordsTask, pace: Pace): IndexName | undefined {
  const finder = new TermFinder()
  const postings = new PostingList()
  let unreadable = 0
  let range: Range | undefined
  scan(disk, paths, task, {
    record: ({ kind, sequence, body }) => {
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      for (const term of finder.of(body)) {
        if (term === UNREADABLE) unreadable += 1
        postings.add(term, sequence)
      }
    },
    batch: (chain, first, from, offset) => {
      // What is after it, or is the last batch of all, may be another one after a power cut.
      if (chain.nextSequence >= task.before) throw new EnoughRead()
      pace.moved(offset - from)
      pace.worked()
      postings.keep()
      range = { first, last: { ...lastBefore(chain), segmentFirstSequence: task.segment, offset }, unreadable }
      if (chain.nextSequence - first >= task.count) throw new EnoughRead()
    },
  })
  if (range === undefined) return undefined
  postings.sort()
  return complete(disk, paths, { ...range, level: task.level }, pace, (writer) =>
    postings.each((term, sequence) => writer.add(term, sequence)),
  )
}

interface ScanVisitor {
  readonly record: Parameters<typeof scanSegment>[4]['record']
  /** Called after the records of a batch: the position, the first sequence of all, and both ends of the batch. */
  readonly batch: (chain: NextRecord, first: Sequence, from: number, offset: number) => void
}

/** @throws JournalDamagedError */
function scan(disk: Disk, paths: StorePaths, { segment, after }: RecordsTask, visitor: ScanVisitor): void {
  const last = after === undefined ? undefined : lastOf(disk, paths, after)
  const path = paths.segment(segment)
  const file = openSegment(disk, path)
  try {
    const window = new SegmentWindow(file)
    const header = decodeSegmentHeader(Buffer.from(window.view(0, SEGMENT_HEADER.bytes)))
    if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
    const chain = last === undefined ? firstOf(header) : nextAfter(last)
    const first = chain.nextSequence
    let end: ScanEnd
    try {
      end = scanSegment(window, header.segmentNumber, last?.offset ?? SEGMENT_HEADER.bytes, chain, {
        record: visitor.record,
        batch: (from, to) => visitor.batch(chain, first, from, to),
      })
    } catch (error) {
      if (error instanceof EnoughRead) return
      throw error
    }
    // All that is read was acknowledged, and the first record after it ends the reading of the open segment.
    if (end.end !== 'sealed') throw new JournalDamagedError(`${path}, offset ${end.offset}: ${end.reason || end.end}`)
  } finally {
    file.close()
  }
}

/** The end of a file that is gone on from, which is of this journal: its place would be taken for damage otherwise. */
function lastOf(disk: Disk, paths: StorePaths, path: string): IndexHeader['last'] {
  const file = IndexFile.open(disk, path)
  file.close()
  const { last } = file.header
  if (!isOfJournal(disk, paths, last)) throw new RecordIndexDamagedError(`${path}: it is of another journal`)
  return last
}

/** @throws JournalDamagedError, ColdSegmentDamagedError, and the disk's errors */
function isOfJournal(disk: Disk, paths: StorePaths, last: IndexHeader['last']): boolean {
  return Buffer.from(headBefore(disk, paths, { last }) ?? []).equals(last.head)
}

/**
 * A file of another journal would be proved by the last of those that it is put together with.
 * @throws RecordIndexDamagedError
 */
function requireOfJournal(disk: Disk, paths: StorePaths, { path, first, following }: IndexName, file: IndexFile): void {
  const { header } = file
  if (header.first !== first || header.last.sequence + 1 !== following) {
    throw new RecordIndexDamagedError(`${path}: it is of other records than its name says`)
  }
  try {
    if (isOfJournal(disk, paths, header.last)) return
  } catch (error) {
    // The journal is damaged there: it was sound when the file was made.
    if (error instanceof JournalDamagedError || error instanceof ColdSegmentDamagedError) return
    throw error
  }
  throw new RecordIndexDamagedError(`${path}: it is of another journal`)
}

function merged(disk: Disk, paths: StorePaths, names: readonly IndexName[], pace: Pace): IndexName {
  const files: IndexFile[] = []
  try {
    for (const name of names) {
      const file = IndexFile.open(disk, name.path)
      files.push(file)
      requireOfJournal(disk, paths, name, file)
    }
    const [one, other] = [files[0], files.at(-1)] as [IndexFile, IndexFile]
    const unreadable = files.reduce((sum, { header }) => sum + header.unreadable, 0)
    const level = Math.max(...names.map((name) => name.level)) + 1
    const range = { first: one.header.first, last: other.header.last, unreadable, level }
    return complete(disk, paths, range, pace, (writer) => mergeInto(writer, files, pace))
  } finally {
    for (const file of files) file.close()
  }
}

/** Writes the postings of files with later and later records in the order of all. */
function mergeInto(writer: IndexWriter, files: readonly IndexFile[], pace: Pace): void {
  const sources = files.map((file) => file.all()).filter((source) => source.next())
  let count = 0
  while (sources.length > 0) {
    const term = sources.reduce((least, source) => Math.min(least, source.term), Number.POSITIVE_INFINITY)
    for (let index = 0; index < sources.length; index += 1) {
      const source = sources[index] as (typeof sources)[number]
      let isOver = false
      for (; !isOver && source.term === term; isOver = !source.next()) {
        writer.add(term, source.sequence)
        count += 1
        if (count % RESTED_POSTINGS === 0) pace.worked()
      }
      if (isOver) {
        sources.splice(index, 1)
        index -= 1
      }
    }
  }
}

function complete(
  disk: Disk,
  paths: StorePaths,
  { level, ...range }: Range & { readonly level: number },
  pace: Pace,
  write: (writer: IndexWriter) => void,
): IndexName {
  const name = { first: range.first, following: range.last.sequence + 1, level }
  const path = indexPath(paths, name)
  const making = makingPath(paths)
  disk.remove(making)
  const file = disk.create(making)
  try {
    const writer = new IndexWriter(file, range.first, (bytes) => pace.moved(bytes))
    write(writer)
    writer.finish(range)
  } finally {
    file.close()
  }
  disk.rename(making, path)
  disk.syncDirectory(paths.recordIndex)
  return { path, ...name }
}
