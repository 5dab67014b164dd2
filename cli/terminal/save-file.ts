import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { nodeDisk } from '../../engine/disk/node-disk.ts'

/** Writes a file that replaces an existing one only when it is complete. */
export function saveFile(path: string, bytes: Uint8Array): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = nodeDisk.create(draft)
  try {
    file.writeAt(bytes, 0)
    file.sync()
    file.close()
    nodeDisk.rename(draft, path)
  } catch (error) {
    file.close()
    nodeDisk.remove(draft)
    throw error
  }
  nodeDisk.syncDirectory(dirname(path))
}
