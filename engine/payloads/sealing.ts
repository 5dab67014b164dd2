import { type CipherGCM, createCipheriv, createDecipheriv } from 'node:crypto'
import { PAYLOAD_KEY_BYTES, PAYLOAD_KEY_ID_BYTES, PayloadKeyDerivation } from '../keys/payload-keys.ts'
import { PAYLOAD_KEY_LABELS } from '../keys/store-keys.ts'

/**
 * Encryption of payloads at rest: AES-256-GCM (NIST SP 800-38D). Each payload has its own key, derived from an id that is
 * never used twice. So no two messages share a key and a nonce, even after a crash (spec/formats/payloads.md;
 * specification, Encryption at rest).
 */
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
export const TAG_BYTES = 16
const TAG_OPTIONS = { authTagLength: TAG_BYTES }

/** A payload in a volume: version | key id | ciphertext | tag. */
export const ENVELOPE = {
  version: 1,
  keyIdAt: 1,
  keyIdBytes: PAYLOAD_KEY_ID_BYTES,
  ciphertextAt: 1 + PAYLOAD_KEY_ID_BYTES,
  /** Bytes beside the ciphertext, which is as long as the payload. */
  overheadBytes: 1 + PAYLOAD_KEY_ID_BYTES + TAG_BYTES,
} as const

/** Seals and opens payloads. It has the key that their keys are derived from; one per thread. */
export class PayloadSealer {
  readonly #volumeKeys: PayloadKeyDerivation
  readonly #fileKeys: PayloadKeyDerivation
  /** The key of the one payload in a volume that is being sealed or opened. */
  readonly #volumeKey = Buffer.alloc(PAYLOAD_KEY_BYTES)

  /** `key`: `payloads` of the store's keys. */
  constructor(key: Uint8Array) {
    this.#volumeKeys = new PayloadKeyDerivation(key, PAYLOAD_KEY_LABELS.volume)
    this.#fileKeys = new PayloadKeyDerivation(key, PAYLOAD_KEY_LABELS.file)
  }

  /**
   * The envelope of a small payload, in memory that it fills alone.
   * @param keyId 14 bytes, never given before
   */
  seal(keyId: Uint8Array, bytes: Uint8Array): Buffer {
    const envelope = Buffer.allocUnsafeSlow(bytes.length + ENVELOPE.overheadBytes)
    envelope[0] = ENVELOPE.version
    envelope.set(keyId, ENVELOPE.keyIdAt)
    const cipher = this.#keyInVolume(keyId).cipher(0)
    envelope.set(cipher.update(bytes), ENVELOPE.ciphertextAt)
    cipher.final()
    envelope.set(cipher.getAuthTag(), envelope.length - TAG_BYTES)
    return envelope
  }

  /** The payload in an envelope, in its own memory; undefined when the envelope is damaged or has another key. */
  open(envelope: Buffer): Buffer | undefined {
    if (envelope.length < ENVELOPE.overheadBytes || envelope[0] !== ENVELOPE.version) return undefined
    const keyId = envelope.subarray(ENVELOPE.keyIdAt, ENVELOPE.keyIdAt + ENVELOPE.keyIdBytes)
    const tagAt = envelope.length - TAG_BYTES
    const ciphertext = envelope.subarray(ENVELOPE.ciphertextAt, tagAt)
    return this.#keyInVolume(keyId).decrypt(0, ciphertext, envelope.subarray(tagAt))
  }

  /** The key of a payload file; its name, 28 hexadecimal digits, is the id. */
  fileKey(name: string): PayloadKey {
    return new PayloadKey(this.#fileKeys.derive(Buffer.from(name, 'hex'), Buffer.alloc(PAYLOAD_KEY_BYTES)))
  }

  #keyInVolume(keyId: Uint8Array): PayloadKey {
    return new PayloadKey(this.#volumeKeys.derive(keyId, this.#volumeKey))
  }
}

/** The key of one payload. The nonce is the number of the block, so each block may be encrypted only once. */
export class PayloadKey {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Encrypts a block; its tag is available after `final`, which returns no more bytes. */
  cipher(block: number): CipherGCM {
    return createCipheriv(ALGORITHM, this.#key, nonceOf(block), TAG_OPTIONS)
  }

  /** The plaintext of a block, or undefined when the tag does not match. */
  decrypt(block: number, ciphertext: Uint8Array, tag: Uint8Array): Buffer | undefined {
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonceOf(block), TAG_OPTIONS)
    decipher.setAuthTag(tag)
    const plaintext = decipher.update(ciphertext)
    try {
      decipher.final()
    } catch {
      return undefined
    }
    return plaintext
  }
}

/** The same memory each time, to save an allocation: Node copies it. */
const nonce = Buffer.alloc(NONCE_BYTES)

function nonceOf(block: number): Buffer {
  nonce.writeUIntBE(block, NONCE_BYTES - 6, 6)
  return nonce
}
