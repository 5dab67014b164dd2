/**
 * Cache of recent signing keys. Deriving a key takes four HMACs, as long as the rest of verifying a signature, and a
 * client uses the same key all day.
 */

import { deriveSigningKey, type Scope, type SigningKey } from './signature-v4.ts'

const ENTRIES_MAXIMUM = 1024

interface Entry {
  readonly accessKey: string
  readonly secretKey: string
  readonly scope: Scope
  readonly signingKey: SigningKey
}

/** Evicts the least recently used entry. */
export class SigningKeyCache {
  readonly #entries = new Map<string, Entry>()
  readonly #entriesMaximum: number
  /** The entry used last, which is tried first. */
  #last: Entry | undefined

  constructor(entriesMaximum: number = ENTRIES_MAXIMUM) {
    this.#entriesMaximum = entriesMaximum
  }

  get size(): number {
    return this.#entries.size
  }

  /** The key for a secret and scope. An entry made with another secret of the same access key is not used. */
  get(accessKey: string, secretKey: string, scope: Scope): SigningKey {
    const last = this.#last
    if (last !== undefined && isFor(last, accessKey, secretKey, scope)) return last.signingKey
    const name = `${accessKey}/${scope.date}/${scope.region}`
    const known = this.#entries.get(name)
    if (known !== undefined) {
      // A Map keeps insertion order, so inserting again makes the entry the youngest.
      this.#entries.delete(name)
      if (known.secretKey === secretKey) {
        this.#entries.set(name, known)
        this.#last = known
        return known.signingKey
      }
    }
    const signingKey = deriveSigningKey(secretKey, scope)
    this.#last = { accessKey, secretKey, scope, signingKey }
    this.#entries.set(name, this.#last)
    if (this.#entries.size > this.#entriesMaximum) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    return signingKey
  }
}

function isFor(entry: Entry, accessKey: string, secretKey: string, { date, region }: Scope): boolean {
  const { scope } = entry
  return (
    entry.accessKey === accessKey && entry.secretKey === secretKey && scope.date === date && scope.region === region
  )
}
