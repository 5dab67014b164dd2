import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { isZero, readUnsigned64 } from './format-reader.ts'
import { isMissing, type JournalFiles, readFully, REAL_FILES } from './journal-files.ts'

/** The high-water mark (`spec/formats/journal.md`, section "HEAD"). */
export interface HeadMark {
  readonly markNumber: number
  /** The last sequence that was durable, and so may have been acknowledged, when the mark was written. */
  readonly sequence: number
  /** Number of the batch that holds it. */
  readonly batchNumber: number
  /** Hash of that record, in hexadecimal. */
  readonly hash: string
  /** True when the mark was written by a clean stop. */
  readonly cleanStop: boolean
  /** True when the batch after the record was refused, because its write or sync failed. */
  readonly refusesNext: boolean
}

const HEAD_FILE = 'HEAD'
const SLOT_BYTES = 4096
const SLOTS = 2
const MAGIC = Buffer.from('OSTHEAD1', 'ascii')
const REFUSED_OFFSET = 104
const CHECKSUM_OFFSET = 128

/** The newest mark, and which of the two slots cannot be read although they are not empty. */
interface HeadState {
  readonly mark: HeadMark | undefined
  readonly unreadableSlots: readonly number[]
}

/**
 * Reads `HEAD` in a journal directory. A slot may be torn by a crash or be half written at the moment, so one unreadable
 * slot means nothing while the other is valid.
 * @throws the system's error, except for a missing file
 */
export async function readHeadMark(journalDirectory: string, files: JournalFiles = REAL_FILES): Promise<HeadState> {
  const lost = new Set<number>()
  const bytes = readHeadFile(files, join(journalDirectory, HEAD_FILE), (at) => lost.add(Math.floor(at / SLOT_BYTES)))
  const slots = Array.from({ length: SLOTS }, (_, index) =>
    bytes.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES),
  )
  const marks = slots.map(readSlot)
  let mark: HeadMark | undefined
  for (const candidate of marks) {
    if (candidate !== undefined && candidate.markNumber > (mark?.markNumber ?? 0)) mark = candidate
  }
  const unreadableSlots = slots.flatMap((slot, index) =>
    lost.has(index) || (marks[index] === undefined && !isZero(slot, 0, slot.length)) ? [index] : [],
  )
  return { mark, unreadableSlots }
}

/** @param lost called with the offset of a page that the disk cannot read, whose bytes are zeros */
function readHeadFile(files: JournalFiles, path: string, lost: (offset: number) => void): Buffer {
  const bytes = Buffer.alloc(SLOT_BYTES * SLOTS)
  try {
    const file = files.openToRead(path)
    try {
      readFully(file, bytes, bytes.length, 0, lost)
    } finally {
      file.close()
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return bytes
}

function readSlot(slot: Buffer): HeadMark | undefined {
  if (slot.compare(MAGIC, 0, 8, 0, 8) !== 0) return undefined
  if (crc32(slot.subarray(0, CHECKSUM_OFFSET)) !== slot.readUInt32BE(CHECKSUM_OFFSET)) return undefined
  return {
    markNumber: readUnsigned64(slot, 8),
    sequence: readUnsigned64(slot, 16),
    batchNumber: readUnsigned64(slot, 24),
    hash: slot.toString('hex', 32, 64),
    cleanStop: slot[64] === 1,
    refusesNext: !isZero(slot, REFUSED_OFFSET, CHECKSUM_OFFSET),
  }
}
