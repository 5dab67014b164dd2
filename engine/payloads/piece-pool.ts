import { BLOCK_BYTES } from './file-format.ts'

/** One read or write of a large payload: whole blocks, so that they are proved where they lie. */
export const PIECE_BLOCKS = 8
export const PIECE_BYTES = PIECE_BLOCKS * BLOCK_BYTES

const FREE_PIECES_MAXIMUM = 32

const freePieces: Buffer[] = []

/**
 * A buffer of `PIECE_BYTES` with anything in it. Pieces are used again: the garbage collector frees such memory late,
 * and a few uploads and downloads would otherwise hold hundreds of MiB that nobody needs.
 */
export function takePiece(): Buffer {
  return freePieces.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
}

/** The caller must not touch it any more. */
export function givePieceBack(piece: Buffer): void {
  if (freePieces.length < FREE_PIECES_MAXIMUM) freePieces.push(piece)
}
