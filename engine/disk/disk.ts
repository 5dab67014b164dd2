/**
 * The only way to durable storage. Everything that the store writes goes through a `Disk`; the real one is
 * `node-disk.ts`, and specs use others.
 *
 * Synchronous methods are for the engine thread, which writes, syncs and replies. Async methods are for front ends,
 * which must not block while a large object is written.
 */

/** The disk is full: nothing was lost, but these bytes did not fit. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError'
}

/** The process or the host may open no more files at the moment. */
export class DescriptorsExhaustedError extends Error {
  override readonly name = 'DescriptorsExhaustedError'
}

/** Fewer bytes were written than asked for (Node reports this as success; requirement J10). */
export class ShortWriteError extends Error {
  override readonly name = 'ShortWriteError'
}

/** Whether an error means that the disk is full, and not that it is broken. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DiskFullError || error instanceof ShortWriteError
}

/** An open file. Positions and lengths are bytes. */
export interface DiskFile {
  readonly path: string
  /** Writes all bytes at `position`; a short write is an error, never a success. */
  writeAt(bytes: Uint8Array, position: number): void
  /** Reads up to `length` bytes at `position` into `target`; returns their number. */
  readAt(target: Uint8Array, position: number, length: number): number
  /** Data, and the length needed to read it, are durable when this returns: fdatasync. */
  sync(): void
  size(): number
  /** Cuts the file; durable after `sync`. */
  truncate(length: number): void
  /** Makes data and all metadata durable, with mode 0444: the file will not change again. */
  seal(): void
  /** Closing again does nothing: the system may have given the descriptor to another file by then. */
  close(): void

  writeAtAsync(bytes: Uint8Array, position: number): Promise<void>
  readAtAsync(target: Uint8Array, position: number, length: number): Promise<number>
  syncAsync(): Promise<void>
  closeAsync(): Promise<void>
}

/** Space of the file system that holds a path, in bytes. */
export interface DiskSpace {
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** The file operations the store needs, and no others. */
export interface Disk {
  /** Creates a file that must not exist. The name is durable only after `syncDirectory`. */
  create(path: string): DiskFile
  openToWrite(path: string): DiskFile
  openToRead(path: string): DiskFile
  createAsync(path: string): Promise<DiskFile>
  openToReadAsync(path: string): Promise<DiskFile>

  /** Makes a directory and its missing parents, each durable in its parent (J9). */
  makeDirectory(path: string): void
  /** Makes the names in a directory durable: of created, renamed and removed files (J9). */
  syncDirectory(path: string): void
  syncDirectoryAsync(path: string): Promise<void>
  rename(from: string, to: string): void
  renameAsync(from: string, to: string): Promise<void>
  /** Removes a file, if it exists. */
  remove(path: string): void
  removeAsync(path: string): Promise<void>
  /** Removes a directory tree that can be rebuilt (projections). */
  removeTree(path: string): void
  exists(path: string): boolean
  /** Names in a directory, sorted; empty when it does not exist. */
  list(path: string): string[]
  /** Length of a file; 0 when it does not exist. */
  sizeOf(path: string): number
  space(path: string): DiskSpace
}
