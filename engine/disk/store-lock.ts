import { createServer } from 'node:net'
import type { Disk } from './disk.ts'

/** Another process has this data directory open. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
}

export interface StoreLock {
  release(): Promise<void>
}

/**
 * Takes the one right to write in a data directory (J18). The lock is an abstract Unix socket named after the
 * directory's device and inode: the kernel gives it to one process at a time and takes it back when that process ends
 * in whatever way, so there is no stale lock to judge. It holds within one network namespace; two containers must not
 * share a data directory.
 * @throws StoreLockedError at once when another process holds it
 */
export function lockStore(disk: Disk, directory: string): Promise<StoreLock> {
  const server = createServer((socket) => socket.destroy())
  const name = `\0object-store-${disk.identity(directory)}`
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new StoreLockedError(`${directory} is in use by another process`, { cause: error })
          : error,
      )
    })
    server.listen(name, () => {
      server.unref()
      resolve({ release: () => new Promise((done) => server.close(() => done())) })
    })
  })
}
