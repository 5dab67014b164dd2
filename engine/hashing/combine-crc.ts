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

/** 16 values by four bits. */
interface Table {
  readonly highs: Int32Array
  readonly lows: Int32Array
}

/** x^0. */
const ONE: Value = { high: 0x8000_0000, low: 0 }
/** x^8: a byte. */
const BYTE: Value = { high: 0x0080_0000, low: 0 }
/** Lengths are read in digits of this base, and the power of each digit at each place is kept. */
const BASE = 256

/** Lengths whose power of x is kept: parts of one upload nearly all have the same. */
const POWERS_MAXIMUM = 64

export function isCombinable(algorithm: string): algorithm is CombinableAlgorithm {
  return Object.hasOwn(POLYNOMIALS, algorithm)
}

/** The CRC of pieces that are taken in one after the other. */
export class CombinedCrc {
  readonly #polynomial: (typeof POLYNOMIALS)[CombinableAlgorithm]
  /** x^(8 * n) by the place of a digit of n, and the digit. */
  readonly #digits: Value[][] = [[ONE, BYTE]]
  readonly #powers = new Map<number, Value>()
  readonly #table = emptyTable()
  readonly #fallen: Table
  #value: Value = { high: 0, low: 0 }

  constructor(algorithm: CombinableAlgorithm) {
    this.#polynomial = POLYNOMIALS[algorithm]
    this.#fallen = this.#fallenBits()
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

  /** x^(8 * bytes). */
  #power(bytes: number): Value {
    const known = this.#powers.get(bytes)
    if (known !== undefined) return known
    let power: Value = ONE
    for (let left = bytes, place = 0; left > 0; left = Math.floor(left / BASE), place += 1) {
      const digit = left % BASE
      if (digit > 0) power = this.#times(this.#powerOfDigit(place, digit), power)
    }
    if (this.#powers.size < POWERS_MAXIMUM) this.#powers.set(bytes, power)
    return power
  }

  /** Each power is computed from the one before: at most 255 products for a place, whatever the number of pieces. */
  #powerOfDigit(place: number, digit: number): Value {
    let powers = this.#digits[place]
    if (powers === undefined) {
      const before = this.#powerOfDigit(place - 1, BASE - 1)
      powers = [ONE, this.#times(before, this.#powerOfDigit(place - 1, 1))]
      this.#digits[place] = powers
    }
    for (let last = powers.length - 1; last < digit; last += 1) {
      powers.push(this.#times(powers[last] as Value, powers[1] as Value))
    }
    return powers[digit] as Value
  }

  /** The product modulo the polynomial, in steps of four bits of `one`, from the highest power of x to the lowest. */
  #times(one: Value, other: Value): Value {
    const { isWide } = this.#polynomial
    const { highs, lows } = this.#multiples(other)
    let high = 0
    let low = 0
    for (let at = isWide ? 0 : 32; at < 64; at += 4) {
      const falls = (isWide ? low : high) & 15
      low = isWide ? (low >>> 4) | (high << 28) : 0
      high >>>= 4
      const bits = ((at < 32 ? one.low : one.high) >>> (at & 31)) & 15
      high ^= (this.#fallen.highs[falls] as number) ^ (highs[bits] as number)
      low ^= (this.#fallen.lows[falls] as number) ^ (lows[bits] as number)
    }
    return { high: high >>> 0, low: low >>> 0 }
  }

  /** `value` times each polynomial of four bits, of which the highest is x^0. Overwritten by the next call. */
  #multiples(value: Value): Table {
    const { highs, lows } = this.#table
    let { high, low } = value
    for (let bit = 8; bit > 0; bit >>= 1) {
      highs[bit] = high
      lows[bit] = low
      ;({ high, low } = this.#timesX(high, low))
    }
    fillSums(this.#table)
    return this.#table
  }

  /** Every bit one place on, and the polynomial in the place of what falls out. */
  #timesX(high: number, low: number): Value {
    const { isWide, high: polynomialHigh, low: polynomialLow } = this.#polynomial
    const falls = (isWide ? low : high) & 1
    const shiftedLow = isWide ? (low >>> 1) | (high << 31) : 0
    if (falls === 0) return { high: high >>> 1, low: shiftedLow }
    return { high: (high >>> 1) ^ polynomialHigh, low: shiftedLow ^ polynomialLow }
  }

  /** The remainder of four bits that are shifted out. */
  #fallenBits(): Table {
    const table = emptyTable()
    for (let bit = 1; bit < 16; bit <<= 1) {
      let value: Value = this.#polynomial.isWide ? { high: 0, low: bit } : { high: bit, low: 0 }
      for (let step = 0; step < 4; step += 1) value = this.#timesX(value.high, value.low)
      table.highs[bit] = value.high
      table.lows[bit] = value.low
    }
    fillSums(table)
    return table
  }
}

function emptyTable(): Table {
  return { highs: new Int32Array(16), lows: new Int32Array(16) }
}

/** Fills in the sums of the values at the powers of two. */
function fillSums({ highs, lows }: Table): void {
  for (let bits = 3; bits < 16; bits += 1) {
    const lowest = bits & -bits
    if (bits === lowest) continue
    highs[bits] = (highs[lowest] as number) ^ (highs[bits ^ lowest] as number)
    lows[bits] = (lows[lowest] as number) ^ (lows[bits ^ lowest] as number)
  }
}
