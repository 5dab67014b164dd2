/** Searches after the place where a segment can no longer be read batch by batch. */
import { ALIGNMENT_BYTES, BATCH_HEADER_BYTES, BATCH_MAGIC, type BatchHeader, readBatchHeader } from './format-reader.ts'
import type { SegmentWindow } from './segment-window.ts'

/**
 * Offset of the first valid header at or after `offset` that continues the segment, or undefined.
 * @param offset a multiple of 8, as are all places where batches can be
 * @param segmentNumber that the header must state; undefined accepts any
 */
export function findBatchHeader(
  window: SegmentWindow,
  offset: number,
  segmentNumber: number | undefined,
  batchNumberMinimum = 0,
): number | undefined {
  return window.scan(offset, BATCH_HEADER_BYTES, (piece, pieceOffset) => {
    const found = batchHeaderIn(piece, 0, segmentNumber, batchNumberMinimum)
    return found === undefined ? undefined : pieceOffset + found
  })
}

/** The same in a piece of a segment that starts at a multiple of 8, from an offset in the piece on. */
export function batchHeaderIn(
  piece: Buffer,
  from: number,
  segmentNumber: number | undefined,
  batchNumberMinimum = 0,
): number | undefined {
  const continues = (header: BatchHeader): boolean =>
    (segmentNumber === undefined || header.segmentNumber === segmentNumber) && header.batchNumber >= batchNumberMinimum
  let position = piece.indexOf(BATCH_MAGIC, from)
  while (position !== -1 && position + BATCH_HEADER_BYTES <= piece.length) {
    if (position % ALIGNMENT_BYTES === 0) {
      const header = readBatchHeader(piece, position)
      if (!('fault' in header) && continues(header)) return position
    }
    position = piece.indexOf(BATCH_MAGIC, position + 1)
  }
  return undefined
}

/** Offset of the first byte at or after `offset` that is not zero, or undefined. */
export function findNonZero(window: SegmentWindow, offset: number): number | undefined {
  let zeros = Buffer.alloc(0)
  return window.scan(offset, 0, (piece, pieceOffset) => {
    if (zeros.length < piece.length) zeros = Buffer.alloc(piece.length)
    if (piece.equals(zeros.subarray(0, piece.length))) return undefined
    return pieceOffset + piece.findIndex((byte) => byte !== 0)
  })
}

/** Offset after the last byte from `offset` on that is not zero; `offset` itself when all are zero. */
export function endOfNonZero(window: SegmentWindow, offset: number): number {
  let end = offset
  window.scan(offset, 0, (piece, pieceOffset) => {
    const last = piece.findLastIndex((byte) => byte !== 0)
    if (last !== -1) end = pieceOffset + last + 1
    return undefined
  })
  return end
}
