const COUNTER_DIGITS = 10
const COUNTER_MAXIMUM = 16 ** COUNTER_DIGITS - 1

const PAYLOAD_NAME = /^[0-9a-f]{28}$/

/** Whether a text is the name of a payload file, which no other text in a path may be. */
export function isPayloadName(text: string): boolean {
  return PAYLOAD_NAME.test(text)
}

/**
 * Issues ids of payloads, 28 hexadecimal digits each: names of payload files, from which the keys of encrypted payloads
 * are derived. No id is issued twice, even after a crash: it is the name of the start, the thread, and a counter.
 */
export class PayloadIds {
  readonly #prefix: string
  #counter: number

  /** `start`: 16 hexadecimal digits, new at each start. `thread`: 0 to 255. `given`: number of ids issued before. */
  constructor(start: string, thread: number, given = 0) {
    this.#prefix = `${start}${thread.toString(16).padStart(2, '0')}`
    this.#counter = given
  }

  /** @throws Error after 2^40 - 1 ids: a counter that starts again would repeat a nonce */
  next(): string {
    if (this.#counter >= COUNTER_MAXIMUM) throw new Error('this start of the server has used up its payload ids')
    this.#counter += 1
    return `${this.#prefix}${this.#counter.toString(16).padStart(COUNTER_DIGITS, '0')}`
  }
}
