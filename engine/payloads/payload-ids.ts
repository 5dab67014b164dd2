const COUNTER_DIGITS = 10
const COUNTER_MAXIMUM = 16 ** COUNTER_DIGITS - 1

/**
 * Gives out ids of payloads, 28 hexadecimal digits each: names of payload files, and what the keys of encrypted payloads
 * are derived from. None is ever given twice, whatever crashes: an id begins with the name of the start, then the
 * thread, then a counter.
 */
export class PayloadIds {
  readonly #prefix: string
  #counter: number

  /** `start`: 16 hexadecimal digits, new at each start. `thread`: 0 to 255. `given`: how many were given before. */
  constructor(start: string, thread: number, given = 0) {
    this.#prefix = `${start}${thread.toString(16).padStart(2, '0')}`
    this.#counter = given
  }

  /** @throws Error after 2^40 - 1 of them: a counter that begins again would repeat a nonce */
  next(): string {
    if (this.#counter >= COUNTER_MAXIMUM) throw new Error('this start of the server has given out every payload id')
    this.#counter += 1
    return `${this.#prefix}${this.#counter.toString(16).padStart(COUNTER_DIGITS, '0')}`
  }
}
