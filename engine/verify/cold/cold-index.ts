/**
 * Reads the index of a cold segment (`spec/formats/journal.md`, "Cold segments"). Written from that page alone, as
 * everything in this folder.
 */
import { crc32 } from 'node:zlib'
import { readUnsigned64 } from '../format-reader.ts'

/** A piece of the plain segment, and the gzip member that holds it. Offsets and lengths in bytes. */
export interface ColdBlock {
  readonly plainOffset: number
  readonly plainBytes: number
  readonly memberOffset: number
  readonly memberBytes: number
  /** CRC-32 of the bytes of the member. */
  readonly memberChecksum: number
}

/** The blocks in order, without gaps. */
export interface ColdIndex {
  readonly plainBytes: number
  readonly blocks: readonly ColdBlock[]
}

const HEADER = Buffer.from('1f8b08040000000000ff', 'hex')
const SUBFIELD_ID = 'OJ'
const MAGIC = Buffer.from('OSTCOLD1', 'ascii')
/** An empty deflate stream, its CRC-32 and its length. */
const END = Buffer.from('03000000000000000000', 'hex')
/** Offset of the first entry. */
const ENTRIES = 16
const ENTRY_BYTES = 12
/** Plain length, count, checksum and magic after the entries. */
const FOOTER_BYTES = 24
/** All of an index but its entries. */
const FRAME_BYTES = ENTRIES + FOOTER_BYTES + END.length
const BLOCKS_MAXIMUM = 5458
const BLOCK_BYTES_MAXIMUM = 1_048_576
const MEMBER_BYTES_MINIMUM = 21
const MEMBER_SURPLUS_MAXIMUM = 1024

/**
 * Reads the index at the end of a file.
 * @param read the bytes of the file from an offset on; fewer where the file ends
 * @param fileBytes length of the file
 * @returns why there is no valid index, or the index
 */
export function readColdIndex(
  read: (offset: number, length: number) => Buffer,
  fileBytes: number,
): ColdIndex | { readonly fault: string } {
  const none = { fault: 'the file does not end with the index of a cold segment' }
  if (fileBytes < FRAME_BYTES + ENTRY_BYTES) return none
  const tail = read(fileBytes - FOOTER_BYTES - END.length, FOOTER_BYTES + END.length)
  if (tail.length < FOOTER_BYTES + END.length) return none
  const isEnd = tail.subarray(FOOTER_BYTES).equals(END) && tail.subarray(16, FOOTER_BYTES).equals(MAGIC)
  if (!isEnd) return none
  const count = tail.readUInt32BE(8)
  const length = FRAME_BYTES + count * ENTRY_BYTES
  if (count === 0 || count > BLOCKS_MAXIMUM || length > fileBytes) {
    return { fault: `the index states ${count} blocks, which the file cannot have` }
  }
  const bytes = read(fileBytes - length, length)
  if (bytes.length < length) return none
  const fault = frameFault(bytes, count)
  return fault === undefined ? blocksOf(bytes, count, fileBytes) : { fault }
}

function frameFault(bytes: Buffer, count: number): string | undefined {
  const checksum = ENTRIES + count * ENTRY_BYTES + 12
  if (crc32(bytes.subarray(0, checksum)) !== bytes.readUInt32BE(checksum)) return 'the checksum of the index is wrong'
  const subfieldBytes = count * ENTRY_BYTES + FOOTER_BYTES
  const isRight =
    bytes.subarray(0, HEADER.length).equals(HEADER) &&
    bytes.readUInt16LE(10) === subfieldBytes + 4 &&
    bytes.toString('latin1', 12, 14) === SUBFIELD_ID &&
    bytes.readUInt16LE(14) === subfieldBytes
  return isRight ? undefined : 'the gzip header of the index is wrong'
}

function blocksOf(bytes: Buffer, count: number, fileBytes: number): ColdIndex | { readonly fault: string } {
  const blocks: ColdBlock[] = []
  let plainOffset = 0
  let memberOffset = 0
  for (let index = 0; index < count; index += 1) {
    const entry = ENTRIES + index * ENTRY_BYTES
    const plainBytes = bytes.readUInt32BE(entry)
    const memberBytes = bytes.readUInt32BE(entry + 4)
    const memberChecksum = bytes.readUInt32BE(entry + 8)
    const isPossible =
      plainBytes >= 1 &&
      plainBytes <= BLOCK_BYTES_MAXIMUM &&
      memberBytes >= MEMBER_BYTES_MINIMUM &&
      memberBytes <= plainBytes + MEMBER_SURPLUS_MAXIMUM
    if (!isPossible) {
      return { fault: `the index states a block of ${plainBytes} bytes in ${memberBytes}, which no block can have` }
    }
    blocks.push({ plainOffset, plainBytes, memberOffset, memberBytes, memberChecksum })
    plainOffset += plainBytes
    memberOffset += memberBytes
  }
  const plainBytes = readUnsigned64(bytes, ENTRIES + count * ENTRY_BYTES)
  if (plainBytes !== plainOffset) {
    return { fault: `the index states ${plainBytes} bytes of the plain segment; its blocks have ${plainOffset}` }
  }
  const membersEnd = fileBytes - bytes.length
  if (memberOffset !== membersEnd) {
    return { fault: `the blocks of the index take ${memberOffset} bytes; before the index are ${membersEnd}` }
  }
  return { plainBytes, blocks }
}
