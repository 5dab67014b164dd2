import { type CipherGCM, createCipheriv, createDecipheriv, hash } from 'node:crypto'

/**
 * Encryption of payloads at rest: AES-256-GCM (NIST SP 800-38D) under a key of each payload's own, which is derived from
 * an id that is never used twice. So no two messages share a key and a nonce, whatever crashes
 * (spec/formats/payloads.md; specification, Encryption at rest).
 */
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
export const TAG_BYTES = 16
const TAG_OPTIONS = { authTagLength: TAG_BYTES }

/** A payload in a volume: version | key id | ciphertext | tag. */
export const ENVELOPE = {
  version: 1,
  keyIdAt: 1,
  keyIdBytes: 14,
  ciphertextAt: 15,
  /** Bytes beside the ciphertext, which is as long as the payload. */
  overheadBytes: 15 + TAG_BYTES,
} as const

/** What a key is for; the same id never gives the same key for both. */
const PURPOSES = {
  volume: Buffer.from('object-store/payload-in-volume/v1'),
  file: Buffer.from('object-store/payload-in-file/v1'),
} as const

/** Seals payloads and opens them. It keeps the key that all their keys are derived from; one per thread. */
export class PayloadSealer {
  readonly #keys: Record<keyof typeof PURPOSES, KeyDerivation>
  /** Of the payload in a volume that is sealed or opened right now: one at a time, and none is needed afterwards. */
  readonly #volumeKey = Buffer.alloc(KEY_BYTES)

  /** `key`: 32 bytes, derived from the master key and used for nothing else. */
  constructor(key: Uint8Array) {
    this.#keys = { volume: new KeyDerivation(key, PURPOSES.volume), file: new KeyDerivation(key, PURPOSES.file) }
  }

  /**
   * The envelope of a small payload, in memory that it fills alone.
   * @param keyId 14 bytes, never given before
   */
  seal(keyId: Uint8Array, bytes: Uint8Array): Buffer {
    const envelope = Buffer.allocUnsafeSlow(bytes.length + ENVELOPE.overheadBytes)
    envelope[0] = ENVELOPE.version
    envelope.set(keyId, ENVELOPE.keyIdAt)
    const cipher = this.#keys.volume.keyOf(keyId, this.#volumeKey).cipher(0)
    envelope.set(cipher.update(bytes), ENVELOPE.ciphertextAt)
    cipher.final()
    envelope.set(cipher.getAuthTag(), envelope.length - TAG_BYTES)
    return envelope
  }

  /** The payload in an envelope, in memory of its own; undefined when it is damaged or sealed with another key. */
  open(envelope: Buffer): Buffer | undefined {
    if (envelope.length < ENVELOPE.overheadBytes || envelope[0] !== ENVELOPE.version) return undefined
    const keyId = envelope.subarray(ENVELOPE.keyIdAt, ENVELOPE.keyIdAt + ENVELOPE.keyIdBytes)
    const tagAt = envelope.length - TAG_BYTES
    const ciphertext = envelope.subarray(ENVELOPE.ciphertextAt, tagAt)
    return this.#keys.volume.keyOf(keyId, this.#volumeKey).decrypt(0, ciphertext, envelope.subarray(tagAt))
  }

  /** The key of a payload file; its name, 28 hexadecimal digits, is the id. */
  fileKey(name: string): PayloadKey {
    return this.#keys.file.keyOf(Buffer.from(name, 'hex'), Buffer.alloc(KEY_BYTES))
  }
}

const HASH_BLOCK_BYTES = 64
const HASH_BYTES = 32

/**
 * HKDF-Expand (RFC 5869 section 2.3) for 32 bytes, which is one block of HMAC-SHA256 (RFC 2104): the hash of the outer
 * block and the hash of the inner block with what is expanded. Two plain hashes of prepared memory take half as long
 * as an HMAC of the platform, of whose objects each has to be collected.
 */
class KeyDerivation {
  readonly #inner: Buffer
  readonly #outer: Buffer
  readonly #keyIdAt: number

  /** @param key at most 64 bytes */
  constructor(key: Uint8Array, purpose: Uint8Array) {
    const padded = Buffer.concat([key], HASH_BLOCK_BYTES)
    const afterwards = Buffer.concat([purpose, Buffer.alloc(ENVELOPE.keyIdBytes), Buffer.of(1)])
    this.#inner = Buffer.concat([padded.map((byte) => byte ^ 0x36), afterwards])
    this.#outer = Buffer.concat([padded.map((byte) => byte ^ 0x5c), Buffer.alloc(HASH_BYTES)])
    this.#keyIdAt = HASH_BLOCK_BYTES + purpose.length
  }

  /**
   * @param keyId 14 bytes
   * @param key 32 bytes of memory for the key
   */
  keyOf(keyId: Uint8Array, key: Buffer): PayloadKey {
    this.#inner.set(keyId, this.#keyIdAt)
    // As strings of bytes: a hash that gives a buffer allocates it, and takes four times as long.
    this.#outer.write(hash('sha256', this.#inner, 'binary'), HASH_BLOCK_BYTES, 'binary')
    key.write(hash('sha256', this.#outer, 'binary'), 'binary')
    return new PayloadKey(key)
  }
}

/** The key of one payload. The nonce is the number of a block, so each block may be encrypted once. */
export class PayloadKey {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Encrypts a block; its tag is there after `final`, which gives no more bytes. */
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

/** The same memory each time: the platform copies it, and copying it out of new memory costs an allocation more. */
const nonce = Buffer.alloc(NONCE_BYTES)

function nonceOf(block: number): Buffer {
  nonce.writeUIntBE(block, NONCE_BYTES - 6, 6)
  return nonce
}
