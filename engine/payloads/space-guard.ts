import type { Disk, DiskSpace } from '../disk/disk.ts'

/** How long a reading of the free space is used; until the next one, admitted bytes are subtracted. */
const READING_MILLISECONDS = 100

/**
 * Keeps a part of the disk free for deletions, for the journal and for the projections, so that a full disk can be emptied
 * without a restart (J12).
 */
export class SpaceGuard {
  readonly #disk: Disk
  readonly #path: string
  readonly #reservedBytes: number
  #reading: DiskSpace
  #readAt = Number.NEGATIVE_INFINITY
  #admitted = 0

  constructor(disk: Disk, path: string, reservedBytes: number) {
    this.#disk = disk
    this.#path = path
    this.#reservedBytes = reservedBytes
    this.#reading = disk.space(path)
  }

  /** Whether `bytes` more may be stored; if so, subtracts them. */
  admits(bytes: number): boolean {
    this.#refresh()
    if (this.#reading.availableBytes - this.#admitted - bytes < this.#reservedBytes) return false
    this.#admitted += bytes
    return true
  }

  /** Space as last read. */
  get space(): DiskSpace {
    this.#refresh()
    return this.#reading
  }

  /** Whether less than the reserve is free. */
  get isBelowReserve(): boolean {
    return this.space.availableBytes < this.#reservedBytes
  }

  /** Reads the free space at the next question: something was given back. */
  readAgain(): void {
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  #refresh(): void {
    const now = performance.now()
    if (now - this.#readAt < READING_MILLISECONDS) return
    this.#reading = this.#disk.space(this.#path)
    this.#readAt = now
    this.#admitted = 0
  }
}
