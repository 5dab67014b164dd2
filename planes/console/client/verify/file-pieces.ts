/** Large enough to make reads cheap, small enough that hashing a piece drops no frame. */
const PIECE_BYTES = 1024 ** 2

/**
 * The bytes of a chosen file, one piece in memory at a time.
 * @param onProgress called with the number of bytes yielded
 * @throws Error when the file changed or cannot be read any more; the reason of `signal` when that is aborted
 */
export async function* filePieces(
  file: Blob,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += PIECE_BYTES) {
    signal.throwIfAborted()
    const piece = await readable(file.slice(start, start + PIECE_BYTES))
    yield piece
    onProgress(start + piece.length)
  }
}

/** All bytes of a small file, and of a large one the first `maximum`. @throws Error when it cannot be read */
export function firstBytes(file: Blob, maximum: number): Promise<Uint8Array> {
  return readable(file.slice(0, maximum))
}

async function readable(part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer())
  } catch (error) {
    throw new Error('The file cannot be read: it was changed, moved or is a folder. Choose it again.', { cause: error })
  }
}
