/** Reads files piece by piece, with little memory. */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { BUNDLE_BYTES_MAXIMUM, type FileDigest } from '../../engine/proof/verify-bundle.ts'
import { ExitError } from '../exit-codes.ts'

const PIECE_BYTES = 1024 ** 2

/** @throws ExitError `notFound`, `denied`, `failed` */
async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    return await work(file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const exit = error.code === 'ENOENT' ? 'notFound' : error.code === 'EACCES' ? 'denied' : 'failed'
    throw new ExitError(exit, `${path} cannot be read: ${error.message}`, { cause: error })
  } finally {
    await file?.close()
  }
}

/**
 * Hashes a file.
 * @param onProgress called with the bytes hashed and the size of the file at the start
 * @throws ExitError as above
 */
export function digestFile(path: string, onProgress: (bytes: number, size: number) => void): Promise<FileDigest> {
  return withFile(path, async (file) => {
    const { size: expected } = await file.stat()
    const hash = createHash('sha256')
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    let size = 0
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, null)
      if (bytesRead === 0) return { sha256: hash.digest('hex'), size }
      hash.update(piece.subarray(0, bytesRead))
      size += bytesRead
      onProgress(size, expected)
    }
  })
}

/** The bytes of a bundle; of a bundle that is too large, one byte more than allowed. @throws ExitError as above */
export function readBundle(path: string): Promise<Uint8Array> {
  return readSmallFile(path, BUNDLE_BYTES_MAXIMUM)
}

/** The bytes of a file; of a file that is too large, one byte more than allowed. @throws ExitError as above */
export function readSmallFile(path: string, bytesMaximum: number): Promise<Uint8Array> {
  return withFile(path, async (file) => {
    const pieces: Buffer[] = []
    for (let left = bytesMaximum + 1; left > 0; ) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES))
      const { bytesRead } = await file.read(piece, 0, piece.length, null)
      if (bytesRead === 0) break
      pieces.push(piece.subarray(0, bytesRead))
      left -= bytesRead
    }
    return Buffer.concat(pieces)
  })
}
