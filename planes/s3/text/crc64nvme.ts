/**
 * CRC-64/NVME (NVM Express NVM Command Set, 64-bit CRC; also the default checksum of current S3 SDKs for large
 * objects), eight bytes at a time. JavaScript has no fast 64-bit integer, so each value is two 32-bit halves.
 */

const POLYNOMIAL_REFLECTED_HIGH = 0x9a6c9329
const POLYNOMIAL_REFLECTED_LOW = 0xac4bc9b5
const TABLE_COUNT = 8

/** Table k at offset 256 * k: the effect of a byte that has k more bytes after it. */
const LOW = new Uint32Array(TABLE_COUNT * 256)
const HIGH = new Uint32Array(TABLE_COUNT * 256)
fillTables()

function fillTables(): void {
  for (let byte = 0; byte < 256; byte += 1) {
    let low = byte
    let high = 0
    for (let bit = 0; bit < 8; bit += 1) {
      const carry = low & 1
      low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (carry === 0) continue
      low ^= POLYNOMIAL_REFLECTED_LOW
      high ^= POLYNOMIAL_REFLECTED_HIGH
    }
    LOW[byte] = low
    HIGH[byte] = high
  }
  for (let index = 256; index < LOW.length; index += 1) {
    const low = LOW[index - 256]!
    const high = HIGH[index - 256]!
    LOW[index] = ((low >>> 8) | (high << 24)) ^ LOW[low & 0xff]!
    HIGH[index] = (high >>> 8) ^ HIGH[low & 0xff]!
  }
}

/** A running checksum. */
export class Crc64Nvme {
  #low = 0xffffffff | 0
  #high = 0xffffffff | 0

  // Indices stay within the tables and the chunk by construction, which the `!` say; they cost nothing at run time.
  update(chunk: Uint8Array): void {
    const bytes = chunk
    const wholeBlocksEnd = bytes.length - (bytes.length % 8)
    let low = this.#low
    let high = this.#high
    let index = 0
    while (index < wholeBlocksEnd) {
      low ^= bytes[index]! | (bytes[index + 1]! << 8) | (bytes[index + 2]! << 16) | (bytes[index + 3]! << 24)
      high ^= bytes[index + 4]! | (bytes[index + 5]! << 8) | (bytes[index + 6]! << 16) | (bytes[index + 7]! << 24)
      const first = 1792 + (low & 0xff)
      const second = 1536 + ((low >>> 8) & 0xff)
      const third = 1280 + ((low >>> 16) & 0xff)
      const fourth = 1024 + (low >>> 24)
      const fifth = 768 + (high & 0xff)
      const sixth = 512 + ((high >>> 8) & 0xff)
      const seventh = 256 + ((high >>> 16) & 0xff)
      const eighth = high >>> 24
      low =
        LOW[first]! ^
        LOW[second]! ^
        LOW[third]! ^
        LOW[fourth]! ^
        LOW[fifth]! ^
        LOW[sixth]! ^
        LOW[seventh]! ^
        LOW[eighth]!
      high =
        HIGH[first]! ^
        HIGH[second]! ^
        HIGH[third]! ^
        HIGH[fourth]! ^
        HIGH[fifth]! ^
        HIGH[sixth]! ^
        HIGH[seventh]! ^
        HIGH[eighth]!
      index += 8
    }
    while (index < bytes.length) {
      const entry = (low ^ bytes[index]!) & 0xff
      low = ((low >>> 8) | (high << 24)) ^ LOW[entry]!
      high = (high >>> 8) ^ HIGH[entry]!
      index += 1
    }
    this.#low = low
    this.#high = high
  }

  /** The checksum of everything so far: 8 bytes, big-endian. */
  digest(): Buffer {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeUInt32BE(~this.#high >>> 0, 0)
    bytes.writeUInt32BE(~this.#low >>> 0, 4)
    return bytes
  }
}
