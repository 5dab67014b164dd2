import { randomBytes } from 'node:crypto'

const PREFIX_BYTES = 5
const COUNTER_DIGITS = 8
const COUNTER_LIMIT = 16 ** COUNTER_DIGITS

/**
 * Request ids: 18 upper-case hexadecimal digits, a random prefix for each front end and start, then a counter. Unique
 * without coordination, and without a random number per request on the hot path.
 */
export class RequestIds {
  readonly #prefix = randomBytes(PREFIX_BYTES).toString('hex').toUpperCase()
  #counter = 0

  next(): string {
    this.#counter = (this.#counter + 1) % COUNTER_LIMIT
    return this.#prefix + this.#counter.toString(16).toUpperCase().padStart(COUNTER_DIGITS, '0')
  }
}
