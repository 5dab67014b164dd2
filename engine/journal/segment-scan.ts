import {
  type BatchHeader,
  batchHeaderIsWhole,
  batchTrailerIsRight,
  decodeBatchHeader,
  type JournalRecord,
  readRecords,
} from './batch-reader.ts'
import { decodeSeal, type Seal } from './bodies.ts'
import { ColdSegmentDamagedError } from './cold/cold-segment.ts'
import type { NextRecord } from './positions.ts'
import type { SegmentFile } from './segment.ts'
import { ALIGNMENT_BYTES, BATCH_BYTES_MAXIMUM, BATCH_HEADER, BATCH_TRAILER, RECORD_KIND } from './format.ts'

const WINDOW_BYTES = 2 * BATCH_BYTES_MAXIMUM

type ScannedFile = Pick<SegmentFile, 'size' | 'readAt'> & { readonly isCold?: boolean }

/** A sliding view of a segment: a scan needs the same memory whatever the segment's length. */
export class SegmentWindow {
  readonly size: number
  readonly isCold: boolean
  readonly #file: ScannedFile
  readonly #bytes: Buffer
  #start = 0
  #length = 0

  constructor(file: ScannedFile) {
    this.#file = file
    this.isCold = file.isCold ?? false
    this.size = file.size()
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, this.size))
  }

  /** `length` bytes at `offset`, fewer at the end of the file. Valid until the next call. */
  view(offset: number, length: number): Buffer {
    const wanted = Math.min(length, Math.max(0, this.size - offset), WINDOW_BYTES)
    if (offset < this.#start || offset + wanted > this.#start + this.#length) {
      this.#start = offset
      this.#length = this.#fill(offset, wanted)
    }
    return this.#bytes.subarray(offset - this.#start, Math.min(offset - this.#start + wanted, this.#length))
  }

  /** Damage after the wanted bytes counts only when those bytes are wanted. */
  #fill(offset: number, wanted: number): number {
    const length = Math.min(WINDOW_BYTES, this.size - offset)
    try {
      return this.#file.readAt(this.#bytes, offset, length)
    } catch (error) {
      if (!(error instanceof ColdSegmentDamagedError) || error.offset < offset + wanted) throw error
      return error.offset - offset
    }
  }
}

/** How a scan of one segment ended. */
export interface ScanEnd {
  /** Offset after the last valid batch. */
  readonly offset: number
  /**
   * `sealed`: the last batch seals the segment. `empty`: only zeros follow. `torn`: a part of the next batch is missing or
   * was not written. `foreign`: a whole batch follows that does not belong there.
   */
  readonly end: 'sealed' | 'empty' | 'torn' | 'foreign'
  readonly seal: Seal | undefined
  /** Why the batch at `offset` is not valid. */
  readonly reason: string
}

/** Called with the records of each batch whose checksum is correct, and then with the end of the batch. */
interface ScanVisitor {
  record(record: JournalRecord): void
  /** `offset` of the batch, and the offset after it. */
  batch?(offset: number, end: number): void
}

/** Reads the batches of a segment from `offset` to the first invalid one, advancing `chain`. */
export function scanSegment(
  window: SegmentWindow,
  segmentNumber: number,
  offset: number,
  chain: NextRecord,
  visitor: ScanVisitor,
): ScanEnd {
  let at = offset
  for (;;) {
    const step = nextBatchIn(window, at, segmentNumber, chain)
    if (!('header' in step)) return { offset: at, seal: undefined, ...step }
    const { header, batch } = step
    let seal: Seal | undefined
    let sealRecords = 0
    const fault = readRecords(batch, header, chain, (record) => {
      if (record.kind === RECORD_KIND.seal) seal = decodeSeal(record.body)
      sealRecords += record.kind === RECORD_KIND.seal ? 1 : 0
      visitor.record(record)
    })
    if (fault !== undefined) {
      return { offset: at, end: 'foreign', seal: undefined, reason: `${fault.reason} at ${at + fault.offset}` }
    }
    const wrong = sealFault(header, seal, sealRecords, at, segmentNumber)
    if (wrong !== undefined) return { offset: at, end: 'foreign', seal: undefined, reason: wrong }
    chain.nextBatch += 1
    visitor.batch?.(at, at + header.bytes)
    at += header.bytes
    if (!header.seals) continue
    if (isZeroUntilEnd(window, at)) return { offset: at, end: 'sealed', seal, reason: '' }
    return { offset: at, end: 'foreign', seal: undefined, reason: 'bytes after the seal' }
  }
}

/** A seal is alone in a batch that is flagged as sealing, and describes its own segment. */
function sealFault(
  header: BatchHeader,
  seal: Seal | undefined,
  sealRecords: number,
  offset: number,
  segmentNumber: number,
): string | undefined {
  if (!header.seals) return sealRecords === 0 ? undefined : 'a seal in a batch that does not seal'
  if (header.recordCount !== 1 || seal === undefined) return 'a sealing batch without its seal'
  const own = seal.segmentNumber === segmentNumber && seal.lengthBytes === offset
  return own ? undefined : 'the seal belongs to another place'
}

type NextBatch =
  | { readonly header: BatchHeader; readonly batch: Buffer }
  | { readonly end: 'empty' | 'torn' | 'foreign'; readonly reason: string; readonly offset?: number }

function torn(reason: string): NextBatch {
  return { end: 'torn', reason }
}

function foreign(reason: string): NextBatch {
  return { end: 'foreign', reason }
}

/** A cold segment is sealed: nothing in it was being written, and what cannot be inflated was there once. */
function nextBatchIn(window: SegmentWindow, at: number, segmentNumber: number, chain: NextRecord): NextBatch {
  try {
    const step = nextBatch(window, at, segmentNumber, chain)
    return 'header' in step || !window.isCold ? step : foreign(step.reason || 'a cold segment without a seal')
  } catch (error) {
    if (error instanceof ColdSegmentDamagedError) return { offset: error.offset, ...foreign(error.reason) }
    throw error
  }
}

function nextBatch(window: SegmentWindow, at: number, segmentNumber: number, chain: NextRecord): NextBatch {
  const head = window.view(at, BATCH_HEADER.bytes)
  // No batch fits into so few bytes, even if the header is whole.
  if (window.size - at < BATCH_HEADER.bytes + BATCH_TRAILER.bytes || isZero(head)) {
    return isZeroUntilEnd(window, at) ? { end: 'empty', reason: '' } : torn('bytes after the end of the data')
  }
  const header = decodeBatchHeader(head)
  if (header === undefined) {
    return batchHeaderIsWhole(head) ? foreign('batch header of an unknown form') : torn('batch header is damaged')
  }
  // A whole header was written on purpose: only if it belongs here can the rest be missing because of a crash.
  const fault = placeFault(header, segmentNumber, chain)
  if (fault !== undefined) return foreign(fault)
  if (header.bytes > BATCH_BYTES_MAXIMUM) return foreign(`batch of ${header.bytes} bytes`)
  if (at + header.bytes > window.size) return torn('batch is cut off')
  const batch = window.view(at, header.bytes)
  return batchTrailerIsRight(batch) ? { header, batch } : torn('batch checksum is wrong')
}

/** Why a whole batch does not belong where it is. */
function placeFault(header: BatchHeader, segmentNumber: number, chain: NextRecord): string | undefined {
  if (header.batchNumber !== chain.nextBatch) return `batch ${header.batchNumber} where ${chain.nextBatch} belongs`
  if (header.firstSequence !== chain.nextSequence) return 'record is missing from the log'
  if (header.segmentNumber !== segmentNumber) return 'batch belongs to another segment'
  return undefined
}

/**
 * Whether a valid header of the segment with a number above `batchNumber` follows `offset`: proof that the batch there was
 * once durable, since the writer syncs a batch before it writes the next one (J3, J5).
 */
export function laterBatchFollows(
  window: SegmentWindow,
  offset: number,
  segmentNumber: number,
  batchNumber: number,
): boolean {
  const step = BATCH_BYTES_MAXIMUM
  for (let start = offset; start < window.size; start += step) {
    const view = window.view(start, step + BATCH_HEADER.bytes)
    for (let at = 0; at < step && at + BATCH_HEADER.bytes <= view.length; at += ALIGNMENT_BYTES) {
      if (view.readUInt32BE(at) !== BATCH_MAGIC) continue
      const header = decodeBatchHeader(view.subarray(at, at + BATCH_HEADER.bytes))
      if (header?.segmentNumber === segmentNumber && header.batchNumber > batchNumber) return true
    }
  }
  return false
}

const BATCH_MAGIC = Buffer.from(BATCH_HEADER.magic, 'ascii').readUInt32BE()

const ZEROS = Buffer.alloc(BATCH_BYTES_MAXIMUM)

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length))
}

function isZeroUntilEnd(window: SegmentWindow, offset: number): boolean {
  for (let at = offset; at < window.size; at += ZEROS.length) {
    if (!isZero(window.view(at, ZEROS.length))) return false
  }
  return true
}
