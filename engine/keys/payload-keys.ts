import { hash } from 'node:crypto'

/** Bytes of the id that the key of a payload is derived from; no id is used twice. */
export const PAYLOAD_KEY_ID_BYTES = 14
export const PAYLOAD_KEY_BYTES = 32

const HASH_BLOCK_BYTES = 64
const HASH_BYTES = 32

/**
 * HKDF-Expand (RFC 5869 section 2.3) for 32 bytes, which is one block of HMAC-SHA256 (RFC 2104): the hash of the outer
 * block and the hash of the inner block with what is expanded. Two plain hashes of prepared memory take half as long as
 * an HMAC of Node.js, which also leaves an object to the garbage collector.
 */
export class PayloadKeyDerivation {
  readonly #inner: Buffer
  readonly #outer: Buffer
  readonly #keyIdAt: number

  /** @param key at most 64 bytes */
  constructor(key: Uint8Array, label: string) {
    const padded = Buffer.concat([key], HASH_BLOCK_BYTES)
    const expanded = Buffer.concat([Buffer.from(label), Buffer.alloc(PAYLOAD_KEY_ID_BYTES), Buffer.of(1)])
    this.#inner = Buffer.concat([padded.map((byte) => byte ^ 0x36), expanded])
    this.#outer = Buffer.concat([padded.map((byte) => byte ^ 0x5c), Buffer.alloc(HASH_BYTES)])
    this.#keyIdAt = this.#inner.length - PAYLOAD_KEY_ID_BYTES - 1
  }

  /**
   * Writes the key of a payload.
   * @param keyId 14 bytes
   * @param key 32 bytes of memory for the key
   * @returns `key`
   */
  derive(keyId: Uint8Array, key: Buffer): Buffer {
    this.#inner.set(keyId, this.#keyIdAt)
    // As binary strings: a hash that returns a buffer allocates it and takes four times as long.
    this.#outer.write(hash('sha256', this.#inner, 'binary'), HASH_BLOCK_BYTES, 'binary')
    key.write(hash('sha256', this.#outer, 'binary'), 'binary')
    return key
  }
}
