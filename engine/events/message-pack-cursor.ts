import { skipValue } from './skip-message-pack.ts'

const NIL = 0xc0
const FALSE = 0xc2
const TRUE = 0xc3

/**
 * Reads values of MessagePack in place, one after the other, without building objects for values that are skipped. A
 * value of another kind than asked for is left unread, and the caller decodes the whole entry.
 */
export class MessagePackCursor {
  /** Offset of the next value. */
  at = 0
  /** The text that `text` found last: offset of its first byte, and offset after its last. */
  start = 0
  end = 0
  #bytes: Buffer = Buffer.alloc(0)

  begin(bytes: Buffer, at: number): void {
    this.#bytes = bytes
    this.at = at
  }

  /** @throws RangeError when the bytes are not MessagePack */
  skip(count: number): void {
    for (let index = 0; index < count; index += 1) this.at = skipValue(this.#bytes, this.at)
  }

  /** Number of values of an array, of which the first is the next value; -1 for anything else. */
  array(): number {
    const first = this.#bytes[this.at] as number
    if ((first & 0xf0) === 0x90) {
      this.at += 1
      return first & 0x0f
    }
    if (first !== 0xdc) return -1
    const count = this.#bytes.readUInt16BE(this.at + 1)
    this.at += 3
    return count
  }

  /** Whether a text is next; then `start` and `end` are its bytes. */
  text(): boolean {
    const first = this.#bytes[this.at] as number
    if (first >= 0xa0 && first <= 0xbf) this.#textAfter(1, first & 0x1f)
    else if (first === 0xd9) this.#textAfter(2, this.#bytes[this.at + 1] as number)
    else if (first === 0xda) this.#textAfter(3, this.#bytes.readUInt16BE(this.at + 1))
    else return false
    return true
  }

  #textAfter(head: number, length: number): void {
    this.start = this.at + head
    this.end = this.start + length
    this.at = this.end
  }

  /** A whole number from 0; -1 for anything else. */
  whole(): number {
    const bytes = this.#bytes
    const at = this.at
    const first = bytes[at] as number
    if (first <= 0x7f) return this.#number(1, first)
    if (first === 0xcc) return this.#number(2, bytes[at + 1] as number)
    if (first === 0xcd) return this.#number(3, bytes.readUInt16BE(at + 1))
    if (first === 0xce) return this.#number(5, bytes.readUInt32BE(at + 1))
    // Beyond 32 bits the encoder writes numbers as floating point, in which every safe integer is exact.
    const large = first === 0xcb ? bytes.readDoubleBE(at + 1) : -1
    return large >= 0 && Number.isSafeInteger(large) ? this.#number(9, large) : -1
  }

  #number(length: number, value: number): number {
    this.at += length
    return value
  }

  /** The flag that is next; undefined for anything else. */
  flag(): boolean | undefined {
    const first = this.#bytes[this.at]
    if (first !== TRUE && first !== FALSE) return undefined
    this.at += 1
    return first === TRUE
  }

  /** Whether nil is next, which it then passes. */
  nil(): boolean {
    if (this.#bytes[this.at] !== NIL) return false
    this.at += 1
    return true
  }
}
