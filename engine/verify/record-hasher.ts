/**
 * The hash of a record (`spec/formats/journal.md`, "Hash of a record"), computed by @noble/hashes and not by
 * node:crypto, which the server itself uses: two implementations have to agree before a record counts as verified.
 */
import { sha256 } from '@noble/hashes/sha2.js'

const DOMAIN = Buffer.concat([Buffer.from('object-store/journal-record/v1', 'ascii'), Buffer.alloc(2)])
/** Bytes of the hash field; the domain takes its place in the hash input. */
const HASH_BYTES = DOMAIN.length
/** Words of 4 bytes in a hash. */
export const HASH_WORDS = HASH_BYTES / 4

/**
 * Hashes one record after another without allocating more than a view for each. The state after the domain is kept
 * and copied for every record, so that neither the domain is hashed again nor the record copied.
 */
export class RecordHasher {
  readonly #afterDomain = sha256.create().update(DOMAIN)
  readonly #state = sha256.create()
  readonly #digest = new Uint8Array(HASH_BYTES)
  /** The last digest as eight words in the machine's own byte order, comparable with words of a file in memory. */
  readonly words = new Uint32Array(this.#digest.buffer)

  /**
   * Leaves in `words` the hash of the record from `position` to `end` (without padding).
   * @param bytes whole memory of which `position` and `end` are offsets
   */
  hash(bytes: Uint8Array, position: number, end: number): void {
    // oxlint-disable-next-line no-underscore-dangle -- the library's public name for a copy that allocates nothing
    this.#afterDomain._cloneInto(this.#state)
    this.#state.update(bytes.subarray(position + HASH_BYTES, end)).digestInto(this.#digest)
  }

  /** The last digest in hexadecimal. */
  get hexadecimal(): string {
    return Buffer.from(this.#digest.buffer).toString('hex')
  }
}
