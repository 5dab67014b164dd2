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
  /** Bytes on top of the ciphertext, which is as long as the payload. */
  overheadBytes: 1 + PAYLOAD_KEY_ID_BYTES + TAG_BYTES,
} as const

/** Seals and opens payloads. It has the keys that their keys are derived from; one per thread. */
export class PayloadSealer {
  /** The newest, which seals, first. */
  readonly #generations: readonly KeyGeneration[]
  /** Which of them opened a payload in a volume last: most likely it opens the next one too. */
  #opening = 0

  /** `key`: `payloads` of the store's keys; `earlier`: keys that payloads may still be sealed with. */
  constructor(key: Uint8Array, earlier: readonly Uint8Array[] = []) {
    this.#generations = [key, ...earlier].map((one) => new KeyGeneration(one))
  }

  /**
   * The envelope of a small payload, in memory that it fills alone.
   * @param keyId 14 bytes, never given before
   */
  seal(keyId: Uint8Array, bytes: Uint8Array): Buffer {
    const envelope = Buffer.allocUnsafeSlow(bytes.length + ENVELOPE.overheadBytes)
    envelope[0] = ENVELOPE.version
    envelope.set(keyId, ENVELOPE.keyIdAt)
    const cipher = this.#sealing.inVolume(keyId).cipher(0)
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
    for (const generation of inTurn(this.#generations.length, this.#opening)) {
      const key = (this.#generations[generation] as KeyGeneration).inVolume(keyId)
      const payload = key.decrypt(0, ciphertext, envelope.subarray(tagAt))
      if (payload === undefined) continue
      this.#opening = generation
      return payload
    }
    return undefined
  }

  /** The key of a payload file; its name, 28 hexadecimal digits, is the id. */
  fileKey(name: string): PayloadKey {
    return new PayloadKey(this.#generations.map((generation) => generation.inFile(name)))
  }

  get #sealing(): KeyGeneration {
    return this.#generations[0] as KeyGeneration
  }
}

/** The numbers below `count`, `first` before the others. */
function* inTurn(count: number, first: number): Iterable<number> {
  yield first
  for (let one = 0; one < count; one += 1) if (one !== first) yield one
}

/** The keys that one master key gives. */
class KeyGeneration {
  readonly #volumeKeys: PayloadKeyDerivation
  readonly #fileKeys: PayloadKeyDerivation
  /** The key of the one payload in a volume that is being sealed or opened. */
  readonly #volumeKey = Buffer.alloc(PAYLOAD_KEY_BYTES)

  constructor(key: Uint8Array) {
    this.#volumeKeys = new PayloadKeyDerivation(key, PAYLOAD_KEY_LABELS.volume)
    this.#fileKeys = new PayloadKeyDerivation(key, PAYLOAD_KEY_LABELS.file)
  }

  inVolume(keyId: Uint8Array): PayloadKey {
    return new PayloadKey([this.#volumeKeys.derive(keyId, this.#volumeKey)])
  }

  inFile(name: string): Buffer {
    return this.#fileKeys.derive(Buffer.from(name, 'hex'), Buffer.alloc(PAYLOAD_KEY_BYTES))
  }
}

/** The key of one payload. The nonce is the number of the block, so each block may be encrypted only once. */
export class PayloadKey {
  /** The key that encrypts first, then the keys of earlier master keys. */
  readonly #keys: readonly Buffer[]
  /** Which of them decrypted a block: it does so for all of the payload. */
  #decrypting = 0

  constructor(keys: readonly Buffer[]) {
    this.#keys = keys
  }

  /** Encrypts a block; its tag is available after `final`, which returns no more bytes. */
  cipher(block: number): CipherGCM {
    return createCipheriv(ALGORITHM, this.#keys[0] as Buffer, nonceOf(block), TAG_OPTIONS)
  }

  /** The plaintext of a block, or undefined when the tag does not match. */
  decrypt(block: number, ciphertext: Uint8Array, tag: Uint8Array): Buffer | undefined {
    for (const one of inTurn(this.#keys.length, this.#decrypting)) {
      const plaintext = decrypted(this.#keys[one] as Buffer, block, ciphertext, tag)
      if (plaintext === undefined) continue
      this.#decrypting = one
      return plaintext
    }
    return undefined
  }
}

function decrypted(key: Buffer, block: number, ciphertext: Uint8Array, tag: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, nonceOf(block), TAG_OPTIONS)
  decipher.setAuthTag(tag)
  const plaintext = decipher.update(ciphertext)
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return plaintext
}

/** The same memory each time, to save an allocation: Node copies it. */
const nonce = Buffer.alloc(NONCE_BYTES)

function nonceOf(block: number): Buffer {
  nonce.writeUIntBE(block, NONCE_BYTES - 6, 6)
  return nonce
}
