import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { FileDigest } from './verify-bundle.ts'

/**
 * Hashes a file from its beginning to its end, of which only one piece is held at a time. For pages in a browser, whose
 * own SHA-256 takes a whole file at once; the command line has a faster one.
 */
export async function digestPieces(pieces: AsyncIterable<Uint8Array>): Promise<FileDigest> {
  const hash = sha256.create()
  let size = 0
  for await (const piece of pieces) {
    hash.update(piece)
    size += piece.length
  }
  return { sha256: bytesToHex(hash.digest()), size }
}
