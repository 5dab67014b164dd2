import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, constants, fchmodSync, fstatSync, openSync, renameSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Disk } from './disk.ts'
import { StorePaths } from './store-paths.ts'

/** Another process uses this data directory. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
}

/** The data directory cannot be locked, so nobody can tell whether another process uses it. */
export class StoreLockError extends Error {
  override readonly name = 'StoreLockError'
}

export interface StoreLock {
  /** The socket of the holder. Once it is deleted another process can get the lock, so the holder must write no more. */
  readonly path: string
  /** Ends the lock, after the last write; calling again does nothing. */
  release(): Promise<void>
}

const OWNER_SOCKET = 0o600
const OWNER_DIRECTORY = 0o700
const OTHERS = 0o077
const NAME_BYTES = 8
/** A socket from its creation until it can be connected to. */
const HIDDEN = '.'
const NAME = /^[0-9a-f]{16}$/
const HIDDEN_NAME = /^\.[0-9a-f]{16}$/
const LOOK_MILLISECONDS = 10
const LOOKS_MAXIMUM = 20

/**
 * Locks a data directory for one writer (J18; spec/decisions/0034-store-lock-by-socket.md). Who wants the lock listens on
 * a Unix socket of its own in the directory `lock`, and only then looks for others: of two, the one that came later sees
 * the other. The kernel knows which sockets are listened on, in every container and namespace, and however a process ended.
 *
 * A name is used once, and it appears when its socket can be connected to. So a socket that refuses a connection is left
 * over for ever, and the winner can remove it without a race.
 * @param directory an existing data directory
 * @throws StoreLockedError when another process holds the lock; StoreLockError when there can be no lock here
 */
export async function lockStore(disk: Disk, directory: string): Promise<StoreLock> {
  const sockets = LockDirectory.open(disk, directory)
  try {
    const { path, release } = await acquire(disk, sockets, directory)
    let released: Promise<void> | undefined
    // A start that fails releases it twice, and the number of a closed descriptor may be that of another file by then.
    const once = () => (released ??= release().finally(() => sockets.close()))
    return { path, release: once }
  } catch (error) {
    sockets.close()
    throw error
  }
}

/**
 * Whether a process holds the lock of a data directory. Creates and changes nothing.
 * @throws StoreLockError when that cannot be told
 */
export async function isStoreLocked(disk: Disk, directory: string): Promise<boolean> {
  const { lock } = new StorePaths(directory)
  if (!disk.exists(lock)) return false
  const sockets = new LockDirectory(disk, lock)
  try {
    return (await sockets.look()).alive.length > 0
  } finally {
    sockets.close()
  }
}

async function acquire(disk: Disk, sockets: LockDirectory, directory: string): Promise<StoreLock> {
  const inUse = (cause?: unknown) => new StoreLockedError(`${directory} is in use by another process`, { cause })
  if ((await sockets.look()).alive.length > 0) throw inUse()
  const name = randomBytes(NAME_BYTES).toString('hex')
  const server = await listenOn(sockets.path(HIDDEN + name), directory)
  const release = async () => {
    disk.remove(sockets.path(name))
    await new Promise((done) => server.close(done))
  }
  try {
    publish(sockets, name, inUse)
    const dead = await sockets.win(name)
    if (dead === undefined) throw inUse()
    sockets.sweep(name, dead)
  } catch (error) {
    await release()
    throw error
  }
  return { path: join(new StorePaths(directory).lock, name), release }
}

/** Shows the socket to the others. Its hidden name is gone when a winner has swept the directory meanwhile. */
function publish(sockets: LockDirectory, name: string, inUse: (cause: unknown) => Error): void {
  const hidden = sockets.path(HIDDEN + name)
  try {
    chmodSync(hidden, OWNER_SOCKET)
    renameSync(hidden, sockets.path(name))
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? inUse(error) : error
  }
}

function listenOn(path: string, directory: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `${directory} cannot be locked: no Unix socket can be made in it (${error.code})`
      reject(new StoreLockError(message, { cause: error }))
    })
    server.listen(path, () => {
      server.unref()
      resolve(server)
    })
  })
}

/** The directory of the sockets. Paths go through its descriptor, because the path of a socket has at most 107 bytes. */
class LockDirectory {
  readonly #disk: Disk
  readonly #descriptor: number

  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#descriptor = openDirectory(path)
  }

  /** Makes it where it is missing, and closes it to others: who can connect or list could be in the way of a start. */
  static open(disk: Disk, directory: string): LockDirectory {
    const { lock } = new StorePaths(directory)
    disk.makeDirectory(lock)
    const opened = new LockDirectory(disk, lock)
    if ((fstatSync(opened.#descriptor).mode & OTHERS) !== 0) fchmodSync(opened.#descriptor, OWNER_DIRECTORY)
    return opened
  }

  path(name: string): string {
    return `/proc/self/fd/${this.#descriptor}/${name}`
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** Names of the sockets that can be seen: those that a process listens on, and those that were left over. */
  async look(): Promise<{ readonly alive: readonly string[]; readonly dead: readonly string[] }> {
    const names = this.#disk.list(this.path('')).filter((name) => NAME.test(name))
    const answers = await Promise.all(names.map((name) => isListenedOn(this.path(name))))
    return { alive: names.filter((_, index) => answers[index]), dead: names.filter((_, index) => !answers[index]) }
  }

  /**
   * Waits until `name`, which the others can see, is alone. Of those that see each other the first by name waits for the
   * others to give up.
   * @returns names that were left over, or undefined when another process has the lock or will have it
   */
  async win(name: string): Promise<readonly string[] | undefined> {
    for (let turn = 0; turn < LOOKS_MAXIMUM; turn += 1) {
      const { alive, dead } = await this.look()
      const others = alive.filter((other) => other !== name)
      if (others.length === 0) return dead
      if (others.some((other) => other < name)) return undefined
      await pause(LOOK_MILLISECONDS)
    }
    return undefined
  }

  /**
   * Removes what was left over. A hidden socket may be of a process that is starting: it gives up then, as it must. One
   * that can be seen may be the only sign of a process, so no other is removed than those that were dead.
   */
  sweep(winner: string, dead: readonly string[]): void {
    const hidden = this.#disk.list(this.path('')).filter((name) => HIDDEN_NAME.test(name))
    for (const name of [...hidden, ...dead]) if (name !== winner) this.#disk.removeTree(this.path(name))
  }
}

function openDirectory(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StoreLockError(`${path} cannot be opened, so the store cannot be locked (${code})`, { cause: error })
  }
}

/** What a connection to a socket that no process listens on any more ends with; a name can be gone meanwhile. */
const DEAD: readonly (string | undefined)[] = ['ECONNREFUSED', 'ENOENT']
/** Its queue is full, or the process is about to stop listening. */
const ALIVE: readonly (string | undefined)[] = ['EAGAIN', 'ECONNRESET']

/** @throws StoreLockError when the kernel does not say */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (DEAD.includes(error.code)) resolve(false)
      else if (ALIVE.includes(error.code)) resolve(true)
      else reject(new StoreLockError(`cannot tell whether the store is in use: ${error.message}`, { cause: error }))
    })
  })
}
