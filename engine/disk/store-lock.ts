import { createServer } from 'node:net'
import type { Disk } from './disk.ts'

/** Another process uses this data directory. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
}

export interface StoreLock {
  release(): Promise<void>
}

/**
 * Locks a data directory for one writer (J18). The lock is an abstract Unix socket named after the directory's device and
 * inode: the kernel gives it to one process at a time and frees it however that process ends, so there are no stale
 * locks. It holds within one network namespace; two containers must not share a data directory.
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
