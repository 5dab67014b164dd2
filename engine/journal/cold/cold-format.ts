/**
 * Byte layout of a cold segment: a gzip file (RFC 1952) of members, one for each block of the plain segment, and a last
 * one without data whose extra field is the index. The document is spec/formats/journal.md, "Cold segments".
 *
 *   cold segment = block | block | ... | index
 *   block        = gzip header | deflate stream | CRC-32 | length
 *   index        = gzip header | extra field: entry for each block, footer | empty stream, zero CRC-32 and length
 *
 * Integers of gzip are little-endian, ours are big-endian.
 */

/** Bytes of the plain segment in a block: the least that a query inflates. A header and a seal are separate blocks. */
export const BLOCK_BYTES = 256 * 1024

/** Largest accepted block, so that a forged index cannot ask for much memory. */
export const BLOCK_BYTES_MAXIMUM = 1 << 20
/** More than deflate and the frame ever add to a block. */
export const MEMBER_OVERHEAD_MAXIMUM = 1024

/** No flags, no time, no system: the same bytes on every machine. */
export const BLOCK_HEADER = Buffer.from('1f8b08000000000000ff', 'hex')
/** The same with an extra field. */
export const INDEX_HEADER = Buffer.from('1f8b08040000000000ff', 'hex')
/** Distinguishes a cold segment from a plain one. */
export const COLD_MAGIC = BLOCK_HEADER.subarray(0, 4)

/** CRC-32 and length of a member's inflated bytes. */
export const MEMBER_TRAILER_BYTES = 8
/** An empty deflate stream takes two bytes, and no block is empty. */
export const MEMBER_BYTES_MINIMUM = BLOCK_HEADER.length + 3 + MEMBER_TRAILER_BYTES

export const INDEX = {
  extraLengthAt: INDEX_HEADER.length,
  subfieldIdAt: INDEX_HEADER.length + 2,
  subfieldId: 'OJ',
  subfieldLengthAt: INDEX_HEADER.length + 4,
  entriesAt: INDEX_HEADER.length + 6,
  /** Length of the block, length of its member, CRC-32 of its member. */
  entryBytes: 12,
} as const

/** Offsets from the beginning of the footer, the end of the extra field. */
export const FOOTER = {
  bytes: 24,
  plainLengthAt: 0,
  countAt: 8,
  checksumAt: 12,
  magicAt: 16,
  magic: 'OSTCOLD1',
} as const

/** An empty stream with its CRC-32 and length: the end of every cold segment. */
export const INDEX_END = Buffer.from('03000000000000000000', 'hex')

/** Largest extra field of gzip. */
const EXTRA_BYTES_MAXIMUM = 0xffff
const SUBFIELD_FRAME_BYTES = 4

/** Most blocks of a segment: enough for 1.3 GiB, and no segment is longer than 1 GiB. */
export const BLOCKS_MAXIMUM = Math.floor((EXTRA_BYTES_MAXIMUM - SUBFIELD_FRAME_BYTES - FOOTER.bytes) / INDEX.entryBytes)

/** Bytes of the index for this number of blocks. */
export function indexBytes(blocks: number): number {
  return INDEX.entriesAt + blocks * INDEX.entryBytes + FOOTER.bytes + INDEX_END.length
}
