import { crc32 } from 'node:zlib'
import { readUint64, writeUint64 } from '../journal/format.ts'

/**
 * A large payload has a file of its own. The object's bytes stand first and untouched, so that a person can copy them
 * out; behind them the checksum of each block, so that a read proves exactly the blocks it touches
 * (spec/formats/payloads.md), big-endian:
 *
 *   file = bytes | CRC-32 of each block (4 each) | trailer (32)
 */
export const BLOCK_BYTES = 64 * 1024
export const CHECKSUM_BYTES = 4
export const FILE_TRAILER = {
  bytes: 32,
  magic: 'OSTFILE1',
  blockBytesAt: 8,
  blockCountAt: 12,
  lengthAt: 16,
  checksumAt: 28,
} as const

export function blockCount(length: number): number {
  return Math.ceil(length / BLOCK_BYTES)
}

/** Length of the whole file of a payload. */
export function fileBytes(length: number): number {
  return length + blockCount(length) * CHECKSUM_BYTES + FILE_TRAILER.bytes
}

export function encodeFileTrailer(length: number): Buffer {
  const bytes = Buffer.alloc(FILE_TRAILER.bytes)
  bytes.write(FILE_TRAILER.magic, 0, 'ascii')
  bytes.writeUInt32BE(BLOCK_BYTES, FILE_TRAILER.blockBytesAt)
  bytes.writeUInt32BE(blockCount(length), FILE_TRAILER.blockCountAt)
  writeUint64(bytes, length, FILE_TRAILER.lengthAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, FILE_TRAILER.checksumAt)), FILE_TRAILER.checksumAt)
  return bytes
}

/** Length of the payload that a trailer states, or undefined when it is damaged. */
export function decodeFileTrailer(bytes: Buffer): number | undefined {
  if (bytes.toString('latin1', 0, FILE_TRAILER.magic.length) !== FILE_TRAILER.magic) return undefined
  if (crc32(bytes.subarray(0, FILE_TRAILER.checksumAt)) !== bytes.readUInt32BE(FILE_TRAILER.checksumAt))
    return undefined
  return readUint64(bytes, FILE_TRAILER.lengthAt)
}
