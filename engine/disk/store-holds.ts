import type { Disk } from './disk.ts'
import { SocketDirectory, StoreLockError, socketNames } from './socket-directory.ts'
import type { StorePaths } from './store-paths.ts'

/**
 * Holds on a store (spec/decisions/0107-backup-and-restore.md). While a process holds the store,
 * unreferenced payload files are not removed. A hold is a socket on which the holder listens, so it ends with the
 * process, however that ends. The socket answers nothing: before a file is removed, and after its removal is durable in
 * the journal, the store looks for sockets. So a holder whose socket is visible keeps every file that the journal
 * refers to from then on.
 */
interface StoreHold {
  /** Ends the hold; calling again does nothing. */
  release(): Promise<void>
}

const TRIES = 5

/**
 * Holds the store until `release` or the end of the process.
 * @throws StoreLockError when there can be no hold here
 */
export async function holdStore(disk: Disk, paths: StorePaths): Promise<StoreHold> {
  const sockets = SocketDirectory.open(disk, paths.holds)
  try {
    for (let turn = 0; turn < TRIES; turn += 1) {
      const own = await sockets.listen()
      if (own === undefined) continue
      let released: Promise<void> | undefined
      return { release: () => (released ??= own.close().finally(() => sockets.close())) }
    }
    throw new StoreLockError(`${paths.holds}: another process removes the sockets in it`)
  } catch (error) {
    sockets.close()
    throw error
  }
}

/** Whether a process may hold the store: cheap, and true also for sockets that a killed process left over. */
export function mayBeHeld(disk: Disk, paths: StorePaths): boolean {
  return socketNames(disk, paths.holds).length > 0
}

/** Whether a process holds the store. Removes sockets that were left over. */
export async function isHeld(disk: Disk, paths: StorePaths): Promise<boolean> {
  if (!mayBeHeld(disk, paths)) return false
  const sockets = new SocketDirectory(disk, paths.holds)
  try {
    const { alive, dead } = await sockets.look()
    sockets.removeDead(dead)
    return alive.length > 0
  } finally {
    sockets.close()
  }
}
