/**
 * Passes over values of MessagePack (its specification, table of formats) without decoding them, in a body that anybody
 * may have written. Written for the verifier alone.
 */

/** Nesting of the values of an entry is less. */
const DEPTH_MAXIMUM = 16

const NIL = 0xc0

/** Start of the content of a value with an own length, and its extent: bytes, or further values. */
interface Sized {
  readonly at: number
  readonly bytes: number
  readonly values: number
}

/** Offset after the value at `at`; -1 for a value that does not end by `end`, or of a type that no entry holds. */
export function after(bytes: Buffer, at: number, end: number, depth = 0): number {
  if (at >= end || depth > DEPTH_MAXIMUM) return -1
  const short = afterShort(bytes, at, end)
  if (short > 0) return short > end ? -1 : short
  const sized = sizeOf(bytes, at, end)
  if (sized === undefined) return -1
  let next = sized.at + sized.bytes
  for (let index = 0; index < sized.values && next >= 0; index += 1) next = after(bytes, next, end, depth + 1)
  return next > end ? -1 : next
}

/** The same for nearly all values that entries hold, without an object for each; 0 for any other. */
function afterShort(bytes: Buffer, at: number, end: number): number {
  const tag = bytes[at] as number
  if (tag <= 0x7f || tag === 0xc0 || tag === 0xc2 || tag === 0xc3) return at + 1
  if (tag >= 0xa0 && tag <= 0xbf) return at + 1 + (tag & 0x1f)
  if (tag === 0xd9 || tag === 0xc4) return at + 1 < end ? at + 2 + (bytes[at + 1] as number) : 0
  if (tag === 0xcd) return at + 3
  if (tag === 0xce) return at + 5
  return tag === 0xcb ? at + 9 : 0
}

/** Number of values of the array at `at`, and where the first is; undefined when there is no array. */
export function arrayAt(
  bytes: Buffer,
  at: number,
  end: number,
): { readonly count: number; readonly at: number } | undefined {
  const tag = at < end ? (bytes[at] as number) : 0
  const isArray = (tag & 0xf0) === 0x90 || tag === 0xdc || tag === 0xdd
  const sized = isArray ? sizeOf(bytes, at, end) : undefined
  return sized && { count: sized.values, at: sized.at }
}

/**
 * The integer at `at`, also as a float 64; undefined for another value, or for an integer that a number does not hold
 * exactly.
 */
export function integerAt(bytes: Buffer, at: number, end: number): number | undefined {
  const tag = at < end ? (bytes[at] as number) : NIL
  if (tag <= 0x7f) return tag
  if (tag >= 0xe0) return tag - 0x100
  const length = FIXED[tag]
  if (length === undefined || tag === 0xca || at + 1 + length > end) return undefined
  const value = numberIn(bytes, tag, at + 1, length)
  return Number.isSafeInteger(value) ? value : undefined
}

function numberIn(bytes: Buffer, tag: number, at: number, length: number): number {
  if (tag === 0xcb) return bytes.readDoubleBE(at)
  if (tag === 0xcf) return Number(bytes.readBigUInt64BE(at))
  if (tag === 0xd3) return Number(bytes.readBigInt64BE(at))
  return tag >= 0xd0 ? bytes.readIntBE(at, length) : bytes.readUIntBE(at, length)
}

/** Whether there is a number at `at`, of any form. */
export function isNumberAt(bytes: Buffer, at: number, end: number): boolean {
  const tag = at < end ? (bytes[at] as number) : NIL
  return tag <= 0x7f || tag >= 0xe0 || FIXED[tag] !== undefined
}

/** Whether there is a text at `at`. */
export function isTextAt(bytes: Buffer, at: number, end: number): boolean {
  const tag = at < end ? (bytes[at] as number) : NIL
  return (tag & 0xe0) === 0xa0 || (tag >= 0xd9 && tag <= 0xdb)
}

/** The text at `at`, whose end is known; undefined when there is another value. */
export function textAt(bytes: Buffer, at: number, end: number): string | undefined {
  const tag = at < end ? (bytes[at] as number) : 0xc0
  const head = (tag & 0xe0) === 0xa0 ? 1 : ({ 0xd9: 2, 0xda: 3, 0xdb: 5 } as Record<number, number>)[tag]
  return head === undefined ? undefined : bytes.toString('utf8', at + head, end)
}

function sizeOf(bytes: Buffer, at: number, end: number): Sized | undefined {
  const tag = bytes[at] as number
  const value = (head: number, length: number): Sized => ({ at: at + 1 + head, bytes: length, values: 0 })
  if (tag <= 0x7f || tag >= 0xe0 || tag === 0xc0 || tag === 0xc2 || tag === 0xc3) return value(0, 0)
  if (tag >= 0xa0 && tag <= 0xbf) return value(0, tag & 0x1f)
  if (tag >= 0x90 && tag <= 0x9f) return { at: at + 1, bytes: 0, values: tag & 0x0f }
  const fixed = FIXED[tag]
  if (fixed !== undefined) return value(0, fixed)
  const head = LENGTH_BYTES[tag]
  if (head === undefined || at + 1 + head > end) return undefined
  const length = bytes.readUIntBE(at + 1, head)
  return tag === 0xdc || tag === 0xdd ? { at: at + 1 + head, bytes: 0, values: length } : value(head, length)
}

/** Bytes after the tag of numbers. */
const FIXED: Readonly<Record<number, number>> = {
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
}

/** Bytes of the length after the tag of bytes, texts and arrays. */
const LENGTH_BYTES: Readonly<Record<number, number>> = {
  0xc4: 1,
  0xc5: 2,
  0xc6: 4,
  0xd9: 1,
  0xda: 2,
  0xdb: 4,
  0xdc: 2,
  0xdd: 4,
}
