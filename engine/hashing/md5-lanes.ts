import { copyInto } from './copy-into.ts'
import { BLOCK_BYTES, bytesAt, md5Module, STATE_WORDS, STEP_BYTES, stateAt, VECTOR_LANES } from './md5-module.ts'

/** The most messages that are hashed at a time. */
export const LANES = 2 * VECTOR_LANES
const LENGTH_BYTES = 8
const INITIAL_STATE = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]

type Hashing = (blocks: number) => void

/** An MD5 in the making: its state after the whole blocks so far. */
export class Md5State {
  readonly words = Uint32Array.from(INITIAL_STATE)
  /** Of the blocks so far. */
  bytes = 0
}

/** The next bytes of a message. */
export interface Lane {
  readonly state: Md5State
  readonly bytes: Uint8Array
  /** Where they begin in `bytes`. */
  readonly at: number
}

/**
 * MD5 of up to eight messages at a time in one thread: of four not quite three times, of eight four times the bytes a second
 * of one (spec/decisions/0093-large-uploads.md).
 */
export class Md5Lanes {
  readonly #memory: Buffer
  readonly #words: Uint32Array
  readonly #one: Hashing
  readonly #four: Hashing
  readonly #eight: Hashing

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(md5Module()))
    const { memory, one, four, eight } = exports as {
      readonly memory: WebAssembly.Memory
      readonly one: Hashing
      readonly four: Hashing
      readonly eight: Hashing
    }
    this.#memory = Buffer.from(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
    this.#one = one
    this.#four = four
    this.#eight = eight
  }

  /**
   * Takes `length` bytes of each message, whole blocks of 64 and at most `STEP_BYTES`.
   * @param lanes one to eight of different messages
   */
  update(lanes: readonly Lane[], length: number): void {
    if (length === 0 || length % BLOCK_BYTES !== 0 || length > STEP_BYTES || lanes.length > LANES) {
      throw new RangeError(`${length} bytes of ${lanes.length} messages cannot be hashed at once`)
    }
    for (const [index, { state, bytes, at }] of lanes.entries()) {
      copyInto(this.#memory, bytes.subarray(at, at + length), bytesAt(index))
      for (let word = 0; word < STATE_WORDS; word += 1)
        this.#words[stateAt(index, word) / 4] = state.words[word] as number
    }
    if (lanes.length === 1) this.#one(length / BLOCK_BYTES)
    else if (lanes.length <= VECTOR_LANES) this.#four(length / BLOCK_BYTES)
    else this.#eight(length / BLOCK_BYTES)
    for (const [index, { state }] of lanes.entries()) {
      state.bytes += length
      for (let word = 0; word < STATE_WORDS; word += 1)
        state.words[word] = this.#words[stateAt(index, word) / 4] as number
    }
  }

  /** The digest of a message that ends with `rest`, less than a block. */
  digest(state: Md5State, rest: Uint8Array): Buffer {
    const padded = Buffer.alloc(rest.length + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES)
    padded.set(rest)
    padded[rest.length] = 0x80
    padded.writeBigUInt64LE(BigInt(state.bytes + rest.length) * 8n, padded.length - LENGTH_BYTES)
    this.update([{ state, bytes: padded, at: 0 }], padded.length)
    const digest = Buffer.alloc(STATE_WORDS * 4)
    for (const [index, word] of state.words.entries()) digest.writeUInt32LE(word, index * 4)
    return digest
  }
}
