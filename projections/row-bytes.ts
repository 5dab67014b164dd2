import { RowDamagedError } from '../engine/errors.ts'
import { RowSums, SUM_BYTES } from './row-sum.ts'

/**
 * How keys and values come out of LMDB, which reads each into memory that it uses again for the next one.
 *
 * Its own way to keep them constructs a Buffer in native code for each, which takes longer than reading the row. A listing
 * of 1,000 keys keeps none of them: it makes texts and numbers of the bytes while they are there.
 */

/**
 * Makes something of a row. Key and value are lent for the time of the call; the key is the bytes `start` to `end` (exclusive)
 * of `keys`, the value the first `length` bytes of `value`, which are followed by the row's sum and by what LMDB read before.
 */
export type DecodeRow<T> = (keys: Buffer, start: number, end: number, value: Buffer, length: number) => T

/** Longer values are copied by the platform, which is quicker for them than byte by byte. */
const COPIED_BY_HAND_MAXIMUM = 256

/** Longer keys are not copied for a look-up. */
const LOOKUP_BYTES = 2048

/** In place of a row that is behind the end of a range. */
export const ENDED: unique symbol = Symbol('ended')

/** What the library reads a row with. */
interface Lookup {
  get(key: Buffer): unknown
}

/** Reads and writes keys and values of one table: copies, or values decoded in place. Checks the sum of every row. */
export class RowBytes {
  readonly #table: string
  readonly #sums: RowSums
  readonly #damaged: ((error: RowDamagedError) => void) | undefined
  /** The key of a look-up: the same memory each time, because a view of new memory takes half a microsecond. */
  readonly #lookup = Buffer.allocUnsafeSlow(LOOKUP_BYTES)
  #decode: DecodeRow<unknown> = copyOfValue
  /** The key of the row that is being read, while it is lent. */
  #keys: Buffer | undefined
  #start = 0
  #end = 0
  /** Rows from this key on are not decoded. */
  #until: Buffer | undefined

  /**
   * @param damaged called for each row that is not as it was written, before the error is thrown; undefined: values come with their
   * sums, which are not checked
   */
  constructor(table: string, damaged: ((error: RowDamagedError) => void) | undefined) {
    this.#table = table
    this.#sums = new RowSums(table)
    this.#damaged = damaged
  }

  readonly keyEncoder = {
    writeKey: (key: Buffer, target: Buffer, at: number): number => {
      target.set(key, at)
      return at + key.length
    },
    readKey: (keys: Buffer, start: number, end: number): undefined => {
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
      const keys = this.#keys as Buffer
      if (this.#damaged === undefined) return this.#decode(keys, this.#start, this.#end, value, value.length)
      if (!this.#sums.holds(keys, this.#start, this.#end, value)) this.fail(keys, this.#start, this.#end)
      // After the sum: a key that changed may seem to be the end.
      if (this.#until !== undefined && !isBefore(keys, this.#start, this.#end, this.#until)) return ENDED
      return this.#decode(keys, this.#start, this.#end, value, value.length - SUM_BYTES)
    },
  }

  /** A value as it is stored. */
  sealed(key: Buffer, value: Buffer): Buffer {
    return this.#sums.sealed(key, value)
  }

  /** A copy of the value of a row; undefined without one. */
  copied(key: Buffer, rows: Lookup): Buffer | undefined {
    this.#keys = key
    if (key.length <= LOOKUP_BYTES) {
      this.#lookup.set(key)
      this.#keys = this.#lookup
    }
    this.#start = 0
    this.#end = key.length
    try {
      return rows.get(key) as Buffer | undefined
    } catch (error) {
      throw this.named(error, key)
    }
  }

  /**
   * Takes a step in rows of the table, the value of which is what `decode` makes of the row, or `ENDED`.
   * @param until rows from this key on are not decoded
   */
  lend<T>(
    decode: DecodeRow<T>,
    rows: Iterator<unknown>,
    until: Buffer | undefined,
  ): IteratorResult<{ readonly value: T | typeof ENDED }, undefined> {
    this.#decode = decode
    this.#until = until
    try {
      return rows.next() as IteratorResult<{ value: T | typeof ENDED }, undefined>
    } catch (error) {
      throw this.named(error, undefined)
    } finally {
      this.#decode = copyOfValue
      this.#until = undefined
      this.#keys = undefined
    }
  }

  /**
   * The error that a read ends with: a damaged row in place of LMDB's error for pages that it cannot read.
   * @param key that is looked for
   */
  named(error: unknown, key: Buffer | undefined): unknown {
    if (this.#damaged === undefined || !isOfPages(error)) return error
    const named = new RowDamagedError(this.#table, key?.toString('hex') ?? '', error)
    this.#damaged(named)
    return named
  }

  /** The row with this key is damaged: the key is the bytes `start` to `end` (exclusive) of `keys`. */
  fail(keys: Buffer, start: number, end: number): never {
    const error = new RowDamagedError(this.#table, keys.toString('hex', start, end))
    this.#damaged?.(error)
    throw error
  }
}

/**
 * LMDB's errors that only damaged pages cause; others are of a full disk, too many readers, a transaction that is over or a wrong
 * call. The last is what it says of a node whose flags are wrong.
 */
const OF_PAGES = /^MDB_(?:CORRUPTED|PAGE_NOTFOUND|CURSOR_FULL|PAGE_FULL)\b|Invalid dupdata flag/

/** Whether LMDB failed since pages of its file are damaged. */
export function isOfPages(error: unknown): boolean {
  return error instanceof Error && OF_PAGES.test(error.message)
}

function copyOfValue(_keys: Buffer, _start: number, _end: number, value: Buffer, length: number): Buffer {
  return copyOf(value, 0, length)
}

/** A copy of the bytes `start` to `end` (exclusive). */
export function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  const copy = Buffer.allocUnsafe(length)
  if (length > COPIED_BY_HAND_MAXIMUM) copy.set(bytes.subarray(start, end))
  else for (let at = 0; at < length; at += 1) copy[at] = bytes[start + at] as number
  return copy
}

/** Whether the bytes `start` to `end` (exclusive) of `keys` sort before another key. */
function isBefore(keys: Buffer, start: number, end: number, other: Buffer): boolean {
  const length = Math.min(end - start, other.length)
  for (let at = 0; at < length; at += 1) {
    const difference = (keys[start + at] as number) - (other[at] as number)
    if (difference !== 0) return difference < 0
  }
  return end - start < other.length
}
