import type { Disk } from '../disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../disk/store-paths.ts'
import { batchTrailerIsRight, decodeBatchHeader, type JournalRecord, readRecords } from './batch-reader.ts'
import { BATCH_HEADER, HASH_BYTES, RECORD_KIND, SEGMENT_HEADER } from './format.ts'
import type { JournalPlace } from './journal.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { decodeSegmentHeader } from './segment.ts'
import { type ScanPosition, SegmentWindow, scanSegment } from './segment-scan.ts'

/** Where to begin: the position before the first record wanted, and the place of its batch. */
export interface JournalStart {
  readonly position: ScanPosition
  readonly place: JournalPlace
}

export interface JournalVisitor {
  record(record: JournalRecord): void
  /** After the records of a batch: where the chain stands, and where the batch was. */
  batch(position: ScanPosition, place: JournalPlace & { readonly batchOffset: number }): void
}

/**
 * Reads the journal from `start`, or from the genesis, to its end, proving every batch and every link on the way.
 * Memory does not depend on the journal's length.
 * @throws JournalDamagedError naming segment, offset and sequence
 */
export function readJournal(
  disk: Disk,
  paths: StorePaths,
  start: JournalStart | undefined,
  visitor: JournalVisitor,
): void {
  const names = disk.list(paths.journal).map(segmentFirstSequence)
  const firsts = names.filter((first): first is number => first !== undefined)
  const from = start?.place.segmentFirstSequence ?? 0
  const position = start === undefined ? undefined : copyOf(start.position)
  let carried = position
  for (const first of firsts) {
    if (first < from) continue
    const offset = first === from && start !== undefined ? start.place.offset : SEGMENT_HEADER.bytes
    carried = readSegment(disk, paths, first, offset, carried, visitor)
  }
}

function copyOf(position: ScanPosition): ScanPosition {
  return { ...position, head: Buffer.from(position.head) }
}

function readSegment(
  disk: Disk,
  paths: StorePaths,
  first: number,
  offset: number,
  carried: ScanPosition | undefined,
  visitor: JournalVisitor,
): ScanPosition {
  const path = paths.segment(first)
  const file = disk.openToRead(path)
  try {
    const window = new SegmentWindow(file)
    const header = decodeSegmentHeader(Buffer.from(window.view(0, SEGMENT_HEADER.bytes)))
    if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
    const position = carried ?? {
      sequence: header.firstSequence,
      batch: header.firstBatch,
      head: Buffer.from(header.chainHead),
      timeMicroseconds: 0,
    }
    const place = { segmentNumber: header.segmentNumber, segmentFirstSequence: first }
    const end = scanSegment(window, header.segmentNumber, offset, position, {
      record: (record) => visitor.record(record),
      batch: (batchOffset, behind) => visitor.batch(position, { ...place, batchOffset, offset: behind }),
    })
    if (end.end === 'torn' || end.end === 'foreign') {
      throw new JournalDamagedError(`${path}, offset ${end.offset}, sequence ${position.sequence}: ${end.reason}`)
    }
    return position
  } finally {
    file.close()
  }
}

/**
 * The body of the first record.
 * @throws JournalDamagedError
 */
export function readGenesis(disk: Disk, paths: StorePaths): Uint8Array {
  const file = disk.openToRead(paths.segment(0))
  try {
    const window = new SegmentWindow(file)
    const header = decodeBatchHeader(Buffer.from(window.view(SEGMENT_HEADER.bytes, BATCH_HEADER.bytes)))
    const batch = header === undefined ? undefined : Buffer.from(window.view(SEGMENT_HEADER.bytes, header.bytes))
    let body: Uint8Array | undefined
    if (header !== undefined && batch !== undefined && batchTrailerIsRight(batch)) {
      readRecords(batch, header, { sequence: 0, head: Buffer.alloc(HASH_BYTES), timeMicroseconds: 0 }, (record) => {
        if (record.kind === RECORD_KIND.genesis) body = Uint8Array.from(record.body)
      })
    }
    if (body === undefined) throw new JournalDamagedError(`${file.path}: the genesis record is damaged`)
    return body
  } finally {
    file.close()
  }
}
