import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A sealed secret cannot be opened: it was changed, or sealed under another key or for another purpose. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError'
}

/**
 * Seals small secrets for the journal with AES-256-GCM: nonce (12) | ciphertext | tag (16). The nonce is random; it does
 * not repeat with the few secrets that a store seals (under 2^32, NIST SP 800-38D section 8.3).
 */
export class SecretBox {
  readonly #key: Uint8Array
  readonly #earlier: readonly Uint8Array[]

  /**
   * Keys of 32 bytes, for this purpose only. `earlier`: keys that secrets may still be sealed with, the newest first.
   */
  constructor(key: Uint8Array, earlier: readonly Uint8Array[] = []) {
    this.#key = key
    this.#earlier = earlier
  }

  /** `context` names the owner of the secret; `open` needs the same. */
  seal(secret: string, context: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  /** @throws SecretBoxError */
  open(sealed: Uint8Array, context: string): string {
    const bytes = Buffer.from(sealed)
    let cause: unknown
    for (const key of [this.#key, ...this.#earlier]) {
      try {
        return opened(key, bytes, context)
      } catch (error) {
        cause ??= error
      }
    }
    throw new SecretBoxError(`the secret of ${context} cannot be opened`, { cause })
  }
}

function opened(key: Uint8Array, bytes: Buffer, context: string): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
