import { type PayloadId, payloadIdOf, type VolumeNumber } from '../brands.ts'
import { crc32 } from '../hashing/crc32.ts'
import { readUint64, writeUint64 } from '../journal/format.ts'

/**
 * A volume holds many small payloads. Layout (spec/formats/payloads.md), big-endian:
 *
 *   volume = header (64) | frame | frame | ... | zeros
 *   frame  = header (32) | bytes | zeros to 8
 */
export const VOLUME_HEADER = { bytes: 64, magic: 'OSTVOLM1', versionAt: 8, volumeAt: 16, checksumAt: 60 } as const
export const FRAME_HEADER = {
  bytes: 32,
  magic: 'OSVP',
  lengthAt: 4,
  payloadAt: 8,
  checksumAt: 16,
  headerChecksumAt: 28,
} as const
export const VOLUME_VERSION = 1
const ALIGNMENT_BYTES = 8

export function encodeVolumeHeader(volume: VolumeNumber): Buffer {
  const bytes = Buffer.alloc(VOLUME_HEADER.bytes)
  bytes.write(VOLUME_HEADER.magic, 0, 'ascii')
  bytes.writeUInt16BE(VOLUME_VERSION, VOLUME_HEADER.versionAt)
  writeUint64(bytes, volume, VOLUME_HEADER.volumeAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, VOLUME_HEADER.checksumAt)), VOLUME_HEADER.checksumAt)
  return bytes
}

/** Length of a frame with its header and padding. */
export function frameBytes(length: number): number {
  return Math.ceil((FRAME_HEADER.bytes + length) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

/** Writes a frame at `at`; its header has the payload's id, so a volume can be read without the catalog. */
export function encodeFrame(target: Buffer, at: number, payload: PayloadId, bytes: Uint8Array, checksum: number): void {
  const header = target.subarray(at, at + FRAME_HEADER.bytes)
  header.fill(0)
  header.write(FRAME_HEADER.magic, 0, 'ascii')
  header.writeUInt32BE(bytes.length, FRAME_HEADER.lengthAt)
  writeUint64(header, payload, FRAME_HEADER.payloadAt)
  header.writeUInt32BE(checksum, FRAME_HEADER.checksumAt)
  const headerChecksum = crc32(header.subarray(0, FRAME_HEADER.headerChecksumAt))
  header.writeUInt32BE(headerChecksum, FRAME_HEADER.headerChecksumAt)
  target.set(bytes, at + FRAME_HEADER.bytes)
  target.fill(0, at + FRAME_HEADER.bytes + bytes.length, at + frameBytes(bytes.length))
}

/** The fields of a frame's header; undefined when it is not one, or damaged. */
export function decodeFrameHeader(
  header: Buffer,
): { readonly length: number; readonly payload: PayloadId; readonly checksum: number } | undefined {
  if (header.length < FRAME_HEADER.bytes || header.toString('latin1', 0, 4) !== FRAME_HEADER.magic) return undefined
  const stated = header.readUInt32BE(FRAME_HEADER.headerChecksumAt)
  if (crc32(header.subarray(0, FRAME_HEADER.headerChecksumAt)) !== stated) return undefined
  return {
    length: header.readUInt32BE(FRAME_HEADER.lengthAt),
    payload: payloadIdOf(readUint64(header, FRAME_HEADER.payloadAt)),
    checksum: header.readUInt32BE(FRAME_HEADER.checksumAt),
  }
}

/** Start of the next frame, after bytes that end at `end`. */
export function frameStartAfter(end: number): number {
  return Math.ceil(end / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}
