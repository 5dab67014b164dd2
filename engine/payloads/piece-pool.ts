import { BLOCK_BYTES } from './file-format.ts'

/** Blocks of one read or write of a large payload. */
export const PIECE_BLOCKS = 8
export const PIECE_BYTES = PIECE_BLOCKS * BLOCK_BYTES

const FREE_PIECES_MAXIMUM = 32

const freePieces: Buffer[] = []

/**
 * A buffer of `PIECE_BYTES` with arbitrary contents. Pieces are reused: the garbage collector frees such memory late, and
 * a few uploads and downloads would otherwise hold hundreds of MiB.
 */
export function takePiece(): Buffer {
  return freePieces.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
}

/** The caller must not use it any more. */
export function releasePiece(piece: Buffer): void {
  if (freePieces.length < FREE_PIECES_MAXIMUM) freePieces.push(piece)
}
