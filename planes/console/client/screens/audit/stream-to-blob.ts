import { unreachable } from '../../api/api-error.ts'

/** Size of the blobs that are joined: browsers keep large blobs on disk instead of in memory. */
const PIECE_BYTES = 8 * 1024 ** 2

/**
 * The body of an answer as a blob, with at most one piece in the page's memory.
 * @throws ApiError when it ends early
 */
export async function blobOf(response: Response, onProgress: (bytes: number) => void): Promise<Blob> {
  const reader = response.body?.getReader()
  const whole: Blob[] = []
  let piece: Uint8Array<ArrayBuffer>[] = []
  let pieceBytes = 0
  let bytes = 0
  for (;;) {
    const next = await reader?.read().catch(() => {
      throw unreachable()
    })
    if (next === undefined || next.done) break
    piece.push(next.value)
    pieceBytes += next.value.length
    bytes += next.value.length
    if (pieceBytes >= PIECE_BYTES) {
      whole.push(new Blob(piece))
      piece = []
      pieceBytes = 0
    }
    onProgress(bytes)
  }
  return new Blob([...whole, ...piece], { type: 'application/octet-stream' })
}
