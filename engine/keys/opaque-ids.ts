import type { Sequence } from '../brands.ts'
import { type Cipher, createCipheriv, createDecipheriv } from 'node:crypto'

const BLOCK_BYTES = 16
const SEQUENCE_AT = 8
/** 16 bytes in base64url. */
const ID_LENGTH = 22
const HIGH = 2 ** 32

/**
 * The ids of versions and uploads that clients see. An id is eight zero bytes and the sequence of an entry, encrypted as
 * one AES-256 block: it does not reveal the number of writes, cannot be guessed, and is decoded without a table. The
 * zeros prove that this store issued the id. `Id` is the kind of number.
 */
export class OpaqueIds<Id extends number = Sequence> {
  readonly #encrypt: Cipher
  readonly #decrypt: Cipher
  readonly #block = Buffer.alloc(BLOCK_BYTES)

  /** `key`: 32 bytes, one for each kind of thing, the same after a restart. */
  constructor(key: Uint8Array) {
    this.#encrypt = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
    // Without padding a cipher returns one block for each block at once, so one object can be used again and again.
    this.#decrypt = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  }

  /** 22 characters of base64url, the last one moved to the front. */
  encode(sequence: Id): string {
    writeSequence(this.#block, sequence, SEQUENCE_AT)
    return turned(this.#encrypt.update(this.#block).toString('base64url'))
  }

  /** The ids of many sequences, with one call of the cipher. */
  encodeAll(sequences: readonly Id[]): string[] {
    const blocks = Buffer.alloc(sequences.length * BLOCK_BYTES)
    sequences.forEach((sequence, index) => writeSequence(blocks, sequence, index * BLOCK_BYTES + SEQUENCE_AT))
    const encrypted = this.#encrypt.update(blocks)
    return sequences.map((_, index) => {
      const at = index * BLOCK_BYTES
      return turned(encrypted.toString('base64url', at, at + BLOCK_BYTES))
    })
  }

  /** The sequence, or undefined for an id that this store never issued. */
  decode(id: string): Id | undefined {
    if (id.length !== ID_LENGTH) return undefined
    const text = id.slice(1) + id.charAt(0)
    const bytes = Buffer.from(text, 'base64url')
    // Node's decoder skips characters that are not base64url, and several texts would decode to the same id.
    if (bytes.length !== BLOCK_BYTES || bytes.toString('base64url') !== text) return undefined
    const block = this.#decrypt.update(bytes)
    if (block.readBigUInt64BE(0) !== 0n) return undefined
    return (block.readUInt32BE(SEQUENCE_AT) * HIGH + block.readUInt32BE(SEQUENCE_AT + 4)) as Id
  }
}

/**
 * Moves the last character, which has two bits and is never a hyphen, to the front: an id with a leading hyphen would
 * be an option on a command line.
 */
function turned(text: string): string {
  return text.slice(-1) + text.slice(0, -1)
}

function writeSequence(target: Buffer, sequence: number, at: number): void {
  target.writeUInt32BE(Math.floor(sequence / HIGH), at)
  target.writeUInt32BE(sequence >>> 0, at + 4)
}
