/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), eight bytes at a time from eight tables. */

const POLYNOMIAL_REFLECTED = 0x82f63b78
const TABLE_COUNT = 8

/** Table k at offset 256 * k: the effect of a byte that has k more bytes after it. */
const TABLES = makeTables()

function makeTables(): Uint32Array {
  const tables = new Uint32Array(TABLE_COUNT * 256)
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL_REFLECTED : value >>> 1
    tables[byte] = value
  }
  for (let index = 256; index < tables.length; index += 1) {
    const previous = tables[index - 256] ?? 0
    tables[index] = (previous >>> 8) ^ (tables[previous & 0xff] ?? 0)
  }
  return tables
}

/**
 * The CRC of a chunk, continued from an earlier one.
 * @param previous the CRC of everything before the chunk; 0 at the start
 * @returns an unsigned 32-bit number
 */
export function crc32c(chunk: Uint8Array, previous = 0): number {
  // Indices stay within the tables and the chunk by construction, which the `!` say; they cost nothing at run time.
  const tables = TABLES
  const bytes = chunk
  const wholeBlocksEnd = bytes.length - (bytes.length % 8)
  let crc = ~previous
  let index = 0
  while (index < wholeBlocksEnd) {
    const low = crc ^ (bytes[index]! | (bytes[index + 1]! << 8) | (bytes[index + 2]! << 16) | (bytes[index + 3]! << 24))
    crc =
      tables[1792 + (low & 0xff)]! ^
      tables[1536 + ((low >>> 8) & 0xff)]! ^
      tables[1280 + ((low >>> 16) & 0xff)]! ^
      tables[1024 + (low >>> 24)]! ^
      tables[768 + bytes[index + 4]!]! ^
      tables[512 + bytes[index + 5]!]! ^
      tables[256 + bytes[index + 6]!]! ^
      tables[bytes[index + 7]!]!
    index += 8
  }
  while (index < bytes.length) {
    crc = (crc >>> 8) ^ tables[(crc ^ bytes[index]!) & 0xff]!
    index += 1
  }
  return ~crc >>> 0
}
