/** Bytes that were altered on purpose: a CRC-32 is no obstacle to that. */
import { crc32 } from 'node:zlib'

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value >>> 0
})
const BY_HIGH_BYTE = new Map(TABLE.map((value, byte) => [value >>> 24, byte]))
const FORGED_BYTES = 4

/** Other bytes of the same length, at least 5, and the same CRC-32: the first is changed, and the last four make up for it. */
export function alteredWithSameChecksum(bytes: Buffer): Buffer {
  const altered = Buffer.from(bytes)
  altered[0] = (altered[0] ?? 0) ^ 1
  let wanted = ~crc32(bytes) >>> 0
  const steps: number[] = []
  for (let count = 0; count < FORGED_BYTES; count += 1) {
    const step = BY_HIGH_BYTE.get(wanted >>> 24) ?? 0
    steps.unshift(step)
    wanted = ((wanted ^ (TABLE[step] ?? 0)) << 8) >>> 0
  }
  let state = ~crc32(altered.subarray(0, -FORGED_BYTES)) >>> 0
  for (const [index, step] of steps.entries()) {
    altered[altered.length - FORGED_BYTES + index] = (state ^ step) & 0xff
    state = (state >>> 8) ^ (TABLE[step] ?? 0)
  }
  if (crc32(altered) !== crc32(bytes) || altered.equals(bytes)) throw new Error('the checksum was not forged')
  return altered
}
