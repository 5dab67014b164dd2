/**
 * Signing keys of the recent past. Deriving one takes four HMACs, as long as all the rest of checking a signature, and
 * a client uses the same one all day.
 */

import { deriveSigningKey, type Scope } from './signature-v4.ts'

const ENTRIES_MAXIMUM = 1024

interface Entry {
  readonly secretKey: string
  readonly signingKey: Buffer
}

/** Bounded; the entry unused for longest leaves first. */
export class SigningKeyCache {
  readonly #entries = new Map<string, Entry>()
  readonly #entriesMaximum: number

  constructor(entriesMaximum: number = ENTRIES_MAXIMUM) {
    this.#entriesMaximum = entriesMaximum
  }

  get size(): number {
    return this.#entries.size
  }

  /** The key for a secret and scope. An entry made with another secret of the same access key is not used. */
  get(accessKey: string, secretKey: string, scope: Scope): Buffer {
    const name = `${accessKey}/${scope.date}/${scope.region}`
    const known = this.#entries.get(name)
    if (known !== undefined) {
      // A Map keeps insertion order, so inserting again makes the entry the youngest.
      this.#entries.delete(name)
      if (known.secretKey === secretKey) {
        this.#entries.set(name, known)
        return known.signingKey
      }
    }
    const signingKey = deriveSigningKey(secretKey, scope)
    this.#entries.set(name, { secretKey, signingKey })
    if (this.#entries.size > this.#entriesMaximum) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    return signingKey
  }
}
