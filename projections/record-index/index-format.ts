import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { crc32 } from '../../engine/hashing/crc32.ts'
import { HASH_BYTES, readUint64, writeUint64 } from '../../engine/journal/format.ts'
import type { LastRecord, SegmentPlace } from '../../engine/journal/positions.ts'

/**
 * A file of the record index: postings, each a term and the sequence of a record that has it, in the order of both. It never
 * changes (spec/decisions/0259-record-index.md).
 *
 *   file   = header (256) | blocks of 8 KiB: postings, then fences level by level; the last block is the root
 *   block  = bytes | zeros | bytes used (2) | number of the block (4) | CRC-32 of all before it (4)
 *   postings = term (5) | sequence (6) of the first | of each other one, where its term is the term before: difference of the
 *              sequences times 2; else difference of the terms times 2 and 1, then the sequence
 *   fences = number of the first block below (4) | term (5) | sequence (6) of the first posting of each block below
 *
 * Sequences count from the first one of the file. Differences are varints: 7 bits each, the lowest first.
 */

export const HEADER_BYTES = 256
const MAGIC = 'OSRECIX1'
const AT = {
  blocks: 8,
  dataBlocks: 12,
  postings: 16,
  unreadable: 24,
  first: 32,
  following: 40,
  head: 48,
  batch: 80,
  order: 88,
  time: 96,
  segment: 104,
  offset: 112,
  checksum: 252,
}

export const BLOCK = { bytes: 8192, usedAt: 8182, numberAt: 8184, checksumAt: 8188 } as const
/** A term and a sequence. */
export const FENCE_BYTES = 11
const TERM_BYTES = 5
const SEQUENCE_BYTES = 6
export const FENCES_AT = 4

/** A file of the record index is not what was written, or is of another journal. */
export class RecordIndexDamagedError extends Error {
  override readonly name = 'RecordIndexDamagedError'
}

export interface IndexHeader {
  /** Of all blocks; the last one is the root. */
  readonly blocks: number
  /** Those with postings, which come first. */
  readonly dataBlocks: number
  readonly postings: number
  /** Records whose bodies are no entries. */
  readonly unreadable: number
  readonly first: number
  /** Its last record, by whose hash the file belongs to one journal, and the place of the batch after it. */
  readonly last: LastRecord & SegmentPlace
}

export function encodeHeader(header: IndexHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 0, 'ascii')
  bytes.writeUInt32BE(header.blocks, AT.blocks)
  bytes.writeUInt32BE(header.dataBlocks, AT.dataBlocks)
  writeUint64(bytes, header.postings, AT.postings)
  writeUint64(bytes, header.unreadable, AT.unreadable)
  writeUint64(bytes, header.first, AT.first)
  const { last } = header
  writeUint64(bytes, last.sequence + 1, AT.following)
  bytes.set(last.head, AT.head)
  writeUint64(bytes, last.batch, AT.batch)
  writeUint64(bytes, last.orderMicroseconds, AT.order)
  writeUint64(bytes, last.timeMicroseconds, AT.time)
  writeUint64(bytes, last.segmentFirstSequence, AT.segment)
  writeUint64(bytes, last.offset, AT.offset)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, AT.checksum)), AT.checksum)
  return bytes
}

/** Undefined when the bytes are no header. */
export function decodeHeader(bytes: Buffer): IndexHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  if (crc32(bytes.subarray(0, AT.checksum)) !== bytes.readUInt32BE(AT.checksum)) return undefined
  return {
    blocks: bytes.readUInt32BE(AT.blocks),
    dataBlocks: bytes.readUInt32BE(AT.dataBlocks),
    postings: readUint64(bytes, AT.postings),
    unreadable: readUint64(bytes, AT.unreadable),
    first: readUint64(bytes, AT.first),
    last: {
      sequence: sequenceOf(readUint64(bytes, AT.following) - 1),
      head: Uint8Array.from(bytes.subarray(AT.head, AT.head + HASH_BYTES)),
      batch: readUint64(bytes, AT.batch),
      orderMicroseconds: microsecondsOf(readUint64(bytes, AT.order)),
      timeMicroseconds: microsecondsOf(readUint64(bytes, AT.time)),
      segmentFirstSequence: sequenceOf(readUint64(bytes, AT.segment)),
      offset: readUint64(bytes, AT.offset),
    },
  }
}

/** Ends a block: `used` bytes of it are filled. */
export function closeBlock(block: Buffer, used: number, number: number): void {
  block.fill(0, used, BLOCK.usedAt)
  block.writeUInt16BE(used, BLOCK.usedAt)
  block.writeUInt32BE(number, BLOCK.numberAt)
  block.writeUInt32BE(crc32(block.subarray(0, BLOCK.checksumAt)), BLOCK.checksumAt)
}

/** Whether a block is what was written at its place. */
export function isWholeBlock(block: Buffer, number: number): boolean {
  return (
    block.length === BLOCK.bytes &&
    block.readUInt32BE(BLOCK.numberAt) === number &&
    block.readUInt16BE(BLOCK.usedAt) <= BLOCK.usedAt &&
    crc32(block.subarray(0, BLOCK.checksumAt)) === block.readUInt32BE(BLOCK.checksumAt)
  )
}

export function writeFence(bytes: Buffer, at: number, term: number, sequence: number): void {
  bytes.writeUIntBE(term, at, TERM_BYTES)
  bytes.writeUIntBE(sequence, at + TERM_BYTES, SEQUENCE_BYTES)
}

/** Whether a fence is at or before a posting. */
export function isFenceBefore(bytes: Buffer, at: number, term: number, sequence: number): boolean {
  const own = bytes.readUIntBE(at, TERM_BYTES)
  return own < term || (own === term && bytes.readUIntBE(at + TERM_BYTES, SEQUENCE_BYTES) <= sequence)
}

const LOW_MAXIMUM = 2 ** 31

/** @returns the offset after it */
export function writeVarint(bytes: Buffer, start: number, number: number): number {
  let [at, left] = [start, number]
  for (; left >= LOW_MAXIMUM; left = Math.floor(left / 128)) bytes[at++] = (left % 128) | 0x80
  for (; left >= 0x80; left >>>= 7) bytes[at++] = (left & 0x7f) | 0x80
  bytes[at++] = left
  return at
}

/** The postings of a block, one after another. */
export class BlockPostings {
  term = 0
  sequence = 0
  readonly #block: Buffer
  readonly #used: number
  #at = 0

  constructor(block: Buffer) {
    this.#block = block
    this.#used = block.readUInt16BE(BLOCK.usedAt)
  }

  /** Steps to the next posting; false after the last. */
  next(): boolean {
    if (this.#at >= this.#used) return false
    if (this.#at === 0) {
      this.term = this.#block.readUIntBE(0, TERM_BYTES)
      this.sequence = this.#block.readUIntBE(TERM_BYTES, SEQUENCE_BYTES)
      this.#at = FENCE_BYTES
      return true
    }
    const step = this.#varint()
    if (step % 2 === 0) this.sequence += step / 2
    else {
      this.term += (step - 1) / 2
      this.sequence = this.#varint()
    }
    return true
  }

  #varint(): number {
    let byte = this.#block[this.#at++] as number
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let scale = 128; byte >= 0x80; scale *= 128) {
      byte = this.#block[this.#at++] as number
      value += (byte & 0x7f) * scale
    }
    return value
  }
}
