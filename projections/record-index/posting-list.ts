/** Postings that there is room for at first: 512 KiB. */
const FIRST_ROOM = 1 << 16
/** Bits of a sequence in a posting, below the 40 bits of its term. */
const SEQUENCE_BITS = 24
const BYTE = 256

/**
 * Postings in memory, of at most 16 million consecutive records. One is 64 bits: its term above its sequence, which
 * counts from the first one of the list.
 */
export class PostingList {
  #numbers = new BigUint64Array(FIRST_ROOM)
  #halves = new Uint32Array(this.#numbers.buffer)
  #count = 0
  #kept = 0
  #first = 0

  add(term: number, sequence: number): void {
    if (this.#count === 0) this.#first = sequence
    if (this.#count === this.#numbers.length) this.#grow()
    // Little-endian, as on every machine that this runs on: the low half comes first.
    this.#halves[2 * this.#count] = (term % BYTE) * 2 ** SEQUENCE_BITS + (sequence - this.#first)
    this.#halves[2 * this.#count + 1] = Math.floor(term / BYTE)
    this.#count += 1
  }

  /** All postings up to now stay; others are left out by `sort`. */
  keep(): void {
    this.#kept = this.#count
  }

  sort(): void {
    this.#count = this.#kept
    this.#numbers.subarray(0, this.#count).sort()
  }

  each(visit: (term: number, sequence: number) => void): void {
    for (let index = 0; index < this.#count; index += 1) {
      const low = this.#halves[2 * index] as number
      const high = this.#halves[2 * index + 1] as number
      visit(high * BYTE + (low >>> SEQUENCE_BITS), this.#first + (low % 2 ** SEQUENCE_BITS))
    }
  }

  #grow(): void {
    const numbers = new BigUint64Array(2 * this.#numbers.length)
    numbers.set(this.#numbers)
    this.#numbers = numbers
    this.#halves = new Uint32Array(numbers.buffer)
  }
}
