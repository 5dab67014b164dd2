import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { PasswordRecord } from '../../engine/events/values.ts'
import { Shares } from '../../engine/shares/shares.ts'

/** Longest password in bytes of UTF-8. */
export const PASSWORD_BYTES_MAXIMUM = 1024
const SALT_BYTES = 16
const HASH_BYTES = 32
/** 32 MiB and some 80 ms of one processor for each password (RFC 7914 section 2). */
const COST = { cost: 2 ** 15, blockSize: 8, parallelization: 1 } as const
/** Factor over the algorithm's memory of 128 N r that the library may use. */
const MEMORY_MARGIN = 2

type Cost = Pick<PasswordRecord, 'cost' | 'blockSize' | 'parallelization'>

/**
 * Hashes passwords with scrypt, one at a time, in libuv's threads: the event loop is not blocked, and at most one
 * processor is busy. Owners, each an address or a credential, take turns.
 */
export class PasswordHashing {
  readonly #key: Uint8Array
  readonly #earlier: readonly Uint8Array[]
  readonly #shares = new Shares('password-hashes')

  /**
   * @param key 32 bytes, for this purpose only; without it a record cannot be attacked
   * @param earlier keys before the current one, with which existing records were made
   */
  constructor(key: Uint8Array, earlier: readonly Uint8Array[] = []) {
    this.#key = key
    this.#earlier = earlier
  }

  /** Hashes a password with a new salt. @throws BusyError */
  async hash(password: string, owner: string): Promise<PasswordRecord> {
    const salt = randomBytes(SALT_BYTES)
    const hash = keyed(this.#key, await this.#derivedOf(owner, password, salt, COST))
    return { salt: Uint8Array.from(salt), hash: Uint8Array.from(hash), ...COST }
  }

  /** Whether a password matches a record, in constant time. @throws BusyError */
  async matches(password: string, record: PasswordRecord, owner: string): Promise<boolean> {
    const { salt, hash } = record
    const derived = await this.#derivedOf(owner, password, salt, record)
    const matching = [this.#key, ...this.#earlier].filter((key) => timingSafeEqual(keyed(key, derived), hash))
    return matching.length > 0
  }

  /** Normalizes first: one password may be typed in several forms (Unicode Standard Annex 15). */
  async #derivedOf(owner: string, password: string, salt: Uint8Array, cost: Cost): Promise<Buffer> {
    // PBKDF2, the first step of scrypt, ignores trailing zeros of short passwords. A digest has a fixed length.
    const digest = createHash('sha256').update(password.normalize('NFC')).digest()
    return this.#shares.run(owner, () => derivedBytes(digest, salt, cost))
  }
}

function keyed(key: Uint8Array, derived: Uint8Array): Buffer {
  return createHmac('sha256', key).update(derived).digest()
}

function derivedBytes(
  password: Uint8Array,
  salt: Uint8Array,
  { cost, blockSize, parallelization }: Cost,
): Promise<Buffer> {
  const maxmem = 128 * cost * blockSize * MEMORY_MARGIN
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, { cost, blockSize, parallelization, maxmem }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
