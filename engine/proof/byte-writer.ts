/** Gathers the fields of a canonical encoding. Integers are big-endian; lengths are 4 bytes and stand before the bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(1024)
  #view = new DataView(this.#bytes.buffer)
  #length = 0
  readonly #encoder = new TextEncoder()

  /** What was written, in memory of its own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  raw(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#reserve(bytes.length))
    return this
  }

  u8(value: number): this {
    this.#view.setUint8(this.#reserve(1), value)
    return this
  }

  u16(value: number): this {
    this.#view.setUint16(this.#reserve(2), value)
    return this
  }

  u32(value: number): this {
    this.#view.setUint32(this.#reserve(4), value)
    return this
  }

  /** `value`: a whole number below 2^53. */
  u64(value: number): this {
    this.#view.setBigUint64(this.#reserve(8), BigInt(value))
    return this
  }

  i64(value: bigint): this {
    this.#view.setBigInt64(this.#reserve(8), value)
    return this
  }

  /** Length, then the bytes. */
  bytes(value: Uint8Array): this {
    return this.u32(value.length).raw(value)
  }

  /** Length in bytes, then UTF-8. */
  text(value: string): this {
    return this.bytes(this.#encoder.encode(value))
  }

  /** Makes room; gives the offset of it. */
  #reserve(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, at))
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }
}
