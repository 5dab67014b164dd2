/** Chances that a seed decides, so that every run asks the same. */
import { createHash } from 'node:crypto'

export class Random {
  #state: number

  constructor(seed: string) {
    this.#state = createHash('sha256').update(seed).digest().readUInt32LE(0)
  }

  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number {
    // Mulberry32: small, and good enough to pick from lists.
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) % bound
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0
  }
}
