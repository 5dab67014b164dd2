import { setImmediate } from 'node:timers/promises'
import { type Disk, type DiskFile, DiskFullError, type DiskSpace, ShortWriteError } from '../../../engine/disk/disk.ts'
import { roomyDisk } from '../test-store.ts'

/**
 * Operations of a disk that change something or make it durable, those that open, and those that only look. This disk
 * notes no looks by itself: who wants to see or fail them puts a layer over it.
 */
export type OperationName =
  | 'create'
  | 'open-to-write'
  | 'open-to-read'
  | 'write'
  | 'read'
  | 'sync'
  | 'truncate'
  | 'seal'
  | 'close'
  | 'make-directory'
  | 'sync-directory'
  | 'rename'
  | 'remove'
  | 'remove-tree'
  | 'exists'
  | 'list'
  | 'size'

/** One operation. `path` is the name the file has now, also when it was opened under another one. */
export interface Operation {
  readonly name: OperationName
  readonly path: string
  /** Where a file is renamed to. */
  readonly to?: string
  readonly position?: number
  readonly bytes?: number
  /** Done by another thread; the error of the system is put into words of the door then, whatever the operation. */
  readonly later?: true
}

/** What goes wrong with an operation. A short write puts the first `bytes` on the disk and then fails. */
export type Fault =
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'short'; readonly bytes: number }

/** Turns of the loop without an operation after which none is to come. */
const IDLE_TURNS = 3

/** The error of a broken disk, as node:fs gives it. */
export function inputOutputError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
}

/** The error of a full disk, as the disk door gives it. */
export function noSpaceError(): Error {
  return new DiskFullError('ENOSPC: no space left on device')
}

/**
 * A disk that notes every operation and lets a spec look, or fail it, at the moment it happens. Operations in the
 * background (spares, uploads) pass through it too. A close that fails closes all the same, as that of the system does.
 */
export class FaultDisk implements Disk {
  readonly operations: Operation[] = []
  /** Asked before an operation takes place; the fault takes its place. */
  fault: (operation: Operation) => Fault | undefined = () => undefined
  /** Called after an operation took place. */
  after: (operation: Operation) => void = () => undefined
  /** Replaces the free space of the file system. */
  freeBytes: number | undefined
  /** Operations in the background that are not over. */
  #onTheWay = 0
  /** Names of open files by the name they were opened under. */
  readonly #open = new Set<FaultFile>()
  readonly #disk: Disk

  constructor(disk: Disk = roomyDisk) {
    this.#disk = disk
  }

  /** Operations noted so far of some names on paths that match. */
  count(name: OperationName, path: RegExp = /./): number {
    return this.operations.filter((operation) => operation.name === name && path.test(operation.path)).length
  }

  /** Notes an operation and has it done, or fails it. */
  perform<T>(operation: Operation, work: () => T, short?: (bytes: number) => void): T {
    this.operations.push(operation)
    const fault = this.fault(operation)
    if (fault !== undefined && operation.name === 'close') work()
    if (fault?.kind === 'error') throw fault.error
    if (fault?.kind === 'short') {
      short?.(fault.bytes)
      throw new ShortWriteError(`${operation.path}: wrote ${fault.bytes} of ${operation.bytes} bytes`)
    }
    const result = work()
    this.after(operation)
    return result
  }

  /** The same for operations in the background: what is done later is not yet done when `after` is called. */
  async performAsync<T>(
    noted: Operation,
    work: () => Promise<T>,
    short?: (bytes: number) => Promise<void>,
  ): Promise<T> {
    const operation = { ...noted, later: true } as const
    this.operations.push(operation)
    const fault = this.fault(operation)
    if (fault !== undefined && operation.name === 'close') await work()
    if (fault?.kind === 'error') throw fault.error
    if (fault?.kind === 'short') {
      await short?.(fault.bytes)
      throw new ShortWriteError(`${operation.path}: wrote ${fault.bytes} of ${operation.bytes} bytes`)
    }
    this.#onTheWay += 1
    try {
      const result = await work()
      this.after(operation)
      return result
    } finally {
      this.#onTheWay -= 1
    }
  }

  /** Resolves when nothing goes on in the background any more. */
  async idle(): Promise<void> {
    for (let turns = 0; turns < IDLE_TURNS; turns = this.#onTheWay > 0 ? 0 : turns + 1) await setImmediate()
  }

  forget(file: FaultFile): void {
    this.#open.delete(file)
  }

  create(path: string): DiskFile {
    return this.#wrap(this.perform({ name: 'create', path }, () => this.#disk.create(path)))
  }

  openToWrite(path: string): DiskFile {
    return this.#wrap(this.perform({ name: 'open-to-write', path }, () => this.#disk.openToWrite(path)))
  }

  openToRead(path: string): DiskFile {
    return this.#wrap(this.perform({ name: 'open-to-read', path }, () => this.#disk.openToRead(path)))
  }

  async createAsync(path: string): Promise<DiskFile> {
    return this.#wrap(await this.performAsync({ name: 'create', path }, () => this.#disk.createAsync(path)))
  }

  async openToReadAsync(path: string): Promise<DiskFile> {
    return this.#wrap(await this.performAsync({ name: 'open-to-read', path }, () => this.#disk.openToReadAsync(path)))
  }

  makeDirectory(path: string): void {
    this.perform({ name: 'make-directory', path }, () => this.#disk.makeDirectory(path))
  }

  syncDirectory(path: string): void {
    this.perform({ name: 'sync-directory', path }, () => this.#disk.syncDirectory(path))
  }

  syncDirectoryAsync(path: string): Promise<void> {
    return this.performAsync({ name: 'sync-directory', path }, () => this.#disk.syncDirectoryAsync(path))
  }

  rename(from: string, to: string): void {
    this.perform({ name: 'rename', path: from, to }, () => this.#disk.rename(from, to))
    this.#renamed(from, to)
  }

  async renameAsync(from: string, to: string): Promise<void> {
    await this.performAsync({ name: 'rename', path: from, to }, () => this.#disk.renameAsync(from, to))
    this.#renamed(from, to)
  }

  remove(path: string): void {
    this.perform({ name: 'remove', path }, () => this.#disk.remove(path))
  }

  removeAsync(path: string): Promise<void> {
    return this.performAsync({ name: 'remove', path }, () => this.#disk.removeAsync(path))
  }

  removeTree(path: string): void {
    this.perform({ name: 'remove-tree', path }, () => this.#disk.removeTree(path))
  }

  exists(path: string): boolean {
    return this.#disk.exists(path)
  }

  list(path: string): string[] {
    return this.#disk.list(path)
  }

  sizeOf(path: string): number {
    return this.#disk.sizeOf(path)
  }

  space(path: string): DiskSpace {
    const space = this.#disk.space(path)
    return this.freeBytes === undefined ? space : { ...space, availableBytes: this.freeBytes }
  }

  #wrap(file: DiskFile): DiskFile {
    const wrapped = new FaultFile(this, file)
    this.#open.add(wrapped)
    return wrapped
  }

  #renamed(from: string, to: string): void {
    for (const file of this.#open) if (file.path === from) file.path = to
  }
}

class FaultFile implements DiskFile {
  path: string
  readonly #disk: FaultDisk
  readonly #file: DiskFile

  constructor(disk: FaultDisk, file: DiskFile) {
    this.#disk = disk
    this.#file = file
    this.path = file.path
  }

  writeAt(bytes: Uint8Array, position: number): void {
    const operation = { name: 'write', path: this.path, position, bytes: bytes.length } as const
    const short = (count: number) => this.#file.writeAt(bytes.subarray(0, count), position)
    this.#disk.perform(operation, () => this.#file.writeAt(bytes, position), short)
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    const operation = { name: 'read', path: this.path, position, bytes: length } as const
    return this.#disk.perform(operation, () => this.#file.readAt(target, position, length))
  }

  sync(): void {
    this.#disk.perform({ name: 'sync', path: this.path }, () => this.#file.sync())
  }

  size(): number {
    return this.#file.size()
  }

  truncate(length: number): void {
    this.#disk.perform({ name: 'truncate', path: this.path, bytes: length }, () => this.#file.truncate(length))
  }

  seal(): void {
    this.#disk.perform({ name: 'seal', path: this.path }, () => this.#file.seal())
  }

  close(): void {
    this.#disk.perform({ name: 'close', path: this.path }, () => this.#file.close())
    this.#disk.forget(this)
  }

  writeAtAsync(bytes: Uint8Array, position: number): Promise<void> {
    const operation = { name: 'write', path: this.path, position, bytes: bytes.length } as const
    const short = (count: number) => this.#file.writeAtAsync(bytes.subarray(0, count), position)
    return this.#disk.performAsync(operation, () => this.#file.writeAtAsync(bytes, position), short)
  }

  readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    const operation = { name: 'read', path: this.path, position, bytes: length } as const
    return this.#disk.performAsync(operation, () => this.#file.readAtAsync(target, position, length))
  }

  syncAsync(): Promise<void> {
    return this.#disk.performAsync({ name: 'sync', path: this.path }, () => this.#file.syncAsync())
  }

  async closeAsync(): Promise<void> {
    await this.#disk.performAsync({ name: 'close', path: this.path }, () => this.#file.closeAsync())
    this.#disk.forget(this)
  }
}
