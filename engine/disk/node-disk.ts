import * as fs from 'node:fs'
import { dirname } from 'node:path'
import {
  DescriptorsExhaustedError,
  type Disk,
  type DiskFile,
  DiskFullError,
  type DiskSpace,
  ShortWriteError,
} from './disk.ts'

const OWNER_ONLY = 0o600
const OWNER_DIRECTORY = 0o700
const READ_ONLY = 0o444

/** Turns the system's errors for a full disk and for too many open files into our own; returns all others as they are. */
function translated(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new DiskFullError((error as Error).message, { cause: error })
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new DescriptorsExhaustedError((error as Error).message, { cause: error })
  }
  return error
}

/** The same for a read of a file, and says of which: the system does not. */
function ofRead(error: unknown, path: string, position: number): unknown {
  if (error instanceof Error && 'syscall' in error) error.message += ` ${path}, offset ${position}`
  return translated(error)
}

function callbackResult<T>(start: (done: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error) reject(translated(error))
      else resolve(value as T)
    })
  })
}

class NodeDiskFile implements DiskFile {
  readonly path: string
  readonly #number: number
  #closed = false

  constructor(path: string, descriptor: number) {
    this.path = path
    this.#number = descriptor
  }

  /** After closing, the number may belong to another file, which a write would damage. */
  get #descriptor(): number {
    if (this.#closed) throw new Error(`${this.path} is closed`)
    return this.#number
  }

  writeAt(bytes: Uint8Array, position: number): void {
    let written: number
    try {
      written = fs.writeSync(this.#descriptor, bytes, 0, bytes.length, position)
    } catch (error) {
      throw translated(error)
    }
    if (written !== bytes.length) throw this.#short(written, bytes.length)
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    let read = 0
    while (read < length) {
      const count = this.#read(target, read, length - read, position + read)
      if (count === 0) break
      read += count
    }
    return read
  }

  #read(target: Uint8Array, at: number, length: number, position: number): number {
    try {
      return fs.readSync(this.#descriptor, target, at, length, position)
    } catch (error) {
      throw ofRead(error, this.path, position)
    }
  }

  sync(): void {
    fs.fdatasyncSync(this.#descriptor)
  }

  size(): number {
    return fs.fstatSync(this.#descriptor).size
  }

  truncate(length: number): void {
    fs.ftruncateSync(this.#descriptor, length)
  }

  seal(): void {
    fs.fchmodSync(this.#descriptor, READ_ONLY)
    fs.fsyncSync(this.#descriptor)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    fs.closeSync(this.#number)
  }

  async writeAtAsync(bytes: Uint8Array, position: number): Promise<void> {
    const written = await callbackResult<number>((done) => {
      fs.write(this.#descriptor, bytes, 0, bytes.length, position, done)
    })
    if (written !== bytes.length) throw this.#short(written, bytes.length)
  }

  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    let read = 0
    while (read < length) {
      const from = read
      const count = await callbackResult<number>((done) => {
        fs.read(this.#descriptor, target, from, length - from, position + from, done)
      }).catch((error: unknown) => {
        throw ofRead(error, this.path, position + from)
      })
      if (count === 0) break
      read += count
    }
    return read
  }

  async syncAsync(): Promise<void> {
    await callbackResult<void>((done) => fs.fdatasync(this.#descriptor, done))
  }

  closeAsync(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#closed = true
    return callbackResult<void>((done) => fs.close(this.#number, done))
  }

  /** The disk was full or a size limit was reached: the next byte would have failed (J10). */
  #short(written: number, asked: number): Error {
    return new ShortWriteError(`${this.path}: wrote ${written} of ${asked} bytes`)
  }
}

function open(path: string, flags: string): DiskFile {
  try {
    return new NodeDiskFile(path, fs.openSync(path, flags, OWNER_ONLY))
  } catch (error) {
    throw translated(error)
  }
}

async function openAsync(path: string, flags: string): Promise<DiskFile> {
  const descriptor = await callbackResult<number>((done) => fs.open(path, flags, OWNER_ONLY, done))
  return new NodeDiskFile(path, descriptor)
}

function syncDirectory(path: string): void {
  const descriptor = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Opening and closing a directory wait for no disk: asking another thread to do it takes longer. */
async function syncDirectoryAsync(path: string): Promise<void> {
  const descriptor = fs.openSync(path, 'r')
  try {
    await callbackResult<void>((done) => fs.fsync(descriptor, done))
  } finally {
    fs.closeSync(descriptor)
  }
}

function makeDirectory(path: string): void {
  if (fs.existsSync(path)) return
  const parent = dirname(path)
  makeDirectory(parent)
  try {
    fs.mkdirSync(path, { mode: OWNER_DIRECTORY })
  } catch (error) {
    // Another thread was faster; it may not have synced the name yet, so this one does too.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  syncDirectory(parent)
}

/** Of a file that is not there, nothing is to be removed. */
function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function remove(path: string): void {
  try {
    fs.unlinkSync(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function removeAsync(path: string): Promise<void> {
  try {
    await callbackResult<void>((done) => fs.unlink(path, done))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

function space(path: string): DiskSpace {
  const facts = fs.statfsSync(path)
  return { capacityBytes: facts.blocks * facts.bsize, availableBytes: facts.bavail * facts.bsize }
}

/** The file system of this machine. */
export const nodeDisk: Disk = {
  create: (path) => open(path, 'wx+'),
  openToWrite: (path) => open(path, 'r+'),
  openToRead: (path) => open(path, 'r'),
  createAsync: (path) => openAsync(path, 'wx+'),
  openToReadAsync: (path) => openAsync(path, 'r'),
  makeDirectory,
  syncDirectory,
  syncDirectoryAsync,
  rename: (from, to) => fs.renameSync(from, to),
  renameAsync: (from, to) => callbackResult<void>((done) => fs.rename(from, to, done)),
  remove,
  removeAsync,
  removeTree: (path) => fs.rmSync(path, { recursive: true, force: true }),
  exists: (path) => fs.existsSync(path),
  list: (path) => (fs.existsSync(path) ? fs.readdirSync(path).sort() : []),
  sizeOf: (path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  space,
}
