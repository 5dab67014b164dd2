/** The part of DER (X.690) that time stamps need: definite lengths, tags of one byte. */

/** Bytes do not have the form of DER. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

interface DerValue {
  /** Class, form and number. */
  readonly tag: number
  readonly content: Buffer
}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  octets: 0x04,
  oid: 0x06,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const
/** `[0]` around another value. */
export const DER_EXPLICIT_0 = 0xa0

const LENGTH_BYTES_MAXIMUM = 4
/** The number of a tag is in further bytes. */
const LONG_TAG = 0x1f

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  if (content.length > 0xff) throw new DerError('a value of more than 255 bytes is not written here')
  const length = content.length < 0x80 ? Buffer.of(content.length) : Buffer.of(0x81, content.length)
  return Buffer.concat([Buffer.of(tag), length, content])
}

/** Reads values one after another. */
export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** The tag of the next value; undefined at the end. */
  get tag(): number | undefined {
    return this.#bytes[this.#at]
  }

  /** The contents of the next value, which has this tag. @throws DerError */
  take(tag: number): Buffer {
    const value = this.next()
    if (value.tag !== tag) throw new DerError(`tag ${tag} expected, ${value.tag} found`)
    return value.content
  }

  /** A reader of the contents of the next value. @throws DerError */
  enter(tag: number): DerReader {
    return new DerReader(this.take(tag))
  }

  /** @throws DerError */
  next(): DerValue {
    const tag = this.#byte()
    if ((tag & LONG_TAG) === LONG_TAG) throw new DerError('a tag of several bytes')
    const length = this.#length()
    const content = this.#bytes.subarray(this.#at, this.#at + length)
    if (content.length < length) throw new DerError('a value ends before its length')
    this.#at += length
    return { tag, content }
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    const count = first - 0x80
    if (count < 1 || count > LENGTH_BYTES_MAXIMUM) throw new DerError('a length that is not definite, or too long')
    let length = 0
    for (let index = 0; index < count; index += 1) length = length * 256 + this.#byte()
    return length
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new DerError('the bytes end in the middle of a value')
    this.#at += 1
    return byte
  }
}
