import { inspect } from 'node:util'

/** Shown in place of a secret. */
export const REDACTED = '[redacted]'

/**
 * A secret from the configuration. As text, JSON or in an inspection it is a marker, so that it cannot reach a log or an
 * error message by accident. It does not survive postMessage: send `reveal()` to another thread.
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
