import { crc32 } from '../hashing/crc32.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { ZeroedFile } from '../disk/unreadable.ts'
import { sequenceOf } from '../brands.ts'
import { HASH_BYTES, readUint64, writeUint64 } from './format.ts'
import type { LastRecord } from './positions.ts'

/**
 * The high-water mark: a record that is known to have been durable, stored apart from the journal (J6). Two slots are
 * written in turn, so a torn write leaves the other one.
 */
export interface HeadMark extends Omit<LastRecord, 'orderMicroseconds' | 'timeMicroseconds'> {
  readonly clean: boolean
  /** Boot id of the kernel: after a reboot, bytes that were not synced are lost. */
  readonly bootId: string
  /**
   * The first bytes of the hash of the last record of the batch after this one, when the write or sync of that batch
   * failed: its requests were refused, so the next start cuts it off, wherever it is found whole.
   */
  readonly refused?: Uint8Array
}

/** Enough of a hash to tell a batch from every other. */
const REFUSED_BYTES = 24

/** The part of the hash of a refused batch's last record that a mark keeps. */
export function refusedBatchId(hash: Uint8Array): Uint8Array {
  return Uint8Array.from(hash.subarray(0, REFUSED_BYTES))
}

const SLOT_BYTES = 4096
const SLOTS = 2
const MAGIC = 'OSTHEAD1'
const AT = { mark: 8, sequence: 16, batch: 24, head: 32, clean: 64, bootId: 65, refused: 104, checksum: 128 } as const
const BOOT_ID_BYTES = 36

function encode(mark: HeadMark, number: number): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES)
  slot.write(MAGIC, 0, 'ascii')
  writeUint64(slot, number, AT.mark)
  writeUint64(slot, mark.sequence, AT.sequence)
  writeUint64(slot, mark.batch, AT.batch)
  slot.set(mark.head, AT.head)
  slot.writeUInt8(mark.clean ? 1 : 0, AT.clean)
  slot.write(mark.bootId.slice(0, BOOT_ID_BYTES), AT.bootId, 'ascii')
  if (mark.refused !== undefined) slot.set(mark.refused, AT.refused)
  slot.writeUInt32BE(crc32(slot.subarray(0, AT.checksum)), AT.checksum)
  return slot
}

function decode(slot: Buffer): { mark: HeadMark; number: number } | undefined {
  if (slot.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  if (crc32(slot.subarray(0, AT.checksum)) !== slot.readUInt32BE(AT.checksum)) return undefined
  const bootId = slot.toString('ascii', AT.bootId, AT.bootId + BOOT_ID_BYTES)
  const refused = Uint8Array.from(slot.subarray(AT.refused, AT.refused + REFUSED_BYTES))
  return {
    number: readUint64(slot, AT.mark),
    mark: {
      sequence: sequenceOf(readUint64(slot, AT.sequence)),
      batch: readUint64(slot, AT.batch),
      head: Uint8Array.from(slot.subarray(AT.head, AT.head + HASH_BYTES)),
      clean: slot.readUInt8(AT.clean) === 1,
      bootId: bootId.slice(0, bootId.includes('\0') ? bootId.indexOf('\0') : undefined),
      ...(refused.some((byte) => byte !== 0) && { refused }),
    },
  }
}

/** The newest mark of a store that a server may have open; undefined without one. Changes nothing. */
export function readHeadMark(disk: Disk, paths: StorePaths): HeadMark | undefined {
  if (!disk.exists(paths.head)) return undefined
  const file = disk.openToRead(paths.head)
  try {
    return newestOf(file)?.mark
  } finally {
    file.close()
  }
}

function newestOf(file: DiskFile): { readonly mark: HeadMark; readonly number: number } | undefined {
  let newest: { readonly mark: HeadMark; readonly number: number } | undefined
  // A slot that the disk cannot read counts as torn.
  const zeroed = new ZeroedFile(file)
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const bytes = Buffer.alloc(SLOT_BYTES)
    zeroed.readAt(bytes, slot * SLOT_BYTES, SLOT_BYTES)
    const found = decode(bytes)
    if (found !== undefined && found.number >= (newest?.number ?? 0)) newest = found
  }
  return newest
}

/** The HEAD file: the newest mark, and writing the next. */
export class HeadFile {
  readonly #file: DiskFile
  #number = 0
  #newest: HeadMark | undefined

  private constructor(file: DiskFile) {
    this.#file = file
  }

  /** Opens or creates the file. `newest` is then the mark of the last run, if there was one. */
  static open(disk: Disk, paths: StorePaths): HeadFile {
    const isNew = !disk.exists(paths.head)
    const file = isNew ? disk.create(paths.head) : disk.openToWrite(paths.head)
    const head = new HeadFile(file)
    head.#takeSpace()
    if (isNew) disk.syncDirectory(paths.journal)
    else head.#read()
    return head
  }

  get newest(): HeadMark | undefined {
    return this.#newest
  }

  /** Writes and syncs the next mark. */
  write(mark: HeadMark): void {
    this.#number += 1
    this.#file.writeAt(encode(mark, this.#number), (this.#number % SLOTS) * SLOT_BYTES)
    this.#file.sync()
    this.#newest = mark
  }

  /** The same in both slots, one after the other: no earlier mark comes back when a slot is lost. */
  writeBoth(mark: HeadMark): void {
    for (let slot = 0; slot < SLOTS; slot += 1) this.write(mark)
  }

  close(): void {
    this.#file.close()
  }

  /** Allocates both slots before the first mark, so that a mark on a full disk needs no new space. */
  #takeSpace(): void {
    const length = this.#file.size()
    if (length >= SLOT_BYTES * SLOTS) return
    this.#file.writeAt(Buffer.alloc(SLOT_BYTES * SLOTS - length), length)
    this.#file.sync()
  }

  #read(): void {
    const newest = newestOf(this.#file)
    if (newest === undefined) return
    this.#number = newest.number
    this.#newest = newest.mark
  }
}
