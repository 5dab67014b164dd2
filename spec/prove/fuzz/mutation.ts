/** What chance makes of an input: a few small changes, one after the other. */
import type { Random } from '../../support/random.ts'
import { COMMON_WORDS, EDGE_BYTES, EDGE_INTEGERS, EDGE_NUMBERS } from './edge-values.ts'

/** What the changes are made from. */
export interface Ingredients {
  readonly words: readonly Buffer[]
  /** Other inputs. */
  readonly others: readonly Buffer[]
  readonly bytesMaximum: number
}

type Change = (bytes: Buffer, random: Random, from: Ingredients) => Buffer

function replaced(bytes: Buffer, start: number, end: number, piece: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(end)])
}

/** A span of at most `longest` bytes. */
function spanOf(bytes: Buffer, random: Random, longest: number): readonly [start: number, end: number] {
  const start = random.below(bytes.length + 1)
  return [start, Math.min(bytes.length, start + 1 + random.below(longest))]
}

function withByte(bytes: Buffer, random: Random, of: (old: number) => number): Buffer {
  if (bytes.length === 0) return bytes
  const at = random.below(bytes.length)
  const made = Buffer.from(bytes)
  made[at] = of(bytes[at] as number)
  return made
}

function wordOf(random: Random, { words }: Ingredients): Buffer {
  return words.length > 0 && random.below(4) > 0 ? random.of(words) : random.of(COMMON_WORDS)
}

/** Where the digits around a place begin and end; undefined where there are none. */
function digitsNear(bytes: Buffer, random: Random): readonly [number, number] | undefined {
  const isDigit = (at: number): boolean => (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39
  const from = random.below(bytes.length + 1)
  for (let at = from; at < Math.min(bytes.length, from + 200); at += 1) {
    if (!isDigit(at)) continue
    let [start, end] = [at, at]
    while (start > 0 && isDigit(start - 1)) start -= 1
    while (isDigit(end)) end += 1
    return [start, end]
  }
  return undefined
}

const CHANGES: Readonly<Record<string, Change>> = {
  'flip a bit': (bytes, random) => withByte(bytes, random, (old) => old ^ (1 << random.below(8))),
  'set a byte': (bytes, random) => withByte(bytes, random, () => random.below(256)),
  'set an edge byte': (bytes, random) => withByte(bytes, random, () => random.of(EDGE_BYTES)),
  'count a byte up or down': (bytes, random) => withByte(bytes, random, (old) => old + random.of([-1, 1, -16, 16])),
  'turn the case of a letter': (bytes, random) =>
    withByte(bytes, random, (old) => (/[A-Za-z]/.test(String.fromCharCode(old)) ? old ^ 0x20 : old)),
  'write a byte in percent': (bytes, random) => {
    if (bytes.length === 0) return bytes
    const at = random.below(bytes.length)
    const digits = (bytes[at] as number).toString(16).padStart(2, '0')
    return replaced(bytes, at, at + 1, Buffer.from(`%${random.below(2) === 0 ? digits : digits.toUpperCase()}`))
  },
  'insert a word': (bytes, random, from) => {
    const at = random.below(bytes.length + 1)
    return replaced(bytes, at, at, wordOf(random, from))
  },
  'write over with a word': (bytes, random, from) => {
    const [start, end] = spanOf(bytes, random, 12)
    return replaced(bytes, start, end, wordOf(random, from))
  },
  'exchange a word for another': (bytes, random, from) => {
    if (from.words.length === 0) return bytes
    const word = random.of(from.words)
    const at = word.length === 0 ? -1 : bytes.indexOf(word, random.below(bytes.length + 1))
    return at === -1 ? bytes : replaced(bytes, at, at + word.length, wordOf(random, from))
  },
  'insert bytes': (bytes, random) => {
    const at = random.below(bytes.length + 1)
    return replaced(bytes, at, at, Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256))))
  },
  'leave out': (bytes, random) => {
    const [start, end] = spanOf(bytes, random, random.of([1, 4, 32]))
    return replaced(bytes, start, end, Buffer.alloc(0))
  },
  'cut off': (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  'cut off in front': (bytes, random) => bytes.subarray(random.below(bytes.length + 1)),
  'repeat a piece': (bytes, random, { bytesMaximum }) => {
    const [start, end] = spanOf(bytes, random, random.of([1, 8, 64]))
    const piece = bytes.subarray(start, end)
    // Now and then as long as it can be, which is what shows work that grows with the square of the length.
    const room = Math.max(0, Math.floor((bytesMaximum - bytes.length) / Math.max(1, piece.length)))
    const times = random.below(400) === 0 ? room : Math.min(room, 1 + random.below(8))
    return replaced(bytes, end, end, Buffer.concat(Array.from({ length: times }, () => piece)))
  },
  'exchange two pieces': (bytes, random) => {
    const [start, end] = spanOf(bytes, random, 24)
    const [left, right] = spanOf(bytes.subarray(end), random, 24)
    const [from, to] = [end + left, end + right]
    const piece = bytes.subarray(from, to)
    return Buffer.concat([
      bytes.subarray(0, start),
      piece,
      bytes.subarray(end, from),
      bytes.subarray(start, end),
      bytes.subarray(to),
    ])
  },
  'join with another': (bytes, random, { others }) => {
    const other = random.of(others)
    const [start, end] = spanOf(other, random, other.length + 1)
    const [from, to] = spanOf(bytes, random, bytes.length + 1)
    return replaced(bytes, from, to, other.subarray(start, end))
  },
  'put a number at an edge': (bytes, random) => {
    const digits = digitsNear(bytes, random)
    return digits === undefined ? bytes : replaced(bytes, digits[0], digits[1], random.of(EDGE_NUMBERS))
  },
  'write an integer at an edge': (bytes, random) => {
    const width = random.of([1, 2, 4, 8])
    if (bytes.length < width) return bytes
    const at = random.below(bytes.length - width + 1)
    const value = Buffer.alloc(8)
    value.writeBigUInt64BE(random.of(EDGE_INTEGERS))
    return replaced(bytes, at, at + width, value.subarray(8 - width))
  },
}
const CHANGE_LIST = Object.values(CHANGES)

/** One to five changes, rarely more; never longer than the reader can be given. */
export function mutated(bytes: Buffer, random: Random, from: Ingredients): Buffer {
  let made = bytes
  const count = random.below(20) === 0 ? 20 : 1 + random.below(5)
  for (let index = 0; index < count; index += 1) made = random.of(CHANGE_LIST)(made, random, from)
  return made.length > from.bytesMaximum ? made.subarray(0, from.bytesMaximum) : made
}
