/**
 * The CRC of two pieces, one after the other, from the CRC of each and the length of the second: the first is multiplied
 * by x to the power of the bits after it, modulo the polynomial, and the second is added. The bytes are not read again.
 */

/** CRCs that combine, by their polynomials with the bit of the highest power first; 32 bits are in the upper half. */
const POLYNOMIALS = {
  crc32: { isWide: false, high: 0xedb88320, low: 0 },
  crc32c: { isWide: false, high: 0x82f63b78, low: 0 },
  crc64nvme: { isWide: true, high: 0x9a6c9329, low: 0xac4bc9b5 },
} as const

type CombinableAlgorithm = keyof typeof POLYNOMIALS

/** A polynomial over GF(2) as CRCs have it: the highest bit of `high` is x^0, the ones after it x^1, x^2 and so on. */
interface Value {
  readonly high: number
  readonly low: number
}

/** x^0. */
const ONE: Value = { high: 0x8000_0000, low: 0 }
/** x^1. */
const X: Value = { high: 0x4000_0000, low: 0 }
/** x^(2^3) is a byte. */
const BYTE = 3

/** Lengths whose power of x is kept: parts of one upload nearly all have the same. */
const POWERS_MAXIMUM = 64

export function isCombinable(algorithm: string): algorithm is CombinableAlgorithm {
  return Object.hasOwn(POLYNOMIALS, algorithm)
}

/** The CRC of pieces that are taken in one after the other. */
export class CombinedCrc {
  readonly #polynomial: (typeof POLYNOMIALS)[CombinableAlgorithm]
  /** x^(2^n) by n. */
  readonly #squares: Value[] = [X]
  readonly #powers = new Map<number, Value>()
  #value: Value = { high: 0, low: 0 }

  constructor(algorithm: CombinableAlgorithm) {
    this.#polynomial = POLYNOMIALS[algorithm]
  }

  /** @param crc of the next piece, big-endian; `bytes` is the length of the piece */
  add(crc: Uint8Array, bytes: number): void {
    const view = Buffer.from(crc.buffer, crc.byteOffset, crc.byteLength)
    const { high, low } = this.#times(this.#power(bytes), this.#value)
    const added = this.#polynomial.isWide ? view.readUInt32BE(4) : 0
    this.#value = { high: (high ^ view.readUInt32BE(0)) >>> 0, low: (low ^ added) >>> 0 }
  }

  /** The CRC of all pieces, big-endian. */
  digest(): Buffer {
    const { isWide } = this.#polynomial
    const bytes = Buffer.alloc(isWide ? 8 : 4)
    bytes.writeUInt32BE(this.#value.high, 0)
    if (isWide) bytes.writeUInt32BE(this.#value.low, 4)
    return bytes
  }

  /** x to the power of so many bytes. */
  #power(bytes: number): Value {
    const known = this.#powers.get(bytes)
    if (known !== undefined) return known
    let power: Value = ONE
    for (let left = bytes, bit = BYTE; left > 0; left = Math.floor(left / 2), bit += 1) {
      if (left % 2 === 1) power = this.#times(this.#square(bit), power)
    }
    if (this.#powers.size < POWERS_MAXIMUM) this.#powers.set(bytes, power)
    return power
  }

  #square(exponent: number): Value {
    for (let last = this.#squares.length - 1; last < exponent; last += 1) {
      const value = this.#squares[last] as Value
      this.#squares.push(this.#times(value, value))
    }
    return this.#squares[exponent] as Value
  }

  /** The product modulo the polynomial: for each power of x in `one`, `other` times it is added. */
  #times(one: Value, other: Value): Value {
    const { isWide, high: polynomialHigh, low: polynomialLow } = this.#polynomial
    let { high, low } = other
    let productHigh = 0
    let productLow = 0
    for (let bit = 0; bit < (isWide ? 64 : 32); bit += 1) {
      const has = bit < 32 ? (one.high >>> (31 - bit)) & 1 : (one.low >>> (63 - bit)) & 1
      if (has === 1) {
        productHigh ^= high
        productLow ^= low
      }
      // Times x: every bit one place on, and the polynomial in the place of what falls out.
      const falls = (isWide ? low : high) & 1
      if (isWide) low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (falls === 0) continue
      high ^= polynomialHigh
      low ^= polynomialLow
    }
    return { high: productHigh >>> 0, low: productLow >>> 0 }
  }
}
