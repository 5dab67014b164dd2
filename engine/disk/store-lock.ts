import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Disk } from './disk.ts'
import { SocketDirectory } from './socket-directory.ts'
import { StorePaths } from './store-paths.ts'

/** Another process uses this data directory. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
}

export interface StoreLock {
  /** The socket of the holder. Once it is deleted another process can get the lock, so the holder must write no more. */
  readonly path: string
  /** Ends the lock, after the last write; calling again does nothing. */
  release(): Promise<void>
}

const LOOK_MILLISECONDS = 10
const LOOKS_MAXIMUM = 20

/**
 * Locks a data directory for one writer (J18; spec/decisions/0008-store-lock.md). A process listens on its
 * own Unix socket in the directory `lock`, and only then looks for others: of two processes, the later sees the
 * earlier. The winner removes sockets of ended processes without a race.
 * @param directory an existing data directory
 * @throws StoreLockedError when another process holds the lock; StoreLockError when there can be no lock here
 */
export async function lockStore(disk: Disk, directory: string): Promise<StoreLock> {
  const sockets = SocketDirectory.open(disk, new StorePaths(directory).lock)
  try {
    const { path, release } = await acquire(sockets, directory)
    let released: Promise<void> | undefined
    // A start that fails releases it twice, and by then the number of a closed descriptor may belong to another file.
    const once = () => (released ??= release().finally(() => sockets.close()))
    return { path, release: once }
  } catch (error) {
    sockets.close()
    throw error
  }
}

/**
 * Whether a process holds the lock of a data directory. Creates and changes nothing.
 * @throws StoreLockError when that cannot be determined
 */
export async function isStoreLocked(disk: Disk, directory: string): Promise<boolean> {
  const { lock } = new StorePaths(directory)
  if (!disk.exists(lock)) return false
  const sockets = new SocketDirectory(disk, lock)
  try {
    return (await sockets.look()).alive.length > 0
  } finally {
    sockets.close()
  }
}

async function acquire(sockets: SocketDirectory, directory: string): Promise<StoreLock> {
  const inUse = () => new StoreLockedError(`${directory} is in use by another process`)
  if ((await sockets.look()).alive.length > 0) throw inUse()
  const own = await sockets.listen()
  if (own === undefined) throw inUse()
  try {
    const dead = await win(sockets, own.name)
    if (dead === undefined) throw inUse()
    sockets.sweep(own.name, dead)
  } catch (error) {
    await own.close()
    throw error
  }
  return { path: join(new StorePaths(directory).lock, own.name), release: () => own.close() }
}

/**
 * Waits until the visible socket `name` is alone. Of several, the first by name waits for the others to give up.
 * @returns names that were left over, or undefined when another process has the lock or will have it
 */
async function win(sockets: SocketDirectory, name: string): Promise<readonly string[] | undefined> {
  for (let turn = 0; turn < LOOKS_MAXIMUM; turn += 1) {
    const { alive, dead } = await sockets.look()
    const others = alive.filter((other) => other !== name)
    if (others.length === 0) return dead
    if (others.some((other) => other < name)) return undefined
    await pause(LOOK_MILLISECONDS)
  }
  return undefined
}
