/**
 * Makes the WebAssembly module that `row-hashing.ts` runs: SHA-256 (FIPS 180-4) of four nodes of a tree at a time, one in each
 * lane of 128-bit vectors. The nodes of a row do not wait for each other, their messages have one form, and a call of node:crypto
 * for each takes several times as long as the hash.
 */
import {
  type Code,
  i32Add,
  i32Constant,
  i32Subtract,
  join,
  localGet,
  localSet,
  localTee,
  repeated,
  simd,
  unsigned,
  V128,
  type WasmFunction,
  wasmModule,
} from '../hashing/wasm-code.ts'

/** Nodes in one vector. */
export const LANES = 4
const HASH_BYTES = 32
const WORD_BYTES = 4
const BLOCK_WORDS = 16
const BLOCK_BYTES = BLOCK_WORDS * WORD_BYTES
const STATE_WORDS = HASH_BYTES / WORD_BYTES
const ROUNDS = 64
const LENGTH_BYTES = 8

/** A message: bytes that all have, and then `dataBytes` of a row. */
interface MessageForm {
  readonly name: string
  readonly prefix: Uint8Array
  /** 32 or 64: one hash or two. */
  readonly dataBytes: number
}

// Parameters: where to read, where to write, how many vectors.
const [FROM, TO, LEFT] = [0, 1, 2]
const PARAMETERS = 3
/** Words are read from up to three bytes before a hash on. */
const MARGIN = WORD_BYTES

const PRIMES = firstPrimes(ROUNDS)
const CONSTANTS = PRIMES.map((prime) => fractionOf(Math.cbrt(prime)))
const INITIAL = PRIMES.slice(0, STATE_WORDS).map((prime) => fractionOf(Math.sqrt(prime)))

const WORDS = Array.from({ length: BLOCK_WORDS }, (_, word) => PARAMETERS + word)
const STATE = Array.from({ length: STATE_WORDS }, (_, word) => PARAMETERS + BLOCK_WORDS + word)
const BEFORE = STATE.map((local) => local + STATE_WORDS)
const SUM = PARAMETERS + BLOCK_WORDS + 2 * STATE_WORDS
const OTHER = SUM + 1
const VECTORS = OTHER + 1 - PARAMETERS

const add = simd(174)
const and = simd(78)
const or = simd(80)
const xor = simd(81)
/** Of (a, b, mask): a where the mask has ones, b elsewhere. */
const select = simd(82)
const constant = (value: number): Code => join(i32Constant(value), simd(17))
const shiftedRight = (local: number, bits: number): Code => join(localGet(local), i32Constant(bits), simd(173))
const rotatedRight = (local: number, bits: number): Code =>
  join(shiftedRight(local, bits), localGet(local), i32Constant(32 - bits), simd(171), or)

/** A module with a function (from, to, vectors) for each form, on its memory. A row may be written where it is read. */
export function sha256RowsModule(forms: readonly MessageForm[], memoryBytes: number): Uint8Array<ArrayBuffer> {
  return wasmModule(forms.map(rowFunction), memoryBytes)
}

function rowFunction(form: MessageForm): WasmFunction {
  const { name, prefix, dataBytes } = form
  const blocks = Math.ceil((prefix.length + dataBytes + 1 + LENGTH_BYTES) / BLOCK_BYTES)
  const code = join(
    join(localGet(FROM), i32Constant(MARGIN), i32Subtract, localSet(FROM)),
    repeated(
      join(
        STATE.flatMap((local, word) => join(constant(INITIAL[word] as number), localSet(local))),
        Array.from({ length: blocks }, (_, block) => blockOf(form, block)).flat(),
        STATE.flatMap(storeWord),
        join(localGet(FROM), i32Constant(LANES * dataBytes), i32Add, localSet(FROM)),
        join(localGet(TO), i32Constant(LANES * HASH_BYTES), i32Add, localSet(TO)),
        join(localGet(LEFT), i32Constant(1), i32Subtract, localTee(LEFT)),
      ),
    ),
  )
  return { name, parameters: PARAMETERS, locals: [{ count: VECTORS, type: V128 }], code }
}

function blockOf(form: MessageForm, block: number): Code {
  return join(
    WORDS.flatMap((local, word) => join(messageWord(form, block * BLOCK_WORDS + word), localSet(local))),
    STATE.flatMap((local, word) => join(localGet(local), localSet(BEFORE[word] as number))),
    CONSTANTS.flatMap((_, round) => roundOf(round)),
    STATE.flatMap((local, word) => join(localGet(local), localGet(BEFORE[word] as number), add, localSet(local))),
  )
}

/** One round. The state stays in its locals and changes its names instead, and 64 rounds bring them back. */
function roundOf(round: number): Code {
  const [a, b, c, d, e, f, g, h] = STATE.map((_, word) => STATE[(word + ROUNDS - round) % STATE_WORDS]) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const word = WORDS[round % BLOCK_WORDS] as number
  return join(
    round < BLOCK_WORDS ? [] : scheduled(round),
    join(localGet(h), localGet(word), constant(CONSTANTS[round] as number), add, add),
    join(rotatedRight(e, 6), rotatedRight(e, 11), xor, rotatedRight(e, 25), xor, add),
    join(localGet(f), localGet(g), localGet(e), select, add, localTee(SUM)),
    join(localGet(d), add, localSet(d)),
    join(localGet(SUM), rotatedRight(a, 2), rotatedRight(a, 13), xor, rotatedRight(a, 22), xor, add),
    // The majority of a, b and c: c where a and b differ.
    join(localGet(c), localGet(a), localGet(a), localGet(b), xor, select, add, localSet(h)),
  )
}

function scheduled(round: number): Code {
  const at = (back: number): number => WORDS[(round - back) % BLOCK_WORDS] as number
  return join(
    join(localGet(at(16)), mixed(at(15), 7, 18, 3), add),
    join(localGet(at(7)), add, mixed(at(2), 17, 19, 10), add, localSet(at(16))),
  )
}

/** Sigma of the schedule: two rotations and a shift. */
function mixed(local: number, one: number, two: number, shift: number): Code {
  return join(rotatedRight(local, one), rotatedRight(local, two), xor, shiftedRight(local, shift), xor)
}

/** A word of the four messages: bytes that all have, bytes of a row, or some of each. */
function messageWord({ prefix, dataBytes }: MessageForm, word: number): Code {
  const end = prefix.length + dataBytes
  const bits = BigInt(end * 8)
  const blocks = Math.ceil((end + 1 + LENGTH_BYTES) / BLOCK_BYTES)
  let [fixed, mask] = [0, 0]
  for (let index = 0; index < WORD_BYTES; index += 1) {
    const at = word * WORD_BYTES + index
    const isData = at >= prefix.length && at < end
    const fromEnd = BigInt(blocks * BLOCK_BYTES - 1 - at)
    const padding = at === end ? 0x80 : fromEnd < LENGTH_BYTES ? Number((bits >> (fromEnd * 8n)) & 0xffn) : 0
    fixed = (fixed << 8) | (isData ? 0 : (prefix[at] ?? padding))
    mask = (mask << 8) | (isData ? 0xff : 0)
  }
  if (mask === 0) return constant(fixed)
  const loaded = loadWord(MARGIN + word * WORD_BYTES - prefix.length, dataBytes)
  return mask === -1 ? loaded : join(loaded, constant(mask), and, constant(fixed), or)
}

/** Big-endian words of four neighbours. */
function loadWord(offset: number, stride: number): Code {
  return join(
    [3, 2, 1].flatMap(() => localGet(FROM)),
    join(localGet(FROM), simd(9), [0, ...unsigned(offset)]),
    [1, 2, 3].flatMap((lane) => join(simd(0x56), [0, ...unsigned(offset + lane * stride), lane])),
    swapped(),
  )
}

function storeWord(local: number, word: number): Code {
  const lanes = [0, 1, 2, 3].flatMap((lane) =>
    join(localGet(TO), localGet(OTHER), simd(0x5a), [0, ...unsigned(lane * HASH_BYTES + word * WORD_BYTES), lane]),
  )
  return join(localGet(local), swapped(), localSet(OTHER), lanes)
}

/** The vector on the stack with the bytes of each word in the other order. */
function swapped(): Code {
  const bytes = Array.from({ length: 16 }, (_, byte) => byte - (byte % WORD_BYTES) + (3 - (byte % WORD_BYTES)))
  return join(localTee(OTHER), localGet(OTHER), simd(13), bytes)
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  return primes
}

/** The first 32 bits after the point. */
function fractionOf(root: number): number {
  return Math.floor((root % 1) * 2 ** 32)
}
