import { chmodSync, closeSync, constants, fchmodSync, fstatSync, openSync, renameSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { connect, createServer, type Server } from 'node:net'
import { dirname } from 'node:path'
import type { Disk } from './disk.ts'
import { giveToOwnerOf } from './owner.ts'

/** The data directory cannot be locked or held, so another process that uses it would go unnoticed. */
export class StoreLockError extends Error {
  override readonly name = 'StoreLockError'
}

/** A socket of this process that the others can see. */
interface OwnSocket {
  readonly name: string
  /** Ends it; calling again does nothing. */
  close(): Promise<void>
}

const OWNER_SOCKET = 0o600
const OWNER_DIRECTORY = 0o700
const OTHERS = 0o077
const NAME_BYTES = 8
/** A socket from its creation until it can be connected to. */
const HIDDEN = '.'
const NAME = /^[0-9a-f]{16}$/
const HIDDEN_NAME = /^\.[0-9a-f]{16}$/

/**
 * A directory of Unix sockets, each of which shows that a process is alive
 * (spec/decisions/0008-store-lock.md). The kernel knows which are listened on, in every container and
 * namespace, and however a process ended. A name is used once, and appears when its socket can be connected to: a
 * socket that refuses a connection stays dead.
 *
 * Paths go through the descriptor of the directory, because the path of a socket has at most 107 bytes.
 */
export class SocketDirectory {
  readonly #disk: Disk
  readonly #path: string
  readonly #descriptor: number

  /** @throws StoreLockError when it cannot be opened */
  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.#path = path
    this.#descriptor = openDirectory(path)
  }

  /** Creates it if it is missing, and closes it to other users: connecting or listing could disturb a start. */
  static open(disk: Disk, path: string): SocketDirectory {
    disk.makeDirectory(path)
    const opened = new SocketDirectory(disk, path)
    giveToOwnerOf(dirname(path), path)
    if ((fstatSync(opened.#descriptor).mode & OTHERS) !== 0) fchmodSync(opened.#descriptor, OWNER_DIRECTORY)
    return opened
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /**
   * Listens on a new socket and shows it to the others.
   * @returns undefined when its hidden name is gone: another process has swept the directory meanwhile
   * @throws StoreLockError when there can be no socket here
   */
  async listen(): Promise<OwnSocket | undefined> {
    const name = randomBytes(NAME_BYTES).toString('hex')
    const server = await listenOn(this.#at(HIDDEN + name), this.#path)
    const close = async () => {
      this.#removeName(name)
      await new Promise((done) => server.close(done))
    }
    try {
      chmodSync(this.#at(HIDDEN + name), OWNER_SOCKET)
      giveToOwnerOf(this.#path, this.#at(HIDDEN + name))
      renameSync(this.#at(HIDDEN + name), this.#at(name))
      return { name, close }
    } catch (error) {
      await close()
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Names of the visible sockets: `alive` if a process listens, `dead` if left over. */
  async look(): Promise<{ readonly alive: readonly string[]; readonly dead: readonly string[] }> {
    const names = socketNames(this.#disk, this.#at(''))
    const answers = await Promise.all(names.map((name) => isListenedOn(this.#at(name))))
    return { alive: names.filter((_, index) => answers[index]), dead: names.filter((_, index) => !answers[index]) }
  }

  /**
   * Removes sockets that were left over. A hidden socket may belong to a process that is starting; that start fails, as
   * it must. A visible socket may be the only sign of a process, so only `dead` ones are removed.
   */
  sweep(own: string, dead: readonly string[]): void {
    const hidden = this.#disk.list(this.#at('')).filter((name) => HIDDEN_NAME.test(name))
    for (const name of [...hidden, ...dead]) if (name !== own) this.#disk.removeTree(this.#at(name))
  }

  /** Removes sockets that were dead. */
  removeDead(dead: readonly string[]): void {
    for (const name of dead) this.#disk.remove(this.#at(name))
  }

  /**
   * On a disk that takes no writes the name stays. Once its socket is closed it is a name of an ended process, and the next start
   * removes it.
   */
  #removeName(name: string): void {
    try {
      this.#disk.remove(this.#at(name))
    } catch {
      // What is wrong with the disk has been reported, or the next write finds it.
    }
  }

  #at(name: string): string {
    return `/proc/self/fd/${this.#descriptor}/${name}`
  }
}

/** Names of the sockets in a directory that can be seen, alive or left over; empty when it does not exist. */
export function socketNames(disk: Disk, path: string): string[] {
  return disk.list(path).filter((name) => NAME.test(name))
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

function openDirectory(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StoreLockError(`${path} cannot be opened, so the store cannot be locked (${code})`, { cause: error })
  }
}

/** Errors of a connection to a socket without a listener; a name may be gone meanwhile. */
const DEAD: readonly (string | undefined)[] = ['ECONNREFUSED', 'ENOENT']
/** Its queue is full, or the process is about to stop listening. */
const ALIVE: readonly (string | undefined)[] = ['EAGAIN', 'ECONNRESET']

/** @throws StoreLockError when the answer is unclear */
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
