import { join } from 'node:path'
import type { Disk } from './disk.ts'

const PROBE_BYTES = 4096
const NAME = /^probe-\d+$/

/**
 * Whether a directory takes writes: a small file is made, written, synced, read back and removed. Attributes do not say that: a
 * file system that turned read-only, and a full one, keep theirs.
 * @throws the errors of the disk; Error when it gives back other bytes
 */
export function probeDisk(disk: Disk, directory: string): void {
  // Of a process that was killed at it.
  for (const name of disk.list(directory)) if (NAME.test(name)) disk.remove(join(directory, name))
  const path = join(directory, `probe-${process.pid}`)
  const written = Buffer.alloc(PROBE_BYTES, path)
  const file = disk.create(path)
  try {
    file.writeAt(written, 0)
    file.sync()
    const read = Buffer.alloc(PROBE_BYTES)
    if (file.readAt(read, 0, PROBE_BYTES) !== PROBE_BYTES || !read.equals(written)) {
      throw new Error(`${path}: other bytes are read than were written`)
    }
  } finally {
    file.close()
    disk.remove(path)
  }
  disk.syncDirectory(directory)
}
