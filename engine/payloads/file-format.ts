import { crc32 } from '../hashing/crc32.ts'
import { readUint64, writeUint64 } from '../journal/format.ts'
import { TAG_BYTES } from './sealing.ts'

/**
 * A large payload has a file of its own: the object's bytes, each at its own offset, then the proof of each block, so that
 * a read verifies exactly the blocks that it touches (spec/formats/payloads.md), big-endian:
 *
 *   file = bytes | proof of each block | trailer (32)
 *
 * A plain file has the bytes as they are, with a CRC-32 for each block. A sealed one has every block encrypted in its
 * place, with the tag that authenticates it.
 */
export const BLOCK_BYTES = 64 * 1024
export const FILE_FORMS = {
  plain: { magic: 'OSTFILE1', proofBytes: 4 },
  sealed: { magic: 'OSTSEAL1', proofBytes: TAG_BYTES },
} as const
export type FileForm = keyof typeof FILE_FORMS

export const FILE_TRAILER = {
  bytes: 32,
  blockBytesAt: 8,
  blockCountAt: 12,
  lengthAt: 16,
  nameChecksumAt: 24,
  checksumAt: 28,
} as const

export function blockCount(length: number): number {
  return Math.ceil(length / BLOCK_BYTES)
}

/** Length of the whole file of a payload. */
export function fileBytes(form: FileForm, length: number): number {
  return length + blockCount(length) * FILE_FORMS[form].proofBytes + FILE_TRAILER.bytes
}

/** @param name undefined for a file that several payloads link to: then it matches every name */
export function encodeFileTrailer(form: FileForm, length: number, name: string | undefined): Buffer {
  const bytes = Buffer.alloc(FILE_TRAILER.bytes)
  bytes.write(FILE_FORMS[form].magic, 0, 'ascii')
  bytes.writeUInt32BE(BLOCK_BYTES, FILE_TRAILER.blockBytesAt)
  bytes.writeUInt32BE(blockCount(length), FILE_TRAILER.blockCountAt)
  writeUint64(bytes, length, FILE_TRAILER.lengthAt)
  bytes.writeUInt32BE(name === undefined ? 0 : crc32(name), FILE_TRAILER.nameChecksumAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, FILE_TRAILER.checksumAt)), FILE_TRAILER.checksumAt)
  return bytes
}

export interface FileTrailer {
  readonly form: FileForm
  /** Bytes of the object. */
  readonly length: number
  /** CRC-32 of the name in ASCII. 0, as in files older than this field, matches every name. */
  readonly nameChecksum: number
}

/** The fields of a trailer; undefined when it is damaged. */
export function decodeFileTrailer(bytes: Buffer): FileTrailer | undefined {
  const magic = bytes.toString('latin1', 0, FILE_FORMS.plain.magic.length)
  const form = (Object.keys(FILE_FORMS) as FileForm[]).find((name) => FILE_FORMS[name].magic === magic)
  if (form === undefined) return undefined
  if (crc32(bytes.subarray(0, FILE_TRAILER.checksumAt)) !== bytes.readUInt32BE(FILE_TRAILER.checksumAt))
    return undefined
  const nameChecksum = bytes.readUInt32BE(FILE_TRAILER.nameChecksumAt)
  return { form, length: readUint64(bytes, FILE_TRAILER.lengthAt), nameChecksum }
}

/** Whether a trailer belongs to a payload, and not to another one whose file took its place. */
export function isTrailerOf(bytes: Buffer, form: FileForm, length: number, name: string): boolean {
  const trailer = decodeFileTrailer(bytes)
  if (trailer === undefined || trailer.form !== form || trailer.length !== length) return false
  return trailer.nameChecksum === 0 || trailer.nameChecksum === crc32(name)
}
