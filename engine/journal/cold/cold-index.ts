import { crc32 } from '../../hashing/crc32.ts'
import { readUint64, SEGMENT_HEADER, writeUint64 } from '../format.ts'
import {
  BLOCK_BYTES_MAXIMUM,
  BLOCKS_MAXIMUM,
  FOOTER,
  INDEX,
  INDEX_END,
  INDEX_HEADER,
  indexBytes,
  MEMBER_BYTES_MINIMUM,
  MEMBER_OVERHEAD_MAXIMUM,
} from './cold-format.ts'

/** A block of a cold segment. */
export interface ColdBlock {
  /** Offset in the plain segment. */
  readonly plainAt: number
  readonly plainBytes: number
  /** Offset of its member in the file. */
  readonly memberAt: number
  readonly memberBytes: number
  /** CRC-32 of the member. */
  readonly checksum: number
}

/** The index's facts about a block. */
export type MemberFacts = Pick<ColdBlock, 'plainBytes' | 'memberBytes' | 'checksum'>

/** The blocks of a cold segment in order, without gaps. */
export interface ColdIndex {
  readonly plainBytes: number
  readonly blocks: readonly ColdBlock[]
}

/** @throws RangeError for more blocks than an extra field can name */
export function encodeIndex(blocks: readonly MemberFacts[]): Buffer {
  if (blocks.length > BLOCKS_MAXIMUM) throw new RangeError(`${blocks.length} blocks in one segment`)
  const bytes = Buffer.alloc(indexBytes(blocks.length))
  const subfieldBytes = blocks.length * INDEX.entryBytes + FOOTER.bytes
  bytes.set(INDEX_HEADER)
  bytes.writeUInt16LE(subfieldBytes + INDEX.entriesAt - INDEX.subfieldIdAt, INDEX.extraLengthAt)
  bytes.write(INDEX.subfieldId, INDEX.subfieldIdAt, 'ascii')
  bytes.writeUInt16LE(subfieldBytes, INDEX.subfieldLengthAt)
  let at: number = INDEX.entriesAt
  let plainLength = 0
  for (const { plainBytes, memberBytes, checksum } of blocks) {
    bytes.writeUInt32BE(plainBytes, at)
    bytes.writeUInt32BE(memberBytes, at + 4)
    bytes.writeUInt32BE(checksum, at + 8)
    at += INDEX.entryBytes
    plainLength += plainBytes
  }
  writeUint64(bytes, plainLength, at + FOOTER.plainLengthAt)
  bytes.writeUInt32BE(blocks.length, at + FOOTER.countAt)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, at + FOOTER.checksumAt)), at + FOOTER.checksumAt)
  bytes.write(FOOTER.magic, at + FOOTER.magicAt, 'ascii')
  bytes.set(INDEX_END, at + FOOTER.bytes)
  return bytes
}

/** Bytes of the index, read from the end of the file; a text says why there is no index. */
export function indexLength(end: Buffer): number | string {
  const at = end.length - INDEX_END.length - FOOTER.bytes
  if (at < 0 || !end.subarray(-INDEX_END.length).equals(INDEX_END)) return 'the file does not end with an index'
  const magic = end.toString('latin1', at + FOOTER.magicAt, at + FOOTER.bytes)
  if (magic !== FOOTER.magic) return 'the file does not end with an index'
  const count = end.readUInt32BE(at + FOOTER.countAt)
  return count === 0 || count > BLOCKS_MAXIMUM ? `an index of ${count} blocks` : indexBytes(count)
}

/**
 * The index of a file of `fileBytes` bytes, or a text with its fault.
 * @param bytes the last `indexLength` bytes of the file
 */
export function decodeIndex(bytes: Buffer, fileBytes: number): ColdIndex | string {
  const footerAt = bytes.length - INDEX_END.length - FOOTER.bytes
  const actual = crc32(bytes.subarray(0, footerAt + FOOTER.checksumAt))
  if (actual !== bytes.readUInt32BE(footerAt + FOOTER.checksumAt)) return 'the checksum of the index is wrong'
  if (!frameIsRight(bytes, footerAt)) return 'the index is of an unknown form'
  const blocks: ColdBlock[] = []
  let plainAt = 0
  let memberAt = 0
  for (let at: number = INDEX.entriesAt; at < footerAt; at += INDEX.entryBytes) {
    const plainBytes = bytes.readUInt32BE(at)
    const memberBytes = bytes.readUInt32BE(at + 4)
    if (!lengthsAreRight(plainBytes, memberBytes)) {
      return `a block of ${plainBytes} bytes in a member of ${memberBytes}`
    }
    blocks.push({ plainAt, plainBytes, memberAt, memberBytes, checksum: bytes.readUInt32BE(at + 8) })
    plainAt += plainBytes
    memberAt += memberBytes
  }
  if (memberAt + bytes.length !== fileBytes) return 'the members do not fill the file'
  const isWhole = plainAt === readUint64(bytes, footerAt + FOOTER.plainLengthAt) && plainAt > SEGMENT_HEADER.bytes
  return isWhole ? { plainBytes: plainAt, blocks } : 'the blocks do not fill the segment'
}

function frameIsRight(bytes: Buffer, footerAt: number): boolean {
  const subfieldBytes = footerAt + FOOTER.bytes - INDEX.entriesAt
  return (
    bytes.subarray(0, INDEX_HEADER.length).equals(INDEX_HEADER) &&
    bytes.readUInt16LE(INDEX.extraLengthAt) === subfieldBytes + INDEX.entriesAt - INDEX.subfieldIdAt &&
    bytes.toString('latin1', INDEX.subfieldIdAt, INDEX.subfieldLengthAt) === INDEX.subfieldId &&
    bytes.readUInt16LE(INDEX.subfieldLengthAt) === subfieldBytes
  )
}

function lengthsAreRight(plainBytes: number, memberBytes: number): boolean {
  return (
    plainBytes >= 1 &&
    plainBytes <= BLOCK_BYTES_MAXIMUM &&
    memberBytes >= MEMBER_BYTES_MINIMUM &&
    memberBytes <= plainBytes + MEMBER_OVERHEAD_MAXIMUM
  )
}

/** Index in `blocks` of the block that holds a byte of the plain segment. */
export function blockAt(blocks: readonly ColdBlock[], plainAt: number): number {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((blocks[middle] as ColdBlock).plainAt <= plainAt) low = middle
    else high = middle - 1
  }
  return low
}
