const PREFIX_DIGITS = 18
const COUNTER_DIGITS = 10
const COUNTER_MAXIMUM = 16 ** COUNTER_DIGITS - 1

/** Payloads in a row with the same directory, which is the last two digits of a name: they share its syncs. */
const ROW = 4096
const DIRECTORIES = 256

const PAYLOAD_NAME = /^[0-9a-f]{28}$/

/** Whether a text is the name of a payload file, which no other text in a path may be. */
export function isPayloadName(text: string): boolean {
  return PAYLOAD_NAME.test(text)
}

/**
 * Issues ids of payloads, 28 hexadecimal digits each: names of payload files, from which the keys of encrypted payloads
 * are derived. No id is issued twice, even after a crash: it is the name of the start, the thread, and a counter whose
 * digits are in another order.
 */
export class PayloadIds {
  readonly #prefix: string
  /** Where the rows of directories begin: another place for each start and thread. */
  readonly #firstDirectory: number
  #counter: number

  /** `start`: 16 hexadecimal digits, new at each start. `thread`: 0 to 255. `given`: number of ids issued before. */
  constructor(start: string, thread: number, given = 0) {
    this.#prefix = `${start}${thread.toString(16).padStart(2, '0')}`
    this.#firstDirectory = firstDirectory(this.#prefix)
    this.#counter = given
  }

  /** Issues the ids after the given one. */
  static after(id: string): PayloadIds {
    const [low, directory] = [Number.parseInt(id.slice(-5, -2), 16), Number.parseInt(id.slice(-2), 16)]
    const row = (directory + DIRECTORIES - firstDirectory(id)) % DIRECTORIES
    const high = Number.parseInt(id.slice(PREFIX_DIGITS, -5), 16)
    const given = (high * DIRECTORIES + row) * ROW + low
    return new PayloadIds(
      id.slice(0, PREFIX_DIGITS - 2),
      Number.parseInt(id.slice(PREFIX_DIGITS - 2, PREFIX_DIGITS), 16),
      given,
    )
  }

  /** @throws Error after 2^40 - 1 ids: a counter that starts again would repeat a nonce */
  next(): string {
    if (this.#counter >= COUNTER_MAXIMUM) throw new Error('this start of the server has used up its payload ids')
    this.#counter += 1
    const row = Math.floor(this.#counter / ROW)
    const directory = (row + this.#firstDirectory) % DIRECTORIES
    const number = (Math.floor(row / DIRECTORIES) * ROW + (this.#counter % ROW)) * DIRECTORIES + directory
    return `${this.#prefix}${number.toString(16).padStart(COUNTER_DIGITS, '0')}`
  }
}

/** @param id starts with the process start and the thread */
function firstDirectory(id: string): number {
  return (Number.parseInt(id.slice(14, 16), 16) + Number.parseInt(id.slice(16, PREFIX_DIGITS), 16)) % DIRECTORIES
}
