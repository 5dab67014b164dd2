import type { PayloadId, Sequence, VolumeNumber } from '../brands.ts'
import { hash as digestOf } from 'node:crypto'
import { crc32 } from '../hashing/crc32.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { type BlockCodec, plainBlocks, sealedBlocks } from './block-codec.ts'
import { BlockingReads } from './blocking-reads.ts'
import { fileBytes } from './file-format.ts'
import { PayloadFileReader } from './file-reader.ts'
import { PayloadDamagedError, readFailure } from './payload-errors.ts'
import type { PayloadSealer } from './sealing.ts'

/** A small payload in a volume. Lengths and offsets are bytes. */
export interface VolumeLocation {
  readonly kind: 'volume'
  readonly volume: VolumeNumber
  readonly offset: number
  /** Bytes in the volume; a sealed payload is longer than the object. */
  readonly length: number
  /** CRC-32 of the stored bytes. */
  readonly checksum: number
  readonly sealed: boolean
}

/** A large payload in its own file. */
export interface FileLocation {
  readonly kind: 'file'
  readonly name: string
  /** Bytes of the object, sealed or not. */
  readonly length: number
  readonly sealed: boolean
}

/** A multipart object: its parts in order, each a payload. */
export interface PartsLocation {
  readonly kind: 'parts'
  readonly length: number
  /** Sequence of the entry that completed the upload. */
  readonly completion: Sequence
  /** SHA-256 of the whole; undefined until it is computed. */
  readonly digest: Uint8Array | undefined
  readonly parts: PartList
  /**
   * Of an object that was appended to many times: the first `count` parts are the parts of this payload, which it
   * shares whole.
   */
  readonly base?: { readonly payload: PayloadId; readonly count: number } | undefined
}

/** The parts of a multipart object. */
export interface PartList {
  readonly count: number
  /** Payload of the part at an index from 0; undefined for a part of no bytes. */
  payload(index: number): PayloadId | undefined
  /** Bytes of the part at an index. */
  size(index: number): number
  /** The checksum of the part at an index, by the algorithm that its upload asked for; all parts have one, or none has. */
  checksum(index: number): Uint8Array | undefined
}

/** Where the bytes of a payload are, by the catalog. */
export type PayloadLocation = VolumeLocation | FileLocation | PartsLocation

const OPEN_VOLUMES_MAXIMUM = 64

/** Reads payloads and verifies every block; it never returns wrong bytes. One per thread. */
export class PayloadReader {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #sealer: PayloadSealer | undefined
  readonly #volumes = new Map<number, DiskFile>()
  readonly #blocking: BlockingReads
  #envelopes = Buffer.alloc(0)

  /** Without a sealer, encrypted payloads cannot be read. */
  constructor(disk: Disk, paths: StorePaths, sealer?: PayloadSealer, blocking: BlockingReads = new BlockingReads()) {
    this.#disk = disk
    this.#paths = paths
    this.#sealer = sealer
    this.#blocking = blocking
  }

  /**
   * A whole small payload, in a new buffer. The read is synchronous: it is at most a few tens of KiB, mostly in the
   * page cache, and the thread pool would cost more than the read.
   * @param digest SHA-256 of the payload by the journal, which also finds bytes altered on purpose; without one the
   *   CRC-32 is checked
   * @throws PayloadDamagedError, DescriptorsExhaustedError
   */
  readSmall(location: VolumeLocation, digest?: Uint8Array): Buffer {
    if (digest === undefined) return this.#opened(location, this.#readProved(location))
    const bytes = this.#opened(location, this.#readStored(location))
    if (digestOf('sha256', bytes, 'hex') === hexadecimal(digest)) return bytes
    throw new PayloadDamagedError(`${placeOf(location)}: SHA-256 does not match`)
  }

  /**
   * Opens a large payload for reading bytes `start` to `end` (exclusive).
   * @throws PayloadDamagedError when the file is missing or has the wrong length, DescriptorsExhaustedError
   */
  async openLarge(location: FileLocation, start: number, end: number): Promise<PayloadFileReader> {
    const codec = this.#codecOf(location)
    const file = await this.#openFile(location)
    if (file.size() !== fileBytes(codec.form, location.length)) {
      await file.closeAsync()
      throw new PayloadDamagedError(`${placeOf(location)} has the wrong length`)
    }
    return PayloadFileReader.open({ file, payload: location, codec, blocking: this.#blocking }, start, end)
  }

  close(): void {
    for (const file of this.#volumes.values()) file.close()
    this.#volumes.clear()
  }

  async #openFile(location: FileLocation): Promise<DiskFile> {
    const path = this.#paths.file(location.name)
    try {
      if (this.#blocking.allowed) return this.#blocking.run(() => this.#disk.openToRead(path))
      return await this.#disk.openToReadAsync(path)
    } catch (error) {
      throw openFailure(placeOf(location), error)
    }
  }

  /** Encrypted bytes are checked too: an envelope in the place of another one would open without an error. */
  #readProved(location: VolumeLocation): Buffer {
    const bytes = this.#readStored(location)
    if (crc32(bytes) !== location.checksum) {
      throw new PayloadDamagedError(`${placeOf(location)}: checksum does not match`)
    }
    return bytes
  }

  #readStored(location: VolumeLocation): Buffer {
    const { length, sealed } = location
    const bytes = sealed ? this.#roomForEnvelope(length) : Buffer.allocUnsafe(length)
    const read = this.#readVolume(location, bytes)
    if (read !== length) throw new PayloadDamagedError(`${placeOf(location)}: the volume ends before it`)
    return bytes
  }

  #readVolume(location: VolumeLocation, bytes: Buffer): number {
    const file = this.#volume(location.volume)
    try {
      return file.readAt(bytes, location.offset, location.length)
    } catch (error) {
      throw readFailure(placeOf(location), error)
    }
  }

  /** The payload in the stored bytes. */
  #opened(location: VolumeLocation, stored: Buffer): Buffer {
    if (!location.sealed) return stored
    const bytes = this.#sealerFor(location).open(stored)
    if (bytes === undefined) throw new PayloadDamagedError(`${placeOf(location)}: not encrypted with this store's key`)
    return bytes
  }

  /** The same memory each time: an envelope is not needed after it was opened. */
  #roomForEnvelope(length: number): Buffer {
    if (this.#envelopes.length < length) this.#envelopes = Buffer.allocUnsafeSlow(length)
    return this.#envelopes.subarray(0, length)
  }

  #codecOf(location: FileLocation): BlockCodec {
    if (!location.sealed) return plainBlocks
    return sealedBlocks(this.#sealerFor(location).fileKey(location.name))
  }

  #sealerFor(location: VolumeLocation | FileLocation): PayloadSealer {
    if (this.#sealer !== undefined) return this.#sealer
    throw new PayloadDamagedError(`${placeOf(location)}: it is encrypted, and no key is configured to read it`)
  }

  #volume(volume: VolumeNumber): DiskFile {
    const open = this.#volumes.get(volume)
    if (open !== undefined) return open
    let file: DiskFile
    try {
      file = this.#disk.openToRead(this.#paths.volume(volume))
    } catch (error) {
      throw openFailure(`volume ${volume}`, error)
    }
    if (this.#volumes.size >= OPEN_VOLUMES_MAXIMUM) this.#closeOldest()
    this.#volumes.set(volume, file)
    return file
  }

  /** Closes volumes that were removed: only then does the disk free their space. Called now and then. */
  closeRemoved(): void {
    for (const [volume, file] of this.#volumes) {
      if (this.#disk.exists(file.path)) continue
      file.close()
      this.#volumes.delete(volume)
    }
  }

  #closeOldest(): void {
    for (const [volume, file] of this.#volumes) {
      file.close()
      this.#volumes.delete(volume)
      return
    }
  }
}

function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function placeOf(location: VolumeLocation | FileLocation): string {
  if (location.kind === 'file') return `payload file ${location.name}`
  return `volume ${location.volume}, offset ${location.offset}`
}

/**
 * A file that is gone, or that the disk cannot read, is damage. Other errors do not concern the bytes: too many open
 * files, no permission.
 */
function openFailure(place: string, cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return readFailure(place, cause)
  return new PayloadDamagedError(`${place} cannot be opened: it is gone`, { cause })
}
