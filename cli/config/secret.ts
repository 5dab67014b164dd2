import { inspect } from 'node:util'

/** What is shown in the place of every secret. */
export const REDACTED = '[redacted]'

/**
 * A secret from the configuration. Turning it into text, JSON or an inspection shows a marker, so that it cannot
 * reach a log or an error message by accident. It does not survive postMessage: send `reveal()` to another thread
 * of the same process on purpose.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The secret itself. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
