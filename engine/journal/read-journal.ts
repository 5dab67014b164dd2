import type { Disk } from '../disk/disk.ts'
import { next, type Sequence, sequenceOf } from '../brands.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { batchTrailerIsRight, decodeBatchHeader, type JournalRecord, readRecords } from './batch-reader.ts'
import { BATCH_BYTES_MAXIMUM, BATCH_HEADER, RECORD_KIND, SEGMENT_HEADER } from './format.ts'
import { JournalDamagedError } from './journal-errors.ts'
import { type AppliedPosition, type BatchPlace, firstOf, genesisNext, nextAfter, type NextRecord } from './positions.ts'
import { decodeSegmentHeader, type SegmentHeader, segmentFirsts, type SegmentFile } from './segment.ts'
import { openSegment } from './segment-file.ts'
import { type ScanEnd, SegmentWindow, scanSegment } from './segment-scan.ts'

interface JournalVisitor {
  record(record: JournalRecord): void
  /** Called after the records of a batch: the position after it, valid only now, and the batch's place. */
  batch(chain: NextRecord, place: BatchPlace): void
}

/**
 * Reads the journal after a record, or from the genesis, to its end, verifying every batch and every link. Memory does not
 * depend on the journal's length.
 * @param before segments that begin with this sequence or a later one are not read
 * @throws JournalDamagedError naming segment, offset and sequence
 */
export function readJournal(
  disk: Disk,
  paths: StorePaths,
  after: AppliedPosition | undefined,
  visitor: JournalVisitor,
  before?: Sequence,
): void {
  let chain = after === undefined ? undefined : nextAfter(after)
  const firsts = segmentFirsts(disk, paths)
  const begins = after === undefined ? 0 : beginOf(firsts, after)
  for (const first of firsts) {
    if (before !== undefined && first >= before) return
    if (first < begins) continue
    const offset = first === after?.segmentFirstSequence ? after.offset : SEGMENT_HEADER.bytes
    chain = readSegment(disk, paths, first, offset, chain, visitor)
  }
}

/**
 * First sequence of the segment to read: after a seal the next segment, since nothing follows in the sealed one, which
 * may be cold by now.
 */
function beginOf(firsts: readonly Sequence[], { sequence, segmentFirstSequence }: AppliedPosition): Sequence {
  const following = next(sequence)
  return firsts.includes(following) ? following : segmentFirstSequence
}

/**
 * Reads the journal from the segment with first sequence `first` to its end, verifying as above.
 * @throws JournalDamagedError
 */
export function readJournalFrom(
  disk: Disk,
  paths: StorePaths,
  first: Sequence,
  onRecord: (record: JournalRecord) => void,
): void {
  let chain: NextRecord | undefined
  for (const segment of segmentFirsts(disk, paths)) {
    if (segment < first) continue
    const visitor = { record: onRecord, batch: () => undefined }
    chain = readSegment(disk, paths, segment, SEGMENT_HEADER.bytes, chain, visitor)
  }
}

function readSegment(
  disk: Disk,
  paths: StorePaths,
  first: Sequence,
  offset: number,
  carried: NextRecord | undefined,
  visitor: JournalVisitor,
): NextRecord {
  const path = paths.segment(first)
  const file = openSegment(disk, path)
  try {
    const window = new SegmentWindow(file)
    const header = headerOf(window, path)
    const chain = carried ?? firstOf(header)
    const place = { segmentNumber: header.segmentNumber, segmentFirstSequence: first }
    const end = scanSegment(window, header.segmentNumber, offset, chain, {
      record: (record) => visitor.record(record),
      batch: (batchOffset, after) => visitor.batch(chain, { ...place, batchOffset, offset: after }),
    })
    if (end.end === 'torn' || end.end === 'foreign') {
      throw new JournalDamagedError(`${path}, offset ${end.offset}, sequence ${chain.nextSequence}: ${end.reason}`)
    }
    return chain
  } finally {
    file.close()
  }
}

/** Called with the records of a batch, and after it. */
interface SegmentVisitor {
  record?(record: JournalRecord): void
  batch?(chain: NextRecord, offset: number, end: number): void
}

/**
 * Reads one segment from its beginning to the first batch that is not valid, verifying every record.
 * @throws JournalDamagedError when its header is damaged
 */
export function scanOneSegment(
  disk: Disk,
  paths: StorePaths,
  first: Sequence,
  visitor: SegmentVisitor,
): { readonly header: SegmentHeader; readonly chain: NextRecord; readonly end: ScanEnd } {
  const path = paths.segment(first)
  const file = openSegment(disk, path)
  try {
    const window = new SegmentWindow(file)
    const header = headerOf(window, path)
    const chain = firstOf(header)
    const end = scanSegment(window, header.segmentNumber, SEGMENT_HEADER.bytes, chain, {
      record: (record) => visitor.record?.(record),
      batch: (offset, after) => visitor.batch?.(chain, offset, after),
    })
    return { header, chain, end }
  } finally {
    file.close()
  }
}

function headerOf(window: SegmentWindow, path: string): SegmentHeader {
  const header = decodeSegmentHeader(Buffer.from(window.view(0, SEGMENT_HEADER.bytes)))
  if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
  return header
}

/**
 * The body of the first record.
 * @throws JournalDamagedError
 */
export function readGenesis(disk: Disk, paths: StorePaths): Uint8Array {
  const file = openSegment(disk, paths.segment(sequenceOf(0)))
  try {
    // Not by a window, which reads ahead: a server asks at each start, and would keep its memory.
    const header = decodeBatchHeader(bytesAt(file, SEGMENT_HEADER.bytes, BATCH_HEADER.bytes))
    const batch = header === undefined ? undefined : bytesAt(file, SEGMENT_HEADER.bytes, header.bytes)
    let body: Uint8Array | undefined
    if (header !== undefined && batch !== undefined && batchTrailerIsRight(batch)) {
      readRecords(batch, header, genesisNext(), (record) => {
        if (record.kind === RECORD_KIND.genesis) body = Uint8Array.from(record.body)
      })
    }
    if (body === undefined) throw new JournalDamagedError(`${file.path}: the genesis record is damaged`)
    return body
  } finally {
    file.close()
  }
}

/** Fewer at the end of the file; no batch is longer than the longest that is written. */
function bytesAt(file: SegmentFile, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(length, BATCH_BYTES_MAXIMUM))
  return bytes.subarray(0, file.readAt(bytes, offset, bytes.length))
}
