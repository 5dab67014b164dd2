import {
  BATCH_HEADER_BYTES,
  BATCH_TRAILER_BYTES,
  type BatchHeader,
  batchBytes,
  isZero,
  readBatchHeader,
  trailerFault,
} from './format-reader.ts'
import type { SegmentWindow } from './segment-window.ts'
import type { Verdict } from './verdicts.ts'

/** The fields that the next batch must state. Undefined where damage left nothing to compare with. */
interface ExpectedBatch {
  readonly segmentNumber: number | undefined
  readonly batchNumber: number | undefined
  readonly sequence: number
}

/** A batch that is whole and of this segment, but not the next one. */
interface Jump {
  readonly verdict: Verdict
  readonly detail: string
}

/**
 * Finding at the place of a batch.
 * - `batch`: a whole batch of this segment; with a `jump` when numbers are missing before it.
 * - `end`: 64 zero bytes, or too few bytes for a batch.
 * - `torn`: something an interrupted write can leave.
 * - `damaged`: something no interrupted write leaves.
 *
 * `header` is set when the header itself is correct, `inside` says whether its batch ends inside the file, and
 * `foreign` marks a batch that does not continue this segment at all.
 */
export type Finding =
  | { readonly state: 'batch'; readonly header: BatchHeader; readonly jump?: Jump }
  | { readonly state: 'end' }
  | {
      readonly state: 'torn' | 'damaged'
      readonly fault: string
      readonly header?: BatchHeader
      readonly inside: boolean
      readonly foreign: boolean
      readonly jump?: Jump
    }

/** Examines the bytes at `offset` by the rules of a valid batch and of torn batches, except rule 4. */
export function examineBatch(window: SegmentWindow, offset: number, expected: ExpectedBatch): Finding {
  if (window.size - offset < BATCH_HEADER_BYTES + BATCH_TRAILER_BYTES) return { state: 'end' }
  if (!window.ensure(offset, BATCH_HEADER_BYTES)) return { state: 'end' }
  const position = offset - window.base
  if (isZero(window.bytes, position, position + BATCH_HEADER_BYTES)) return { state: 'end' }
  const header = readBatchHeader(window.bytes, position)
  if ('fault' in header) {
    return { state: header.torn ? 'torn' : 'damaged', fault: header.fault, inside: false, foreign: false }
  }
  const inside = window.ensure(offset, batchBytes(header))
  const foreign = foreignFault(header, expected)
  if (foreign !== undefined) return { state: 'damaged', fault: foreign, header, inside, foreign: true }
  const fault = inside
    ? trailerFault(window.bytes, offset - window.base, header)
    : 'the batch reaches beyond the end of the file'
  const jump = jumpBefore(header, expected)
  const jumped = jump === undefined ? {} : { jump }
  if (fault === undefined) return { state: 'batch', header, ...jumped }
  // A batch is written when the one before it is durable: after a jump this is more than an interrupted write.
  return { state: jump === undefined ? 'torn' : 'damaged', fault, header, inside, foreign: false, ...jumped }
}

/** The fault of a finding, in words. */
export function faultOf(finding: Finding): string {
  if (finding.state === 'end') return 'bytes behind the end of the data are not zero'
  return finding.state === 'batch' ? 'the batch is not the next one' : finding.fault
}

function foreignFault(header: BatchHeader, expected: ExpectedBatch): string | undefined {
  if (expected.segmentNumber !== undefined && header.segmentNumber !== expected.segmentNumber) {
    return `the batch belongs to segment ${header.segmentNumber} and stands in segment ${expected.segmentNumber}`
  }
  if (expected.batchNumber !== undefined && header.batchNumber < expected.batchNumber) {
    return `batch ${header.batchNumber} stands where batch ${expected.batchNumber} was expected`
  }
  return undefined
}

function jumpBefore(header: BatchHeader, expected: ExpectedBatch): Jump | undefined {
  const verdict = 'record is missing from the log'
  if (header.firstSequence > expected.sequence) {
    const missing = `sequences ${expected.sequence} to ${header.firstSequence - 1}`
    return { verdict, detail: `${missing} are missing before sequence ${header.firstSequence}` }
  }
  if (header.firstSequence < expected.sequence) {
    return {
      verdict,
      detail: `the batch begins with sequence ${header.firstSequence}; expected was ${expected.sequence}`,
    }
  }
  if (expected.batchNumber !== undefined && header.batchNumber !== expected.batchNumber) {
    const detail = `batch ${header.batchNumber} stands where batch ${expected.batchNumber} was expected`
    return { verdict: 'damaged batch', detail }
  }
  return undefined
}
