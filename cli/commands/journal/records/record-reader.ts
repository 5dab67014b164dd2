import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  ALIGNMENT_BYTES,
  BATCH_HEADER_BYTES,
  BATCH_TRAILER_BYTES,
  type BatchHeader,
  batchBytes,
  hostTimeBytes,
  isSegmentName,
  paddedRecordBytes,
  RECORD,
  RECORD_HEADER_BYTES,
  readBatchHeader,
  readSegmentHeader,
  readUnsigned64,
  SEGMENT_HEADER_BYTES,
  sequenceInName,
  trailerFault,
} from '../../../../engine/verify/format-reader.ts'
import { SegmentWindow } from '../../../../engine/verify/segment-window.ts'
import { findBatchHeader } from '../../../../engine/verify/tail-scan.ts'
import { type ReportUnreadable, SequenceRun } from './unreadable-records.ts'

/** A stored record. `body` is valid until the next record is read. */
export interface StoredRecord {
  readonly sequence: number
  /** What the host's clock said, in microseconds since 1970. */
  readonly time: number
  /** The time that orders the log; the same unless the clock was behind the log. */
  readonly orderTime: number
  readonly kind: number
  readonly body: Buffer
  /** In hexadecimal, as `hash`. */
  readonly previousHash: string
  readonly hash: string
}

/** Start of reading, so that earlier segments are skipped. Some earlier records may still be returned. */
interface ReadingStart {
  readonly sequence?: number | undefined
  /** Microseconds since 1970. */
  readonly time?: number | undefined
}

/** Offset of the order time of the first record in a segment. */
const FIRST_TIME_OFFSET = SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES + RECORD.time
/** Bytes of a segment up to the end of that. */
const FIRST_BYTES = FIRST_TIME_OFFSET + 8

/** Whether the directory exists and has at least one segment. */
export function hasSegments(journalDirectory: string): boolean {
  return existsSync(journalDirectory) && readdirSync(journalDirectory).some(isSegmentName)
}

/**
 * The records of a journal in order, with a few megabytes in memory at a time. Checks the checksums but not the chain,
 * which is the task of `journal verify`. A torn tail ends the reading silently. What cannot be read is reported when the
 * record after it is reached, a missing segment too.
 * @throws the system's error when the directory or a segment cannot be read
 */
export function* readRecords(
  journalDirectory: string,
  start: ReadingStart,
  reportUnreadable: ReportUnreadable,
): Generator<StoredRecord, void> {
  const names = readdirSync(journalDirectory).filter(isSegmentName).toSorted()
  let run: SequenceRun | undefined
  for (const [index, name] of names.entries()) {
    const next = names[index + 1]
    if (next !== undefined && endsBefore(journalDirectory, next, start)) continue
    const first = sequenceInName(name)
    run ??= new SequenceRun(index === 0 ? 0 : first, reportUnreadable)
    run.reach(first, name, 0)
    const window = new SegmentWindow(join(journalDirectory, name), { digests: false })
    try {
      yield* readSegment({ name, window, isLast: next === undefined, run }, start)
    } finally {
      window.close()
    }
  }
  run?.end()
}

/** A segment that is being read. */
interface OpenSegment {
  readonly name: string
  readonly window: SegmentWindow
  readonly isLast: boolean
  readonly run: SequenceRun
}

/** Whether everything before the segment `next` is before the start. */
function endsBefore(journalDirectory: string, next: string, start: ReadingStart): boolean {
  if (start.sequence !== undefined && sequenceInName(next) <= start.sequence) return true
  if (start.time === undefined) return false
  const time = firstOrderTime(join(journalDirectory, next))
  return time !== undefined && time < start.time
}

/** Order time of the first record of a segment. No earlier record has a later one, and no time is after its order time. */
function firstOrderTime(path: string): number | undefined {
  const window = new SegmentWindow(path, { digests: false, windowBytes: FIRST_BYTES })
  try {
    const isThere = window.ensure(0, FIRST_BYTES) && !('fault' in readBatchHeader(window.bytes, SEGMENT_HEADER_BYTES))
    return isThere ? readUnsigned64(window.bytes, FIRST_TIME_OFFSET) : undefined
  } finally {
    window.close()
  }
}

function* readSegment(segment: OpenSegment, start: ReadingStart): Generator<StoredRecord, void> {
  const { name, window, isLast, run } = segment
  const segmentNumber = numberOf(window)
  if (segmentNumber === undefined) run.damaged(name, 0)
  let offset = SEGMENT_HEADER_BYTES
  while (window.size - offset >= BATCH_HEADER_BYTES + BATCH_TRAILER_BYTES) {
    const header = readBatch(window, offset)
    if (header === undefined) {
      const found = findBatchHeader(window, offset + ALIGNMENT_BYTES, segmentNumber, 0)
      // A batch that was being written is complete by the time a later one is visible.
      window.refresh()
      if (readBatch(window, offset) !== undefined) continue
      if (found !== undefined || !isLast) run.damaged(name, offset)
      if (found === undefined) return
      offset = found
      continue
    }
    const following = header.firstSequence + header.recordCount
    if (start.sequence !== undefined && following <= start.sequence) run.skip(following)
    else if (!(yield* recordsOf(segment, offset, header))) run.damaged(name, offset)
    offset += batchBytes(header)
  }
}

function numberOf(window: SegmentWindow): number | undefined {
  if (!window.ensure(0, SEGMENT_HEADER_BYTES)) return undefined
  const header = readSegmentHeader(window.bytes)
  return 'fault' in header ? undefined : header.segmentNumber
}

/** The header of the batch at an offset; undefined if there is no complete batch. */
function readBatch(window: SegmentWindow, offset: number): BatchHeader | undefined {
  if (!window.ensure(offset, BATCH_HEADER_BYTES)) return undefined
  const header = readBatchHeader(window.bytes, offset - window.base)
  if ('fault' in header || !window.ensure(offset, batchBytes(header))) return undefined
  return trailerFault(window.bytes, offset - window.base, header) === undefined ? header : undefined
}

/** Yields the records of a batch; returns false if they do not fill it exactly. */
function* recordsOf(
  { name, window: { bytes, base }, run }: OpenSegment,
  offset: number,
  header: BatchHeader,
): Generator<StoredRecord, boolean> {
  let position = offset - base + BATCH_HEADER_BYTES
  const end = position + header.recordBytes
  while (end - position >= RECORD_HEADER_BYTES) {
    const bodyBytes = bytes.readUInt32BE(position + RECORD.length)
    const next = position + paddedRecordBytes(bodyBytes)
    const before = hostTimeBytes(bytes, position)
    if (next > end || bodyBytes < before) return false
    const bodyAt = position + RECORD_HEADER_BYTES
    const sequence = readUnsigned64(bytes, position + RECORD.sequence)
    const orderTime = readUnsigned64(bytes, position + RECORD.time)
    const time = before === 0 ? orderTime : readUnsigned64(bytes, bodyAt)
    run.reach(sequence, name, offset, time)
    run.read(sequence, time)
    yield {
      sequence,
      time,
      orderTime,
      kind: bytes.readUInt16BE(position + RECORD.kind),
      body: bytes.subarray(bodyAt + before, bodyAt + bodyBytes),
      previousHash: bytes.toString('hex', position + RECORD.previousHash, position + RECORD_HEADER_BYTES),
      hash: bytes.toString('hex', position, position + 32),
    }
    position = next
  }
  return position === end
}
