import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** A PKCS #8 private key of Ed25519 (RFC 8410 section 7) up to the 32 bytes of its seed. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 32

/**
 * An Ed25519 key that signs. node:crypto signs and other code, in `proof/`, verifies, so two implementations must agree.
 */
export class SigningKey {
  /** 32 bytes. */
  readonly publicKey: Buffer
  readonly #key: KeyObject

  /** `seed`: the 32 bytes of an Ed25519 private key (RFC 8032 section 5.1.5). */
  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
    this.publicKey = createPublicKey(this.#key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)
  }

  /** 64 bytes; the same for the same message. */
  sign(message: Uint8Array): Buffer {
    return sign(null, message, this.#key)
  }
}
