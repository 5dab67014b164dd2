import { type PayloadId, type VolumeNumber, volumeNumberOf } from '../brands.ts'
import { type Disk, type DiskFile, isDiskFull } from '../disk/disk.ts'
import { SpareFile } from '../disk/spare-file.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { DomainError } from '../errors.ts'
import type { PayloadReference } from '../events/values.ts'
import type { SpaceGuard } from './space-guard.ts'
import {
  encodeFrame,
  encodeVolumeHeader,
  FRAME_HEADER,
  frameBytes,
  frameStartAfter,
  VOLUME_HEADER,
} from './volume-format.ts'

const STARTING_BYTES = 1 << 20

/**
 * A write or sync of a volume failed, and not for lack of space. Its contents on disk are unknown, and a second sync could
 * report success for bytes that are lost: the volume is not touched again, and the engine ends (J1, J7).
 */
export class VolumeFailedError extends Error {
  override readonly name = 'VolumeFailedError'
}

/**
 * Appends small payloads to the current volume. `place` assigns places and collects the bytes; `flush` makes them durable,
 * with one write and one sync per batch, before the journal refers to them (J1).
 */
export class VolumeWriter {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #volumeBytes: number
  readonly #space: SpaceGuard
  readonly #spare: SpareFile
  #file: DiskFile | undefined
  #volume: VolumeNumber
  #position: number
  #staged = Buffer.allocUnsafeSlow(STARTING_BYTES)
  #stagedBytes = 0
  #refusing = false
  #failure: VolumeFailedError | undefined

  /** `end` is where the bytes end that entries refer to; nothing refers to bytes after it. */
  constructor(
    disk: Disk,
    paths: StorePaths,
    options: { readonly volumeBytes: number },
    space: SpaceGuard,
    end: { readonly volume: VolumeNumber; readonly end: number } | undefined,
  ) {
    this.#disk = disk
    this.#paths = paths
    this.#volumeBytes = options.volumeBytes
    this.#space = space
    this.#spare = new SpareFile(disk, paths.volumes, paths.volumeSpare, options.volumeBytes)
    this.#volume = end?.volume ?? volumeNumberOf(0)
    this.#position = end === undefined ? options.volumeBytes : frameStartAfter(end.end)
    if (end !== undefined && disk.exists(paths.volume(end.volume))) {
      this.#file = disk.openToWrite(paths.volume(end.volume))
    } else if (end !== undefined) {
      // The volume is lost; reads report each of its objects (J17). Its number is not reused.
      this.#volume = volumeNumberOf(end.volume + 1)
      this.#position = options.volumeBytes
    }
    void this.#spare.prepare()
  }

  /** Bytes gathered since the last flush. */
  get stagedBytes(): number {
    return this.#stagedBytes
  }

  /** While true, `place` refuses with `storage-full`: set for the second try of a batch after the disk was full. */
  set refusing(refusing: boolean) {
    this.#refusing = refusing
  }

  /**
   * Assigns `bytes` a place in the volume and copies them.
   * @throws DomainError storage-full; DiskFullError, ShortWriteError, VolumeFailedError when a new volume was needed
   */
  place(payload: PayloadId, bytes: Uint8Array, checksum: number, sealed: boolean): PayloadReference {
    const total = frameBytes(bytes.length)
    if (this.#refusing || !this.#space.admits(total)) throw new DomainError('storage-full')
    if (this.#position + this.#stagedBytes + total > this.#volumeBytes) this.#guarded(() => this.#roll())
    this.#reserve(total)
    encodeFrame(this.#staged, this.#stagedBytes, payload, bytes, checksum)
    const offset = this.#position + this.#stagedBytes + FRAME_HEADER.bytes
    this.#stagedBytes += total
    return { kind: 'volume', payload, volume: this.#volume, offset, length: bytes.length, checksum, sealed }
  }

  /**
   * Everything placed is durable when this returns.
   * @throws DiskFullError, ShortWriteError, VolumeFailedError
   */
  flush(): void {
    this.#guarded(() => this.#flush())
  }

  #guarded(work: () => void): void {
    if (this.#failure !== undefined) throw this.#failure
    try {
      work()
    } catch (error) {
      if (isDiskFull(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      this.#failure = new VolumeFailedError(`volume write or sync failed: ${reason}`, { cause: error })
      throw this.#failure
    }
  }

  #flush(): void {
    if (this.#stagedBytes === 0) return
    const file = this.#file as DiskFile
    file.writeAt(this.#staged.subarray(0, this.#stagedBytes), this.#position)
    file.sync()
    this.#position += this.#stagedBytes
    this.#stagedBytes = 0
  }

  /** Drops placements since the last flush; their places will be assigned again. */
  discard(): void {
    this.#stagedBytes = 0
  }

  /** Creates the next volume ahead of need. */
  prepareSpare(): Promise<void> {
    return this.#spare.prepare()
  }

  async close(): Promise<void> {
    await this.#spare.close()
    this.#file?.close()
  }

  #roll(): void {
    this.#flush()
    const volume = this.#file === undefined ? this.#volume : volumeNumberOf(this.#volume + 1)
    const path = this.#paths.volume(volume)
    const header = encodeVolumeHeader(volume)
    this.#disk.remove(path)
    const file = this.#spare.take(path, header) ?? this.#create(path, header)
    this.#file?.close()
    this.#file = file
    this.#volume = volume
    this.#position = VOLUME_HEADER.bytes
    void this.#spare.prepare()
  }

  /** A volume without a spare: it grows as it is written. */
  #create(path: string, header: Buffer): DiskFile {
    const file = this.#disk.create(path)
    file.writeAt(header, 0)
    file.sync()
    this.#disk.syncDirectory(this.#paths.volumes)
    return file
  }

  #reserve(more: number): void {
    if (this.#stagedBytes + more <= this.#staged.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#staged.length * 2, this.#stagedBytes + more))
    this.#staged.copy(larger, 0, 0, this.#stagedBytes)
    this.#staged = larger
  }
}
