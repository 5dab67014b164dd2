import { join } from 'node:path'
import { BatchRecords, type PlacedRecord } from './batch-records.ts'
import {
  ALIGNMENT_BYTES,
  BATCH_HEADER_BYTES,
  type BatchHeader,
  batchBytes,
  isSegmentName,
  readBatchHeader,
  readSegmentHeader,
  RECORD,
  SEGMENT_HEADER_BYTES,
  sequenceInName,
  trailerFault,
} from '../format-reader.ts'
import { type JournalFiles, REAL_FILES } from '../journal-files.ts'
import { HASH_WORDS } from '../record-hasher.ts'
import { SegmentWindow } from '../segment-window.ts'
import type { ChainProblem, ChainVerdict, SegmentPlace, SpanJob, SpanResult } from './span-report.ts'
import { batchHeaderIn, findBatchHeader } from '../tail-scan.ts'

const CHANGED: ChainVerdict = 'content changed'
const BROKEN: ChainVerdict = 'broken link to the previous record'
const MISSING: ChainVerdict = 'record is missing from the log'

/** Bytes in memory at a time, when no batch is longer: a span is short, and each segment of it starts with a header. */
const WINDOW_BYTES = 256 * 1024
/** More bytes than any writer puts into a batch: what claims more is not read as one. */
const BATCH_BYTES_MAXIMUM = 4 * 1024 * 1024

/**
 * Verifies the chain over a span of sequences, reading only. It examines records one by one and continues after faults,
 * in sealed segments as in the open one; records are believed rather than the headers around them. Of the record before
 * the span it takes the hash that it states. Runs to its end without a pause: call it in a separate thread. Memory
 * depends neither on the journal's length nor on the span's.
 * @throws the system's error when a file cannot be read
 */
export function verifySpan(job: SpanJob, files: JournalFiles = REAL_FILES): SpanResult {
  return new SpanVerifier(job, files).run()
}

class SpanVerifier {
  readonly #job: SpanJob
  readonly #files: JournalFiles
  readonly #problems: ChainProblem[] = []
  /** The sequence that the next record must have, and the hash that it must continue; undefined when that is unknown. */
  #expected: number
  #previous: Uint32Array | undefined
  /** The hash that the last record of the journal must have. */
  readonly #headHash: Uint32Array
  #checked = 0
  #verified = 0
  /** Whether the record before the span, or a record in it, was reached: later faults belong to the span. */
  #reached: boolean
  /** The last unreadable place; a record missing after it was changed, not taken out. */
  #unreadable: SegmentPlace | undefined
  /** Where the batch, or the segment header, is that is being examined. */
  #place: SegmentPlace

  constructor(job: SpanJob, files: JournalFiles) {
    this.#job = job
    this.#files = files
    this.#expected = job.from
    this.#previous = job.from === 0 ? new Uint32Array(HASH_WORDS) : undefined
    this.#headHash = new Uint32Array(Uint8Array.from(job.head.hash).buffer)
    this.#reached = job.from === 0
    this.#place = job.end
  }

  run(): SpanResult {
    const { directory, last, beginning, end } = this.#job
    for (const name of this.#files.list(directory).filter(isSegmentName).toSorted()) {
      const first = sequenceInName(name)
      if (first < beginning.segmentFirstSequence || first > end.segmentFirstSequence || this.#expected > last) continue
      this.#verifySegment(join(directory, name), first)
    }
    if (this.#expected <= last) this.#lose(last + 1, this.#place)
    return { checked: this.#checked, verified: this.#verified, problems: this.#problems }
  }

  #report(sequence: number, verdict: ChainVerdict, place: SegmentPlace, detail: string, lastSequence = sequence): void {
    this.#problems.push({ sequence, lastSequence, verdict, place, detail })
  }

  #verifySegment(path: string, first: number): void {
    const { last, beginning, end } = this.#job
    const isLast = first === end.segmentFirstSequence
    const window = new SegmentWindow(path, {
      digests: false,
      windowBytes: WINDOW_BYTES,
      files: this.#files,
      ...(isLast && { limit: end.offset }),
    })
    try {
      const limit = isLast ? end.offset : window.size
      const segmentNumber = this.#readSegmentHeader(window, first)
      // A cold segment without its index: its records existed.
      if (window.isCold && window.size === 0) this.#unreadable = this.#place
      let offset = first === beginning.segmentFirstSequence ? beginning.offset : SEGMENT_HEADER_BYTES
      while (offset < limit && this.#expected <= last) {
        offset = this.#verifyBatch(window, { segmentFirstSequence: first, offset }, limit, segmentNumber)
      }
    } finally {
      window.close()
    }
  }

  /**
   * The header of a segment states its place and the hash that it continues.
   * @returns the number of the segment, undefined when the header is damaged
   */
  #readSegmentHeader(window: SegmentWindow, first: number): number | undefined {
    const place = { segmentFirstSequence: first, offset: 0 }
    this.#place = place
    const header = window.ensure(0, SEGMENT_HEADER_BYTES) ? readSegmentHeader(window.bytes) : undefined
    const readable = header === undefined || 'fault' in header ? undefined : header
    if (first < this.#job.from || first > this.#job.last) return readable?.segmentNumber
    if (readable === undefined) this.#report(first, CHANGED, place, 'the header of the segment is damaged')
    else if (readable.firstSequence !== first) {
      const detail = `the segment says that it begins with sequence ${readable.firstSequence}`
      this.#report(first, CHANGED, place, detail)
    } else if (first === this.#expected && this.#isOther(readable.chainHead)) {
      const detail = 'the segment continues another record than the last one of the segment before'
      this.#report(first, BROKEN, place, detail)
    }
    return readable?.segmentNumber
  }

  /** Whether a hash, in hexadecimal, differs from the hash of the record before. */
  #isOther(hash: string): boolean {
    return this.#previous !== undefined && Buffer.from(this.#previous.buffer).toString('hex') !== hash
  }

  /**
   * Verifies the batch at a place, or whatever is in its place.
   * @returns the offset after it
   */
  #verifyBatch(window: SegmentWindow, place: SegmentPlace, limit: number, segmentNumber: number | undefined): number {
    const { offset } = place
    const header = readHeader(window, offset, limit)
    const length = header === undefined ? 0 : batchBytes(header)
    // Records from before the span that are inside it are not passed over.
    if (header !== undefined && !this.#reached && header.firstSequence + header.recordCount < this.#job.from) {
      return offset + length
    }
    this.#place = place
    if (header === undefined || !window.ensure(offset, length)) {
      return this.#verifyUnreadable(window, limit, segmentNumber)
    }
    const bytes = bytesAt(window, offset, length)
    if (trailerFault(bytes, 0, header) === undefined) {
      const batch = new BatchRecords(bytes)
      this.#verifyRecords(batch, header, batch.faultOf(header))
      return offset + length
    }
    // Where something was cut out of a batch, the next one is inside what seems to be this one.
    const end = batchHeaderIn(bytes, ALIGNMENT_BYTES, segmentNumber) ?? length
    this.#verifyRecords(new BatchRecords(bytes.subarray(0, end)), header, 'the checksum of the batch is wrong')
    return offset + end
  }

  /** Verifies the records between damaged ends of a batch, if they still have their form; else they are lost. */
  #verifyUnreadable(window: SegmentWindow, limit: number, segmentNumber: number | undefined): number {
    const { offset } = this.#place
    const end = findBatchHeader(window, offset + ALIGNMENT_BYTES, segmentNumber) ?? limit
    const length = Math.min(end, window.size) - offset
    if (end - offset <= BATCH_BYTES_MAXIMUM && window.ensure(offset, length)) {
      const batch = new BatchRecords(bytesAt(window, offset, length))
      if (batch.continues(this.#expected)) {
        const header = { firstSequence: this.#expected, recordCount: batch.records.length }
        this.#verifyRecords(batch, header, 'the header of the batch is damaged')
        return end
      }
    }
    this.#unreadable = this.#place
    return end
  }

  /** @param fault of the batch as a whole */
  #verifyRecords(
    batch: BatchRecords,
    { firstSequence, recordCount }: Pick<BatchHeader, 'firstSequence' | 'recordCount'>,
    fault: string | undefined,
  ): void {
    const { from, last } = this.#job
    const problems = this.#problems.length
    let position = firstSequence
    let first: number | undefined
    let passed = 0
    for (const record of batch.records) {
      if (this.#expected > last || position >= firstSequence + recordCount) break
      if (record.sequence < from) {
        this.#approach(batch, record)
        position = record.sequence + 1
      } else {
        position = this.#verifyRecord(batch, record, position) + 1
        first ??= position - 1
      }
      passed += 1
    }
    const allPassed = batch.complete && passed === batch.records.length
    if (this.#expected <= last && !allPassed) this.#unreadable = this.#place
    if (fault === undefined || first === undefined || this.#problems.length > problems) return
    // A batch is judged in the span that has its first record, unless a record explains the fault.
    if (first !== batch.records[0]?.sequence || !batch.areUnchanged) return
    this.#verified -= 1
    this.#report(first, CHANGED, this.#place, fault)
  }

  /** Passes a record that belongs in front of the span. */
  #approach(batch: BatchRecords, record: PlacedRecord): void {
    const { sequence } = record
    if (this.#reached) {
      this.#report(sequence, BROKEN, this.#placeOf(record), `it stands where ${this.#expected} belongs`)
      return
    }
    this.#unreadable = undefined
    if (sequence !== this.#job.from - 1) return
    this.#reached = true
    this.#previous = batch.hashOf(record)
  }

  /**
   * @param position its sequence by its place in the batch: a changed record's own sequence is not trusted
   * @returns its sequence
   */
  #verifyRecord(batch: BatchRecords, record: PlacedRecord, position: number): number {
    const { last, head } = this.#job
    const unchanged = batch.isUnchanged(record)
    const sequence = unchanged ? record.sequence : position
    const place = this.#placeOf(record)
    if (sequence > last) {
      this.#lose(last + 1, place)
      return sequence
    }
    this.#checked += 1
    if (sequence < this.#expected) {
      this.#report(sequence, BROKEN, place, `it stands where ${this.#expected} belongs`)
      return sequence
    }
    if (sequence > this.#expected || (this.#unreadable !== undefined && this.#reached)) this.#lose(sequence, place)
    this.#unreadable = undefined
    const linked = this.#previous === undefined || batch.states(record.at + RECORD.previousHash, this.#previous)
    if (!linked) {
      this.#report(sequence, BROKEN, place, 'its previous hash is not the hash that the record before states')
    }
    // Nothing continues the last record; its hash is known from its applying.
    const same = unchanged && (sequence !== head.sequence || batch.states(record.at, this.#headHash))
    if (!same) this.#report(sequence, CHANGED, place, 'it does not hash to the hash that it has')
    if (linked && same) this.#verified += 1
    this.#previous = batch.hashOf(record)
    this.#reached = true
    this.#expected = sequence + 1
    return sequence
  }

  /** Reports that the records up to `next`, which is the next one found, are not there. */
  #lose(next: number, place: SegmentPlace): void {
    const first = this.#expected
    const unreadable = this.#unreadable
    if (unreadable === undefined) {
      const detail = next > this.#job.last ? 'no more of the span is there' : `sequence ${next} is in its place`
      this.#report(first, MISSING, place, detail, next - 1)
    } else if (next > first) {
      this.#report(first, CHANGED, unreadable, 'the bytes here cannot be read as records', next - 1)
    } else {
      this.#report(first, CHANGED, unreadable, 'bytes that are not records come before it')
    }
    this.#unreadable = undefined
    this.#expected = next
    if (next > first) this.#previous = undefined
  }

  #placeOf({ at }: PlacedRecord): SegmentPlace {
    return { ...this.#place, offset: this.#place.offset + at }
  }
}

/** The header at an offset, undefined when it is not right or its batch cannot end at the limit or before. */
function readHeader(window: SegmentWindow, offset: number, limit: number): BatchHeader | undefined {
  if (!window.ensure(offset, BATCH_HEADER_BYTES)) return undefined
  const header = readBatchHeader(window.bytes, offset - window.base)
  if ('fault' in header || batchBytes(header) > Math.min(BATCH_BYTES_MAXIMUM, limit - offset)) return undefined
  return header
}

/** Bytes that are in the window. */
function bytesAt({ bytes, base }: SegmentWindow, offset: number, length: number): Buffer {
  return bytes.subarray(offset - base, offset - base + length)
}
