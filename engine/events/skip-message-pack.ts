/**
 * Skips values of MessagePack without decoding them, so that replay can read the changes of an entry without its audit
 * part. Format: the MessagePack specification, table of formats.
 */

/** Bytes after the first byte of a value of fixed length, by that byte (0xc0 to 0xdf); negative: see `skipVariable`. */
const FIXED = [
  0, -2, 0, 0, -1, -1, -1, -1, -1, -1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17, -1, -1, -1, -3, -3, -4, -4,
]

/**
 * Offset after the value at `at`.
 * @throws RangeError when the bytes are not MessagePack
 */
export function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === undefined) throw new RangeError('MessagePack is cut off')
  if (first <= 0x7f || first >= 0xe0) return at + 1
  if (first <= 0x8f) return skipValues(bytes, at + 1, 2 * (first & 0x0f))
  if (first <= 0x9f) return skipValues(bytes, at + 1, first & 0x0f)
  if (first <= 0xbf) return at + 1 + (first & 0x1f)
  const fixed = FIXED[first - 0xc0] as number
  if (fixed >= 0) return at + 1 + fixed
  return skipVariable(bytes, at, first)
}

function skipVariable(bytes: Uint8Array, at: number, first: number): number {
  switch (first) {
    case 0xc4:
    case 0xd9:
      return at + 2 + bigEndian(bytes, at + 1, 1)
    case 0xc5:
    case 0xda:
      return at + 3 + bigEndian(bytes, at + 1, 2)
    case 0xc6:
    case 0xdb:
      return at + 5 + bigEndian(bytes, at + 1, 4)
    case 0xdc:
      return skipValues(bytes, at + 3, bigEndian(bytes, at + 1, 2))
    case 0xdd:
      return skipValues(bytes, at + 5, bigEndian(bytes, at + 1, 4))
    default:
      throw new RangeError(`an entry holds no MessagePack value of type 0x${first.toString(16)}`)
  }
}

function skipValues(bytes: Uint8Array, at: number, count: number): number {
  let next = at
  for (let index = 0; index < count; index += 1) next = skipValue(bytes, next)
  return next
}

function bigEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) value = value * 256 + (bytes[at + index] ?? 0)
  return value
}
