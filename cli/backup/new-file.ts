import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'

/**
 * Writes pieces to a file that appears under its name whole and synced, or not at all: a file that has the name is replaced.
 * @param making name of the file until then
 * @param accept called with the SHA-256 of all bytes before the file gets its name; throws to refuse them
 * @throws the errors of the disk, of the pieces and of `accept`; nothing is left then
 */
export async function writeNewFile(
  disk: Disk,
  path: string,
  making: string,
  pieces: AsyncIterable<Buffer>,
  accept: (sha256: Buffer) => void,
): Promise<number> {
  await disk.removeAsync(making)
  const file = await disk.createAsync(making)
  try {
    const hash = createHash('sha256')
    let position = 0
    for await (const piece of pieces) {
      hash.update(piece)
      await file.writeAtAsync(piece, position)
      position += piece.length
    }
    accept(hash.digest())
    await file.syncAsync()
    await file.closeAsync()
    await disk.renameAsync(making, path)
    await disk.syncDirectoryAsync(dirname(path))
    return position
  } catch (error) {
    await file.closeAsync().catch(() => undefined)
    await disk.removeAsync(making).catch(() => undefined)
    throw error
  }
}
