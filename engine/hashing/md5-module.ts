/**
 * Makes the WebAssembly module that `md5-lanes.ts` runs: MD5 (RFC 1321) of several messages at a time, one in each lane of
 * 128-bit vectors. Each step of MD5 waits for the one before, so one message leaves most of the processor idle, and several
 * take little longer than one. The code is the same for every number of messages, so it is written here once, by a
 * program, and not six hundred instructions by hand.
 */
import {
  type Code,
  I32,
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
} from './wasm-code.ts'

/** Words of MD5's state, and of a block. */
export const STATE_WORDS = 4
const BLOCK_WORDS = 16
export const BLOCK_BYTES = BLOCK_WORDS * 4
/** Messages in one vector. */
export const VECTOR_LANES = 4
const VECTOR_BYTES = 16

/** The most bytes of each message that one call hashes. */
export const STEP_BYTES = 32 * 1024
/** A message starts a few cache lines after a power of two: otherwise all messages would share the lines of one set. */
const LANE_BYTES = STEP_BYTES + 5 * 64

/** Word `word` of the state of the message in `lane`. */
export function stateAt(lane: number, word: number): number {
  const vector = Math.floor(lane / VECTOR_LANES) * STATE_WORDS + word
  return vector * VECTOR_BYTES + (lane % VECTOR_LANES) * 4
}

/** Where the bytes of the message in `lane` are. */
export function bytesAt(lane: number): number {
  return 1024 + lane * LANE_BYTES
}

/** Constants of the steps, and how far each one rotates. */
const CONSTANTS = Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32))
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const
/** The word of the block that a step of each round takes. */
const WORD_OF_STEP = [
  (step: number) => step,
  (step: number) => (5 * step + 1) % BLOCK_WORDS,
  (step: number) => (3 * step + 5) % BLOCK_WORDS,
  (step: number) => (7 * step) % BLOCK_WORDS,
] as const

const POINTER = 0
const BLOCKS_LEFT = 1
const PARAMETERS = 2

/** Instructions on the words of a state: 32-bit integers, or vectors of four of them. */
interface Words {
  readonly type: number
  load(offset: number): Code
  store(offset: number): Code
  constant(value: number): Code
  readonly add: Code
  readonly and: Code
  readonly or: Code
  readonly xor: Code
  readonly not: Code
  /** The word in a local, rotated. */
  rotated(local: number, bits: number): Code
}

const INTEGERS: Words = {
  type: I32,
  load: (offset) => [0x28, 2, ...unsigned(offset)],
  store: (offset) => [0x36, 2, ...unsigned(offset)],
  constant: i32Constant,
  add: [0x6a],
  and: [0x71],
  or: [0x72],
  xor: [0x73],
  not: [...i32Constant(-1), 0x73],
  rotated: (local, bits) => join(localGet(local), i32Constant(bits), [0x77]),
}

const VECTORS: Words = {
  type: V128,
  load: (offset) => [...simd(0), 4, ...unsigned(offset)],
  store: (offset) => [...simd(11), 4, ...unsigned(offset)],
  constant: (value) => [...i32Constant(value), ...simd(17)],
  add: simd(174),
  and: simd(78),
  or: simd(80),
  xor: simd(81),
  not: simd(77),
  rotated: (local, bits) => {
    const left = join(localGet(local), i32Constant(bits), simd(171))
    const right = join(localGet(local), i32Constant(32 - bits), simd(173))
    return join(left, right, simd(80))
  },
}

/** Locals of the messages that share the vectors of a state, or of the one message of integers. */
interface Group {
  readonly firstLane: number
  readonly state: readonly number[]
  readonly before: readonly number[]
  readonly block: readonly number[]
}

/**
 * A module with the functions `one`, `four` and `eight` (blocks: i32), named after their number of messages, on the
 * memory that it exports as `memory`: the states at `stateAt`, the bytes at `bytesAt`.
 */
export function md5Module(): Uint8Array<ArrayBuffer> {
  return wasmModule(
    [hashing('one', INTEGERS, 1), hashing('four', VECTORS, 1), hashing('eight', VECTORS, 2)],
    bytesAt(2 * VECTOR_LANES),
  )
}

/** A function that hashes blocks of the messages of `groupCount` groups. */
function hashing(name: string, words: Words, groupCount: number): WasmFunction {
  // Local 0 is the parameter: blocks. It becomes the second one, so that both loops read alike.
  let locals = PARAMETERS
  const take = (count: number) => Array.from({ length: count }, () => locals++)
  const groups = Array.from({ length: groupCount }, (_, index): Group => {
    const firstLane = index * VECTOR_LANES
    return { firstLane, state: take(STATE_WORDS), before: take(STATE_WORDS), block: take(BLOCK_WORDS) }
  })
  const states = (access: (group: Group, word: number) => Code) =>
    groups.flatMap((group) => group.state.flatMap((_, word) => access(group, word)))
  const load = words === INTEGERS ? loadIntegers : loadVectors
  const code = join(
    join(localGet(POINTER), localSet(BLOCKS_LEFT), i32Constant(0), localSet(POINTER)),
    states(({ firstLane, state }, word) =>
      join(i32Constant(0), words.load(stateAt(firstLane, word)), localSet(state[word] as number)),
    ),
    repeated(
      join(
        groups.flatMap(load),
        states(({ state, before }, word) => join(localGet(state[word] as number), localSet(before[word] as number))),
        // Interleaved step by step, so that the groups do not wait for each other.
        CONSTANTS.flatMap((_, step) => groups.flatMap((group) => stepOf(words, group, step))),
        states(({ state, before }, word) => {
          const [to, from] = [state[word] as number, before[word] as number]
          return join(localGet(to), localGet(from), words.add, localSet(to))
        }),
        join(localGet(POINTER), i32Constant(BLOCK_BYTES), i32Add, localSet(POINTER)),
        join(localGet(BLOCKS_LEFT), i32Constant(1), i32Subtract, localTee(BLOCKS_LEFT)),
      ),
    ),
    states(({ firstLane, state }, word) =>
      join(i32Constant(0), localGet(state[word] as number), words.store(stateAt(firstLane, word))),
    ),
  )
  const kinds = [
    { count: 1, type: I32 },
    { count: locals - PARAMETERS, type: words.type },
  ]
  return { name, parameters: 1, locals: kinds, code }
}

/** One step: a = b + rotated(a + f(b, c, d) + constant + word of the block). */
function stepOf(words: Words, { state, block }: Group, step: number): Code {
  const round = Math.floor(step / 16)
  const [a, b, c, d] = [0, 1, 2, 3].map((word) => state[(64 - step + word) % STATE_WORDS]) as [
    number,
    number,
    number,
    number,
  ]
  const word = block[(WORD_OF_STEP[round] as (step: number) => number)(step)] as number
  const functions = [
    join(localGet(d), localGet(b), localGet(c), localGet(d), words.xor, words.and, words.xor),
    // As a sum, of which the first half does not wait for b, the result of the step before.
    join(localGet(d), words.not, localGet(c), words.and, words.add, localGet(b), localGet(d), words.and),
    join(localGet(c), localGet(d), words.xor, localGet(b), words.xor),
    join(localGet(c), localGet(b), localGet(d), words.not, words.or, words.xor),
  ]
  const bits = ROTATIONS[round]?.[step % 4] as number
  const summand = join(localGet(word), words.constant(CONSTANTS[step] as number), words.add)
  return join(
    join(localGet(a), summand, words.add, functions[round] as Code, words.add, localSet(a)),
    join(words.rotated(a, bits), localGet(b), words.add, localSet(a)),
  )
}

function loadIntegers({ block }: Group): Code {
  return block.flatMap((word, index) => join(localGet(POINTER), INTEGERS.load(bytesAt(0) + index * 4), localSet(word)))
}

/** Four words of each of four messages at a time: rows become columns. `before` is free at this point. */
function loadVectors({ firstLane, block, before }: Group): Code {
  const [t0, t1, t2, t3] = before as [number, number, number, number]
  return [0, 1, 2, 3].flatMap((quarter) => {
    const rows = block.slice(quarter * 4, quarter * 4 + 4) as [number, number, number, number]
    const [a, b, c, d] = rows
    const loads = rows.map((row, lane) => {
      const offset = bytesAt(firstLane + lane) + quarter * VECTOR_BYTES
      return join(localGet(POINTER), VECTORS.load(offset), localSet(row))
    })
    return join(
      ...loads,
      join(mixed(a, b, [0, 4, 1, 5], t0), mixed(c, d, [0, 4, 1, 5], t1)),
      join(mixed(a, b, [2, 6, 3, 7], t2), mixed(c, d, [2, 6, 3, 7], t3)),
      join(mixed(t0, t1, [0, 1, 4, 5], a), mixed(t0, t1, [2, 3, 6, 7], b)),
      join(mixed(t2, t3, [0, 1, 4, 5], c), mixed(t2, t3, [2, 3, 6, 7], d)),
    )
  })
}

/** Puts the numbered words of two vectors together; numbers from 4 on are words of the second. */
function mixed(first: number, second: number, words: readonly number[], to: number): Code {
  const bytes = words.flatMap((word) => [0, 1, 2, 3].map((byte) => word * 4 + byte))
  return join(localGet(first), localGet(second), simd(13), bytes, localSet(to))
}
