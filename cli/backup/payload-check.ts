import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { PayloadId, Sequence } from '../../engine/brands.ts'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { PayloadReference } from '../../engine/events/values.ts'
import { decodeChanges } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import { fileBytes } from '../../engine/payloads/file-format.ts'
import type { FileLocation, VolumeLocation } from '../../engine/payloads/payload-reader.ts'
import type { StoredFile } from './manifest.ts'
import type { PayloadState } from './payload-state.ts'

const PIECE_BYTES = 1 << 20
const OPEN_VOLUMES_MAXIMUM = 64

/** Results of a check of payloads. */
export interface PayloadReport {
  readonly checked: number
  readonly bytes: number
  /** Each names a payload by its id, which is the sequence of an entry, and its fault. */
  readonly problems: readonly string[]
}

/**
 * Reads every payload that a state refers to, and checks it: a plain payload against its SHA-256 in the journal; an
 * encrypted payload, which needs the key to be read, against the CRC-32 in the journal when it is in a volume, and else
 * against the SHA-256 that the backup has of the stored file.
 * @param journal where the journal is; records after `until` are left out
 * @param payloads where the payloads are
 */
export function checkPayloads(
  disk: Disk,
  journal: { readonly disk: Disk; readonly paths: StorePaths; readonly until: Sequence },
  payloads: StorePaths,
  state: PayloadState,
  files: ReadonlyMap<string, StoredFile>,
  progress: (bytes: number) => void,
): PayloadReport {
  const reader = new StoredPayloads(disk, payloads, files)
  const problems: string[] = []
  let checked = 0
  let bytes = 0
  const check = ({ payload, digest }: StoredDigest): void => {
    const location = state.payload(payload)
    if (location === undefined || location.kind === 'parts') return
    checked += 1
    bytes += location.length
    const fault = reader.faultOf(location, digest)
    if (fault !== undefined) problems.push(`payload ${payload}: ${fault}`)
    progress(bytes)
  }
  try {
    readJournal(journal.disk, journal.paths, undefined, {
      record: ({ kind, sequence, body }) => {
        if (kind !== RECORD_KIND.change || sequence > journal.until) return
        const stored = storedBy(decodeChanges(body))
        if (stored !== undefined) check(stored)
      },
      batch: () => undefined,
    })
  } finally {
    reader.close()
  }
  const stored = countStored(state)
  if (stored !== checked) problems.push(`${stored} payloads are in use, and the journal has the digests of ${checked}`)
  return { checked, bytes, problems }
}

/** A payload that an entry stored, and the SHA-256 of its bytes. */
export interface StoredDigest {
  readonly payload: PayloadId
  readonly digest: Uint8Array
  /** Where the entry put it; compaction may have moved it since. */
  readonly reference: Exclude<PayloadReference, { readonly kind: 'shared' }>
}

/** Undefined when the entry stored none. */
export function storedBy(changes: readonly Change[]): StoredDigest | undefined {
  for (const change of changes) {
    const reference = storedReference(change)
    if (reference === undefined || reference.kind === 'shared' || !('digest' in change)) continue
    return { payload: reference.payload, digest: change.digest, reference }
  }
  return undefined
}

function storedReference(change: Change): PayloadReference | undefined {
  switch (change.name) {
    case 'object.written':
    case 'upload.part-written':
      return change.payload
    case 'payload.appended':
      return change.part
    default:
      return undefined
  }
}

function countStored(state: PayloadState): number {
  let count = 0
  for (const { location } of state.payloads()) if (location.kind !== 'parts') count += 1
  return count
}

/** Payloads as they are stored, read without keys. */
class StoredPayloads {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #files: ReadonlyMap<string, StoredFile>
  readonly #volumes = new Map<number, DiskFile>()
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES)

  constructor(disk: Disk, paths: StorePaths, files: ReadonlyMap<string, StoredFile>) {
    this.#disk = disk
    this.#paths = paths
    this.#files = files
  }

  /** The fault of a payload; undefined when it is intact. */
  faultOf(location: VolumeLocation | FileLocation, digest: Uint8Array): string | undefined {
    try {
      return location.kind === 'volume' ? this.#volumeFault(location, digest) : this.#fileFault(location, digest)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const name = location.kind === 'volume' ? `volume ${location.volume}` : `file ${location.name}`
      if (code === 'ENOENT') return `${name} is not there`
      if (code === 'EIO') return `${name} cannot be read: ${message}`
      throw error
    }
  }

  close(): void {
    for (const file of this.#volumes.values()) file.close()
    this.#volumes.clear()
  }

  #volumeFault({ volume, offset, length, sealed, checksum }: VolumeLocation, digest: Uint8Array): string | undefined {
    const bytes = Buffer.allocUnsafe(length)
    const place = `volume ${volume}, offset ${offset}`
    if (this.#volume(volume).readAt(bytes, offset, length) !== length) return `${place}: the volume ends before it`
    const isRight = sealed ? crc32(bytes) === checksum : sha256(bytes).equals(digest)
    return isRight ? undefined : `${place}: ${sealed ? 'its checksum' : 'its SHA-256'} does not match`
  }

  #fileFault({ name, length, sealed }: FileLocation, digest: Uint8Array): string | undefined {
    const file = this.#disk.openToRead(this.#paths.file(name))
    try {
      const size = fileBytes(sealed ? 'sealed' : 'plain', length)
      if (file.size() !== size) return `file ${name} has ${file.size()} bytes, not ${size}`
      const { content, whole } = this.#digestsOf(file, length, size)
      if (!sealed && !content.equals(digest)) return `file ${name}: its SHA-256 does not match`
      const listed = this.#files.get(name)
      if (listed === undefined) return `file ${name} is in no manifest`
      return listed.sha256 === whole.toString('hex') ? undefined : `file ${name} is not what was copied`
    } finally {
      file.close()
    }
  }

  /** Of the object, and of the whole file, whose first bytes are the object. */
  #digestsOf(file: DiskFile, length: number, size: number): { readonly content: Buffer; readonly whole: Buffer } {
    const hash = createHash('sha256')
    let content: Buffer | undefined
    for (let at = 0; at < size; ) {
      if (at === length) content = hash.copy().digest()
      const wanted = Math.min(PIECE_BYTES, (at < length ? length : size) - at)
      const read = file.readAt(this.#piece, at, wanted)
      if (read === 0) break
      hash.update(this.#piece.subarray(0, read))
      at += read
    }
    return { content: content ?? hash.copy().digest(), whole: hash.digest() }
  }

  #volume(volume: VolumeLocation['volume']): DiskFile {
    const open = this.#volumes.get(volume)
    if (open !== undefined) return open
    const file = this.#disk.openToRead(this.#paths.volume(volume))
    if (this.#volumes.size >= OPEN_VOLUMES_MAXIMUM) this.close()
    this.#volumes.set(volume, file)
    return file
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
