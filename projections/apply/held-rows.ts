import { randomInt } from 'node:crypto'

/**
 * Rows of one table that are held in memory: keys and values back to back in one piece, and fixed fields for each row in
 * another. As objects of their own they cost three times as much as writing them to LMDB does, most of it to collect them.
 */

/** Fields of a row: where its key and its value are, the room of its value, and the next row with the same hash. */
const FIELD = { key: 0, keyLength: 1, value: 2, valueLength: 3, room: 4, hash: 5, next: 6 } as const
const FIELDS = 7
/** Length of the value of a row that is to be removed. */
const REMOVED = 0xffff_ffff
const NONE = 0xffff_ffff

const ROWS_AT_FIRST = 64
const BYTES_AT_FIRST = 4096
/** Rows that one number can hold together with four bytes of their key. */
const NUMBERED_MAXIMUM = 2 ** 21

/** Random, so that clients cannot choose keys that share a hash. */
const SEED = randomInt(2 ** 32)

/** The held rows, as another thread gets them. */
export interface HeldBytes {
  readonly count: number
  readonly ascends: boolean
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly fields: Uint32Array<ArrayBuffer>
}

export class HeldRows {
  /** Rows held. They are numbered in the order in which they were first written. */
  count = 0
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST)
  #used = 0
  #fields = new Uint32Array(ROWS_AT_FIRST * FIELDS)
  /** For each hash the last row with it. */
  #heads = new Uint32Array(2 * ROWS_AT_FIRST).fill(NONE)
  /** Whether every row had a greater key than the row before. */
  #ascends = true

  /** Rows to be read alone, not found or put. */
  static of({ count, ascends, bytes, fields }: HeldBytes): HeldRows {
    const rows = new HeldRows()
    rows.count = count
    rows.#ascends = ascends
    rows.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    rows.#used = bytes.length
    rows.#fields = fields
    return rows
  }

  /** A copy for another thread. */
  copy(): HeldBytes {
    const bytes = new Uint8Array(this.#used)
    bytes.set(this.#bytes.subarray(0, this.#used))
    return { count: this.count, ascends: this.#ascends, bytes, fields: this.#fields.slice(0, this.count * FIELDS) }
  }

  /** Bytes of keys and values, including values that were replaced by longer ones. */
  get bytes(): number {
    return this.#used
  }

  /** Number of the held row with a key; undefined without one. */
  find(key: Buffer): number | undefined {
    return this.#find(key, hashOf(key))
  }

  /** Holds a row, or with no value its removal, in place of an earlier one. */
  put(key: Buffer, value: Buffer | undefined): void {
    const hash = hashOf(key)
    const row = this.#find(key, hash) ?? this.#add(key, hash)
    const at = row * FIELDS
    const fields = this.#fields
    if (value === undefined) {
      fields[at + FIELD.valueLength] = REMOVED
      return
    }
    if (value.length > (fields[at + FIELD.room] as number)) {
      fields[at + FIELD.value] = this.#reserve(value.length)
      fields[at + FIELD.room] = value.length
    }
    fields[at + FIELD.valueLength] = value.length
    this.#bytes.set(value, fields[at + FIELD.value] as number)
  }

  /** The key of a row; valid until the next row is put. */
  key(row: number): Buffer {
    const start = this.#field(row, FIELD.key)
    return this.#bytes.subarray(start, start + this.#field(row, FIELD.keyLength))
  }

  /** The value of a row, undefined when it is to be removed; valid until the next row is put. */
  value(row: number): Buffer | undefined {
    const length = this.#field(row, FIELD.valueLength)
    if (length === REMOVED) return undefined
    const start = this.#field(row, FIELD.value)
    return this.#bytes.subarray(start, start + length)
  }

  /** Numbers of all rows in the order of their keys. */
  sorted(): Uint32Array {
    const order = new Uint32Array(this.count)
    if (this.#ascends || this.count > NUMBERED_MAXIMUM) {
      for (let row = 0; row < order.length; row += 1) order[row] = row
      return this.#ascends ? order : order.sort((left, right) => this.#compare(left, right, 0))
    }
    const shared = this.#sharedBytes()
    const numbers = new Float64Array(this.count)
    for (let row = 0; row < numbers.length; row += 1) {
      numbers[row] = this.#fourBytes(row, shared) * NUMBERED_MAXIMUM + row
    }
    // Without a function that compares, the platform sorts numbers ten times as fast.
    numbers.sort()
    for (let at = 0; at < order.length; at += 1) order[at] = (numbers[at] as number) % NUMBERED_MAXIMUM
    this.#sortAlike(order, numbers, shared)
    return order
  }

  /** Forgets all rows, and keeps the memory. */
  clear(): void {
    this.count = 0
    this.#used = 0
    this.#ascends = true
    this.#heads.fill(NONE)
  }

  #field(row: number, field: number): number {
    return this.#fields[row * FIELDS + field] as number
  }

  #find(key: Buffer, hash: number): number | undefined {
    const heads = this.#heads
    let row = heads[hash & (heads.length - 1)] as number
    while (row !== NONE) {
      if (this.#field(row, FIELD.hash) === hash && this.#isKey(row, key)) return row
      row = this.#field(row, FIELD.next)
    }
    return undefined
  }

  #isKey(row: number, key: Buffer): boolean {
    if (this.#field(row, FIELD.keyLength) !== key.length) return false
    const bytes = this.#bytes
    const start = this.#field(row, FIELD.key)
    for (let at = 0; at < key.length; at += 1) if (bytes[start + at] !== key[at]) return false
    return true
  }

  #add(key: Buffer, hash: number): number {
    const row = this.count
    const at = row * FIELDS
    if (at === this.#fields.length) this.#growRows()
    const start = this.#reserve(key.length)
    this.#bytes.set(key, start)
    const slot = hash & (this.#heads.length - 1)
    const fields = this.#fields
    fields[at + FIELD.key] = start
    fields[at + FIELD.keyLength] = key.length
    fields[at + FIELD.room] = 0
    fields[at + FIELD.hash] = hash
    fields[at + FIELD.next] = this.#heads[slot] as number
    this.#heads[slot] = row
    this.count += 1
    if (this.#ascends && row > 0) this.#ascends = this.#compare(row - 1, row, 0) < 0
    return row
  }

  #growRows(): void {
    const fields = new Uint32Array(2 * this.#fields.length)
    fields.set(this.#fields)
    const heads = new Uint32Array(2 * this.#heads.length).fill(NONE)
    for (let row = 0; row < this.count; row += 1) {
      const slot = (fields[row * FIELDS + FIELD.hash] as number) & (heads.length - 1)
      fields[row * FIELDS + FIELD.next] = heads[slot] as number
      heads[slot] = row
    }
    this.#fields = fields
    this.#heads = heads
  }

  /** Takes room for `length` bytes; returns where it is. */
  #reserve(length: number): number {
    const start = this.#used
    this.#used += length
    if (this.#used > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#used))
      bytes.set(this.#bytes.subarray(0, start))
      this.#bytes = bytes
    }
    return start
  }

  /** Bytes that all keys begin with alike. */
  #sharedBytes(): number {
    const bytes = this.#bytes
    const first = this.#field(0, FIELD.key)
    let shared = this.#field(0, FIELD.keyLength)
    for (let row = 1; row < this.count; row += 1) {
      const start = this.#field(row, FIELD.key)
      shared = Math.min(shared, this.#field(row, FIELD.keyLength))
      for (let at = 0; at < shared; at += 1) if (bytes[first + at] !== bytes[start + at]) shared = at
    }
    return shared
  }

  /** Four bytes of a key as a number; zeros where it ends before. */
  #fourBytes(row: number, from: number): number {
    const start = this.#field(row, FIELD.key) + from
    const length = Math.min(4, this.#field(row, FIELD.keyLength) - from)
    let value = 0
    for (let at = 0; at < 4; at += 1) value = value * 256 + (at < length ? (this.#bytes[start + at] as number) : 0)
    return value
  }

  /** Sorts by their whole keys the rows whose four bytes are the same. */
  #sortAlike(order: Uint32Array, numbers: Float64Array, shared: number): void {
    const groupAt = (at: number) => Math.floor((numbers[at] as number) / NUMBERED_MAXIMUM)
    let start = 0
    for (let at = 1; at <= order.length; at += 1) {
      if (at < order.length && groupAt(at) === groupAt(start)) continue
      if (at - start > 1) order.subarray(start, at).sort((left, right) => this.#compare(left, right, shared))
      start = at
    }
  }

  /** @param from bytes at the beginning of both keys that are known to be the same */
  #compare(left: number, right: number, from: number): number {
    const bytes = this.#bytes
    const leftStart = this.#field(left, FIELD.key)
    const rightStart = this.#field(right, FIELD.key)
    const difference = this.#field(left, FIELD.keyLength) - this.#field(right, FIELD.keyLength)
    const length = this.#field(difference < 0 ? left : right, FIELD.keyLength)
    for (let at = from; at < length; at += 1) {
      const order = (bytes[leftStart + at] as number) - (bytes[rightStart + at] as number)
      if (order !== 0) return order
    }
    return difference
  }
}

/** FNV-1a of 32 bits. */
function hashOf(key: Buffer): number {
  let hash = SEED
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ (key[at] as number), 0x0100_0193)
  // The low bits choose the place, and depend on low bits alone.
  return (hash ^ (hash >>> 15)) >>> 0
}
