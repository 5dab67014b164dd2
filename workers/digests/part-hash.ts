import { createHash, type Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PayloadId } from '../../engine/brands.ts'
import type { PayloadLocation, PayloadReader } from '../../engine/payloads/payload-reader.ts'

/** The SHA-256 of an object's first parts, and of the start of the next part: it continues where it stopped. */
export class PartHash {
  readonly #hash: Hash
  #count: number
  #offset = 0
  #begun: PayloadId | undefined

  /** @param count parts that `hash` is of */
  constructor(hash = createHash('sha256'), count = 0) {
    this.#hash = hash
    this.#count = count
  }

  /** Parts hashed whole. */
  get count(): number {
    return this.#count
  }

  /** The part that is hashed in part; undefined where the last one was hashed whole. */
  get begun(): PayloadId | undefined {
    return this.#begun
  }

  /** Of the bytes so far; it can go on afterwards. */
  digest(): Buffer {
    return this.#hash.copy().digest()
  }

  /** A copy that continues by itself after the parts hashed whole, without a started part. */
  copy(): PartHash {
    return new PartHash(this.#hash.copy(), this.#count)
  }

  /**
   * Hashes some more of the next part.
   * @param payload its id; undefined for a part of no bytes
   * @param location of its bytes; undefined for a removed part
   * @param maximum bytes after which it stops, at the end of the current read
   * @returns bytes that were hashed
   * @throws as PayloadReader; it can continue afterwards
   */
  async readOn(
    reader: PayloadReader,
    payload: PayloadId | undefined,
    location: PayloadLocation | undefined,
    maximum: number,
  ): Promise<number> {
    if (payload === undefined) return this.#endPart(0)
    this.#begun = payload
    if (location?.kind === 'volume') {
      const bytes = reader.readSmall(location)
      this.#hash.update(bytes)
      return this.#endPart(bytes.length)
    }
    if (location?.kind !== 'file') throw new Error(`payload ${payload} is not there to be hashed`)
    const start = this.#offset
    const end = Math.min(location.length, start + maximum)
    const source = await reader.openLarge(location, start, end)
    try {
      for (let piece = await source.next(); piece !== undefined; piece = await source.next()) {
        this.#hash.update(piece)
        this.#offset += piece.length
        // A piece from the page cache comes without waiting, and requests have their turn between two.
        await nextTurn()
      }
    } finally {
      source.close()
    }
    return this.#offset === location.length ? this.#endPart(end - start) : end - start
  }

  #endPart(bytes: number): number {
    this.#count += 1
    this.#offset = 0
    this.#begun = undefined
    return bytes
  }
}
