/** Largest number of a part (S3 API reference, multipart upload limits). */
export const PART_NUMBER_MAXIMUM = 10_000

/** A set of part numbers as bits: number n is bit n % 8 of byte n / 8. At most 1,251 bytes, whatever the set. */
export class PartSet {
  #bits = Buffer.alloc(0)

  add(part: number): void {
    const byte = part >> 3
    if (byte >= this.#bits.length) {
      const larger = Buffer.alloc(Math.max(byte + 1, 2 * this.#bits.length))
      this.#bits.copy(larger)
      this.#bits = larger
    }
    this.#bits[byte] = (this.#bits[byte] as number) | (1 << (part & 7))
  }

  /** Without trailing zeros, so equal sets are equal bytes. */
  get bytes(): Buffer {
    let length = this.#bits.length
    while (length > 0 && this.#bits[length - 1] === 0) length -= 1
    return this.#bits.subarray(0, length)
  }
}

/** The part numbers of a set, ascending. */
export function* partNumbers(bits: Uint8Array): Generator<number> {
  for (let byte = 0; byte < bits.length; byte += 1) {
    const value = bits[byte] as number
    if (value === 0) continue
    for (let bit = 0; bit < 8; bit += 1) if ((value & (1 << bit)) !== 0) yield byte * 8 + bit
  }
}
