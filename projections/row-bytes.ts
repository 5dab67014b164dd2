/**
 * How keys and values come out of LMDB, which reads each into memory that it uses again for the next one.
 *
 * Its own way to keep them constructs a Buffer in native code for each, which takes longer than reading the row. A listing
 * of 1,000 keys keeps none of them: it makes texts and numbers of the bytes while they are there.
 */

/**
 * Makes something of a row. Key and value are lent for the time of the call; the key is the bytes `start` to `end` (exclusive)
 * of `keys`, the value the first `value.length` bytes of `value`. From Node 24 on, methods of Buffer that are given no end go past
 * it, to the end of the memory that LMDB reads into: a decoder always names the end.
 */
export type DecodeRow<T> = (keys: Buffer, start: number, end: number, value: Buffer) => T

/** Longer values are copied by the platform, which is quicker for them than byte by byte. */
const COPIED_BY_HAND_MAXIMUM = 256

/** Reads keys and values of one table: copies, or values decoded in place. */
export class RowBytes {
  #decode: DecodeRow<unknown> | undefined
  /** The key of the row that is being read, while it is lent. */
  #keys: Buffer | undefined
  #start = 0
  #end = 0

  readonly keyEncoder = {
    writeKey: (key: Buffer, target: Buffer, at: number): number => {
      target.set(key, at)
      return at + key.length
    },
    readKey: (keys: Buffer, start: number, end: number): Buffer | undefined => {
      if (this.#decode === undefined) return copyOf(keys, start, end)
      this.#keys = keys
      this.#start = start
      this.#end = end
      return undefined
    },
  }

  /** The library asks nothing more of an encoder that keeps no bytes that it is given to decode. */
  readonly encoder = {
    encode: (value: Buffer): Buffer => value,
    decode: (value: Buffer): unknown => {
      if (this.#decode === undefined) return copyOf(value, 0, value.length)
      return this.#decode(this.#keys as Buffer, this.#start, this.#end, value)
    },
  }

  /** Takes a step in rows of the table, the value of which is what `decode` makes of the row. */
  lend<T>(decode: DecodeRow<T>, rows: Iterator<unknown>): IteratorResult<{ readonly value: T }, undefined> {
    this.#decode = decode
    try {
      return rows.next() as IteratorResult<{ value: T }, undefined>
    } finally {
      this.#decode = undefined
      this.#keys = undefined
    }
  }
}

function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  const copy = Buffer.allocUnsafe(length)
  if (length > COPIED_BY_HAND_MAXIMUM) copy.set(bytes.subarray(start, end))
  else for (let at = 0; at < length; at += 1) copy[at] = bytes[start + at] as number
  return copy
}
