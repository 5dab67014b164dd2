/**
 * The one door to durable storage. Everything the store writes goes through a `Disk`; the real one is
 * `node-disk.ts`, and a test may put another behind the same interface. Each method names the failure it prevents.
 *
 * Synchronous methods are for the engine thread, whose life is "write, sync, answer"; those that return a promise are
 * for front ends, which must not stand still while a large object is written.
 */

/** A full disk: nothing was lost, but these bytes did not fit. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError'
}

/** The process, or the host, may open no more files; one that is open now may be closed in a moment. */
export class DescriptorsExhaustedError extends Error {
  override readonly name = 'DescriptorsExhaustedError'
}

/** Bytes written were fewer than asked for (Node reports this as success; requirement J10). */
export class ShortWriteError extends Error {
  override readonly name = 'ShortWriteError'
}

/** An open file. Positions and lengths are bytes. */
export interface DiskFile {
  readonly path: string
  /** Writes all bytes at `position`; a short write is an error, never a success. */
  writeAt(bytes: Uint8Array, position: number): void
  /** Reads up to `length` bytes at `position` into `target`; returns how many there were. */
  readAt(target: Uint8Array, position: number, length: number): number
  /** Data (and the length needed to read it) is on the medium when this returns: fdatasync. */
  sync(): void
  size(): number
  /** Cuts the file; durable after `sync`. */
  truncate(length: number): void
  /** Data and all metadata on the medium, mode 0444: the file is history from now on. */
  seal(): void
  /** Closing again does nothing: by then the system may have given the descriptor to another file. */
  close(): void

  writeAtLater(bytes: Uint8Array, position: number): Promise<void>
  readAtLater(target: Uint8Array, position: number, length: number): Promise<number>
  syncLater(): Promise<void>
  closeLater(): Promise<void>
}

/** Space of the file system that holds a path, in bytes. */
export interface DiskSpace {
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** The file operations the store needs, and no others. */
export interface Disk {
  /** Creates a file that must not be there. The name is durable only after `syncDirectory`. */
  create(path: string): DiskFile
  openToWrite(path: string): DiskFile
  openToRead(path: string): DiskFile
  createLater(path: string): Promise<DiskFile>
  openToReadLater(path: string): Promise<DiskFile>

  /** Makes a directory and its missing parents, each durable in its parent (J9). */
  makeDirectory(path: string): void
  /** Makes the names in a directory durable: created, renamed and removed files (J9). */
  syncDirectory(path: string): void
  syncDirectoryLater(path: string): Promise<void>
  rename(from: string, to: string): void
  renameLater(from: string, to: string): Promise<void>
  /** Removes a file; one that is not there is no error. */
  remove(path: string): void
  removeLater(path: string): Promise<void>
  /** Removes a directory tree that can be made again (a projection). */
  removeTree(path: string): void
  exists(path: string): boolean
  /** Names in a directory, sorted; empty when it is not there. */
  list(path: string): string[]
  /** Length of a file; 0 when it is not there. */
  sizeOf(path: string): number
  space(path: string): DiskSpace
  /** A text that names an existing directory whatever path leads to it: its device and inode. */
  identity(path: string): string
}
