/** Collects the fields of a canonical encoding. Integers are big-endian; lengths are 4 bytes and precede the bytes. */
export class ByteWriter {
  readonly #pieces: Uint8Array[] = []
  readonly #encoder = new TextEncoder()

  finish(): Uint8Array {
    const whole = new Uint8Array(this.#pieces.reduce((length, piece) => length + piece.length, 0))
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return whole
  }

  raw(bytes: Uint8Array): this {
    this.#pieces.push(bytes)
    return this
  }

  u8(value: number): this {
    return this.#integer(BigInt(value), 1)
  }

  u16(value: number): this {
    return this.#integer(BigInt(value), 2)
  }

  u32(value: number): this {
    return this.#integer(BigInt(value), 4)
  }

  /** `value`: a whole number below 2^53. */
  u64(value: number): this {
    return this.#integer(BigInt(value), 8)
  }

  /** Two's complement. */
  i64(value: bigint): this {
    return this.#integer(value, 8)
  }

  /** Length, then the bytes. */
  bytes(value: Uint8Array): this {
    return this.u32(value.length).raw(value)
  }

  /** Length in bytes, then UTF-8. */
  text(value: string): this {
    return this.bytes(this.#encoder.encode(value))
  }

  #integer(value: bigint, size: 1 | 2 | 4 | 8): this {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setBigInt64(0, value)
    return this.raw(bytes.subarray(8 - size))
  }
}
