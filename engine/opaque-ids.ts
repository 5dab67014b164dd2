import { type Cipher, createCipheriv, createDecipheriv } from 'node:crypto'

const BLOCK_BYTES = 16
const SEQUENCE_AT = 8
/** 16 bytes in base64url. */
const ID_LENGTH = 22
const HIGH = 2 ** 32

/**
 * Ids that clients see for things which the journal numbers: versions, uploads. An id is the sequence of an entry
 * behind eight zero bytes, encrypted as one AES-256 block: it tells nothing about the number of writes, cannot be
 * guessed, and needs no table to be turned back. The zeros prove that an id was given out by this store.
 */
export class OpaqueIds {
  readonly #encrypt: Cipher
  readonly #decrypt: Cipher
  readonly #block = Buffer.alloc(BLOCK_BYTES)

  /** `key`: 32 bytes, one for each kind of thing, the same after a restart. */
  constructor(key: Uint8Array) {
    this.#encrypt = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
    // Without padding a cipher gives one block for each block at once, so one object serves for ever.
    this.#decrypt = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  }

  /** 22 characters of base64url, the last of the text first. */
  encode(sequence: number): string {
    writeSequence(this.#block, sequence, SEQUENCE_AT)
    return turned(this.#encrypt.update(this.#block).toString('base64url'))
  }

  /** The ids of many sequences: the cipher is called once for all of them. */
  encodeAll(sequences: readonly number[]): string[] {
    const blocks = Buffer.alloc(sequences.length * BLOCK_BYTES)
    sequences.forEach((sequence, index) => writeSequence(blocks, sequence, index * BLOCK_BYTES + SEQUENCE_AT))
    const encrypted = this.#encrypt.update(blocks)
    return sequences.map((_, index) => {
      const at = index * BLOCK_BYTES
      return turned(encrypted.toString('base64url', at, at + BLOCK_BYTES))
    })
  }

  /** The sequence, or undefined for a text that this store never gave out. */
  decode(id: string): number | undefined {
    if (id.length !== ID_LENGTH) return undefined
    const text = id.slice(1) + id.charAt(0)
    const bytes = Buffer.from(text, 'base64url')
    // The platform's decoder skips what is no base64url, so that many texts would be the same id.
    if (bytes.length !== BLOCK_BYTES || bytes.toString('base64url') !== text) return undefined
    const block = this.#decrypt.update(bytes)
    if (block.readBigUInt64BE(0) !== 0n) return undefined
    return block.readUInt32BE(SEQUENCE_AT) * HIGH + block.readUInt32BE(SEQUENCE_AT + 4)
  }
}

/**
 * The last character of 22 stands for two bits and is never a hyphen. In front it keeps an id from being taken for an
 * option where it is a word of a command line.
 */
function turned(text: string): string {
  return text.slice(-1) + text.slice(0, -1)
}

function writeSequence(target: Buffer, sequence: number, at: number): void {
  target.writeUInt32BE(Math.floor(sequence / HIGH), at)
  target.writeUInt32BE(sequence >>> 0, at + 4)
}
