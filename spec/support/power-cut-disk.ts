import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { Random } from './random.ts'
import { roomyDisk } from './test-store.ts'

const SECTOR_BYTES = 512

/** The power is gone: nothing more reaches the disk. */
export class PowerCutError extends Error {
  override readonly name = 'PowerCutError'
}

/** A sync of a file, or of the names in a directory. */
export interface SyncCall {
  readonly kind: 'file' | 'directory'
  readonly path: string
}

/** A file and what the medium holds of it. */
interface Medium {
  path: string
  /** Reaches the file under whatever name, or none. */
  readonly descriptor: number
  /** Content at the last sync; undefined when what is read is what is there. */
  durable: Buffer | undefined
}

/** A name that was made, changed or removed and is not durable yet, with the way back. */
interface NameChange {
  readonly directory: string
  readonly undo: () => void
}

/**
 * A disk with a power switch. What was written and not synced is lost when it is used, or a part of it: any of the
 * 512-byte sectors may have reached the medium, and names are lost in the reverse order of their changes. What was
 * synced stays. Files on it should be small: it copies the whole of one at its first write after a sync.
 */
export class PowerCutDisk implements Disk {
  /** Syncs that this disk only pretends to do; for showing that a spec would notice. */
  lies: (call: SyncCall) => boolean = () => false
  /** Operations until the power goes. */
  left = Number.POSITIVE_INFINITY
  readonly #attic: string
  /** By inode. */
  readonly #files = new Map<number, Medium>()
  #names: NameChange[] = []
  #kept = 0

  /** `attic` is a directory on the same file system, for files that may have to come back. */
  constructor(attic: string) {
    this.#attic = attic
    fs.rmSync(attic, { recursive: true, force: true })
    fs.mkdirSync(attic, { recursive: true })
  }

  readonly exists = roomyDisk.exists
  readonly list = roomyDisk.list
  readonly sizeOf = roomyDisk.sizeOf
  readonly space = roomyDisk.space
  readonly identity = roomyDisk.identity
  readonly openToRead = roomyDisk.openToRead
  readonly openToReadLater = roomyDisk.openToReadLater

  get isOn(): boolean {
    return this.left > 0
  }

  /** Counts an operation, and fails it when the power is gone. */
  use(): void {
    this.left -= 1
    if (!this.isOn) throw new PowerCutError('the power is gone')
  }

  /** Leaves on the file system what a power cut leaves. The disk is of no use after it. */
  cut(random: Random): void {
    this.left = 0
    for (const { descriptor, durable } of this.#files.values()) {
      if (durable !== undefined) replace(descriptor, mixed(contentOf(descriptor), durable, random))
      fs.closeSync(descriptor)
    }
    const survivors = random.below(this.#names.length + 1)
    for (const { undo } of this.#names.slice(survivors).toReversed()) undo()
  }

  /** Remembers what is durable of a file before it is changed. */
  change(file: Medium): void {
    this.use()
    file.durable ??= contentOf(file.descriptor)
  }

  sync(file: Medium): void {
    this.use()
    if (!this.lies({ kind: 'file', path: file.path })) file.durable = undefined
  }

  create(path: string): DiskFile {
    this.use()
    const file = roomyDisk.create(path)
    this.#names.push({ directory: dirname(path), undo: () => fs.rmSync(path, { force: true }) })
    return new PowerCutFile(this, file, this.#medium(path))
  }

  openToWrite(path: string): DiskFile {
    this.use()
    return new PowerCutFile(this, roomyDisk.openToWrite(path), this.#medium(path))
  }

  async createLater(path: string): Promise<DiskFile> {
    return this.create(path)
  }

  /** Durable at once: it syncs the parent itself. */
  makeDirectory(path: string): void {
    this.use()
    roomyDisk.makeDirectory(path)
  }

  syncDirectory(path: string): void {
    this.use()
    if (this.lies({ kind: 'directory', path })) return
    this.#names = this.#names.filter(({ directory }) => directory !== path)
  }

  async syncDirectoryLater(path: string): Promise<void> {
    this.syncDirectory(path)
  }

  rename(from: string, to: string): void {
    this.use()
    const replaced = fs.existsSync(to) ? this.#keep(to) : undefined
    fs.renameSync(from, to)
    for (const file of this.#files.values()) if (file.path === from) file.path = to
    const undo = () => {
      if (fs.existsSync(to)) fs.renameSync(to, from)
      if (replaced !== undefined) fs.renameSync(replaced, to)
    }
    this.#names.push({ directory: dirname(to), undo })
  }

  async renameLater(from: string, to: string): Promise<void> {
    this.rename(from, to)
  }

  /** Without power it does nothing and says nothing, so that a store can be closed. */
  remove(path: string): void {
    if (this.left > 0) this.left -= 1
    if (!this.isOn || !fs.existsSync(path)) return
    const kept = this.#keep(path)
    fs.rmSync(path)
    this.#names.push({ directory: dirname(path), undo: () => fs.renameSync(kept, path) })
  }

  async removeLater(path: string): Promise<void> {
    this.remove(path)
  }

  removeTree(path: string): void {
    this.use()
    roomyDisk.removeTree(path)
  }

  /** Keeps a file under another name, and returns that name. */
  #keep(path: string): string {
    this.#kept += 1
    const kept = join(this.#attic, String(this.#kept))
    fs.linkSync(path, kept)
    return kept
  }

  #medium(path: string): Medium {
    const { ino } = fs.statSync(path)
    const known = this.#files.get(ino)
    if (known !== undefined) return known
    const file = { path, descriptor: fs.openSync(path, 'r+'), durable: undefined }
    this.#files.set(ino, file)
    return file
  }
}

function contentOf(descriptor: number): Buffer {
  const bytes = Buffer.alloc(fs.fstatSync(descriptor).size)
  fs.readSync(descriptor, bytes, 0, bytes.length, 0)
  return bytes
}

function replace(descriptor: number, bytes: Buffer): void {
  fs.ftruncateSync(descriptor, bytes.length)
  fs.writeSync(descriptor, bytes, 0, bytes.length, 0)
}

/** Each sector as it is read or as it was synced; the length, too, is one of the two. */
function mixed(now: Buffer, durable: Buffer, random: Random): Buffer {
  const bytes = Buffer.alloc(random.below(2) === 0 ? now.length : durable.length)
  for (let at = 0; at < bytes.length; at += SECTOR_BYTES) {
    const source = random.below(2) === 0 ? now : durable
    if (at < source.length) source.copy(bytes, at, at, at + SECTOR_BYTES)
  }
  return bytes
}

class PowerCutFile implements DiskFile {
  readonly #disk: PowerCutDisk
  readonly #file: DiskFile
  readonly #medium: Medium

  constructor(disk: PowerCutDisk, file: DiskFile, medium: Medium) {
    this.#disk = disk
    this.#file = file
    this.#medium = medium
  }

  get path(): string {
    return this.#medium.path
  }

  writeAt(bytes: Uint8Array, position: number): void {
    this.#disk.change(this.#medium)
    this.#file.writeAt(bytes, position)
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    return this.#file.readAt(target, position, length)
  }

  sync(): void {
    this.#disk.sync(this.#medium)
  }

  size(): number {
    return this.#file.size()
  }

  truncate(length: number): void {
    this.#disk.change(this.#medium)
    this.#file.truncate(length)
  }

  seal(): void {
    this.#file.seal()
    this.#disk.sync(this.#medium)
  }

  close(): void {
    this.#file.close()
  }

  async writeAtLater(bytes: Uint8Array, position: number): Promise<void> {
    this.writeAt(bytes, position)
  }

  async readAtLater(target: Uint8Array, position: number, length: number): Promise<number> {
    return this.readAt(target, position, length)
  }

  async syncLater(): Promise<void> {
    this.sync()
  }

  async closeLater(): Promise<void> {
    this.close()
  }
}
