import { randomInt } from 'node:crypto'

/**
 * Rows of one table that are held in memory: keys and values back to back in pages, and fixed fields for each row in others. As
 * objects of their own they cost three times as much as writing them to LMDB does, most of it to collect them. In one piece that is
 * copied when it is too small, they would leave as much garbage as they take.
 */

/** Fields of a row: where its key and its value are, the room of its value, and the next row with the same hash. */
const FIELD = { key: 0, keyLength: 1, value: 2, valueLength: 3, room: 4, hash: 5, next: 6 } as const
const FIELDS = 7
/** Length of the value of a row that is to be removed. */
const REMOVED = 0xffff_ffff
const NONE = 0xffff_ffff

/** A page of keys and values has 2 ** 18 bytes, or one value that is longer; a page of fields is of 2 ** 12 rows. */
const PAGE_BITS = 18
const PAGE_BYTES = 2 ** PAGE_BITS
const ROW_BITS = 12
const ROWS_OF_PAGE = 2 ** ROW_BITS
const HEADS_AT_FIRST = 128
/** Rows that one number can hold together with four bytes of their key. */
const NUMBERED_MAXIMUM = 2 ** 21

/** Random, so that clients cannot choose keys that share a hash. */
const SEED = randomInt(2 ** 32)

/** The held rows, as another thread gets them: the memory itself, which does not change meanwhile. */
export interface HeldBytes {
  readonly count: number
  readonly ascends: boolean
  /** Pages of keys and values, and of fields; the last ones as far as they are used. */
  readonly bytes: readonly Uint8Array[]
  readonly fields: readonly Uint32Array[]
}

export class HeldRows {
  /** Rows held. They are numbered in the order in which they were first written. */
  count = 0
  #pages: Buffer[] = []
  /** Pages that are in use, and the bytes of the last of them that are. */
  #begun = 0
  #end = 0
  #used = 0
  #fields: Uint32Array[] = []
  /** For each hash the last row with it. */
  #heads = new Uint32Array(HEADS_AT_FIRST).fill(NONE)
  /** Whether every row had a greater key than the row before. */
  #ascends = true

  /** Rows to be read alone, not found or put. */
  static of({ count, ascends, bytes, fields }: HeldBytes): HeldRows {
    const rows = new HeldRows()
    rows.count = count
    rows.#ascends = ascends
    rows.#pages = bytes.map((page) => Buffer.from(page.buffer, page.byteOffset, page.length))
    rows.#fields = [...fields]
    return rows
  }

  /** For another thread, without a copy: no row is put here until that one has written them. */
  get shared(): HeldBytes {
    const bytes = this.#pages.slice(0, this.#begun).map(({ buffer, byteOffset, length }, page) => {
      return new Uint8Array(buffer, byteOffset, page === this.#begun - 1 ? this.#end : length)
    })
    const fields: Uint32Array[] = []
    for (let row = 0; row < this.count; row += ROWS_OF_PAGE) {
      const rows = Math.min(ROWS_OF_PAGE, this.count - row)
      fields.push((this.#fields[row >>> ROW_BITS] as Uint32Array).subarray(0, rows * FIELDS))
    }
    return { count: this.count, ascends: this.#ascends, bytes, fields }
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
    const at = (row & (ROWS_OF_PAGE - 1)) * FIELDS
    const fields = this.#fields[row >>> ROW_BITS] as Uint32Array
    if (value === undefined) {
      fields[at + FIELD.valueLength] = REMOVED
      return
    }
    if (value.length > (fields[at + FIELD.room] as number)) {
      fields[at + FIELD.value] = this.#reserve(value.length)
      fields[at + FIELD.room] = value.length
    }
    fields[at + FIELD.valueLength] = value.length
    const start = fields[at + FIELD.value] as number
    this.#page(start).set(value, offsetOf(start))
  }

  /** The key of a row; valid until the next row is put. */
  key(row: number): Buffer {
    return this.#piece(this.#field(row, FIELD.key), this.#field(row, FIELD.keyLength))
  }

  /** The value of a row, undefined when it is to be removed; valid until the next row is put. */
  value(row: number): Buffer | undefined {
    const length = this.#field(row, FIELD.valueLength)
    return length === REMOVED ? undefined : this.#piece(this.#field(row, FIELD.value), length)
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
    this.#begun = 0
    this.#end = 0
    this.#pages = this.#pages.filter(({ length }) => length === PAGE_BYTES)
    this.#ascends = true
    this.#heads.fill(NONE)
  }

  #field(row: number, field: number): number {
    return (this.#fields[row >>> ROW_BITS] as Uint32Array)[(row & (ROWS_OF_PAGE - 1)) * FIELDS + field] as number
  }

  #page(start: number): Buffer {
    return this.#pages[start >>> PAGE_BITS] as Buffer
  }

  #piece(start: number, length: number): Buffer {
    const offset = offsetOf(start)
    return this.#page(start).subarray(offset, offset + length)
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
    const begin = this.#field(row, FIELD.key)
    const [bytes, start] = [this.#page(begin), offsetOf(begin)]
    for (let at = 0; at < key.length; at += 1) if (bytes[start + at] !== key[at]) return false
    return true
  }

  #add(key: Buffer, hash: number): number {
    const row = this.count
    const at = (row & (ROWS_OF_PAGE - 1)) * FIELDS
    if (2 * row === this.#heads.length) this.#growHeads()
    const fields = (this.#fields[row >>> ROW_BITS] ??= sharedFields())
    const start = this.#reserve(key.length)
    this.#page(start).set(key, offsetOf(start))
    const slot = hash & (this.#heads.length - 1)
    fields[at + FIELD.key] = start
    fields[at + FIELD.keyLength] = key.length
    fields[at + FIELD.value] = start
    fields[at + FIELD.room] = 0
    fields[at + FIELD.hash] = hash
    fields[at + FIELD.next] = this.#heads[slot] as number
    this.#heads[slot] = row
    this.count += 1
    if (this.#ascends && row > 0) this.#ascends = this.#compare(row - 1, row, 0) < 0
    return row
  }

  #growHeads(): void {
    const heads = new Uint32Array(2 * this.#heads.length).fill(NONE)
    for (let row = 0; row < this.count; row += 1) {
      const slot = this.#field(row, FIELD.hash) & (heads.length - 1)
      const fields = this.#fields[row >>> ROW_BITS] as Uint32Array
      fields[(row & (ROWS_OF_PAGE - 1)) * FIELDS + FIELD.next] = heads[slot] as number
      heads[slot] = row
    }
    this.#heads = heads
  }

  /** Takes room for `length` bytes; returns where it is. */
  #reserve(length: number): number {
    this.#used += length
    if (this.#begun === 0 || this.#end + length > PAGE_BYTES) {
      const isLong = length > PAGE_BYTES
      // Pages that are kept for later have the usual length.
      if (isLong) this.#pages.splice(this.#begun, 0, sharedMemory(length))
      else this.#pages[this.#begun] ??= sharedMemory(PAGE_BYTES)
      this.#begun += 1
      this.#end = 0
    }
    const start = (this.#begun - 1) * PAGE_BYTES + this.#end
    this.#end += length
    return start
  }

  /** Bytes that all keys begin with alike. */
  #sharedBytes(): number {
    const first = this.key(0)
    let shared = first.length
    for (let row = 1; row < this.count; row += 1) {
      const begin = this.#field(row, FIELD.key)
      const [bytes, start] = [this.#page(begin), offsetOf(begin)]
      shared = Math.min(shared, this.#field(row, FIELD.keyLength))
      for (let at = 0; at < shared; at += 1) if (first[at] !== bytes[start + at]) shared = at
    }
    return shared
  }

  /** Four bytes of a key as a number; zeros where it ends before. */
  #fourBytes(row: number, from: number): number {
    const begin = this.#field(row, FIELD.key)
    const [bytes, start] = [this.#page(begin), offsetOf(begin) + from]
    const length = Math.min(4, this.#field(row, FIELD.keyLength) - from)
    let value = 0
    for (let at = 0; at < 4; at += 1) value = value * 256 + (at < length ? (bytes[start + at] as number) : 0)
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
    const [leftBegin, rightBegin] = [this.#field(left, FIELD.key), this.#field(right, FIELD.key)]
    const [leftBytes, rightBytes] = [this.#page(leftBegin), this.#page(rightBegin)]
    const [leftStart, rightStart] = [offsetOf(leftBegin), offsetOf(rightBegin)]
    const difference = this.#field(left, FIELD.keyLength) - this.#field(right, FIELD.keyLength)
    const length = this.#field(difference < 0 ? left : right, FIELD.keyLength)
    for (let at = from; at < length; at += 1) {
      const order = (leftBytes[leftStart + at] as number) - (rightBytes[rightStart + at] as number)
      if (order !== 0) return order
    }
    return difference
  }
}

/** Memory of which a copy for another thread would be as large again. What is not used yet takes no room. */
function sharedMemory(length: number): Buffer<SharedArrayBuffer> {
  return Buffer.from(new SharedArrayBuffer(length))
}

function sharedFields(): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(ROWS_OF_PAGE * FIELDS * Uint32Array.BYTES_PER_ELEMENT))
}

/** In its page. */
function offsetOf(start: number): number {
  return start & (PAGE_BYTES - 1)
}

/** FNV-1a of 32 bits. */
function hashOf(key: Buffer): number {
  let hash = SEED
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ (key[at] as number), 0x0100_0193)
  // The low bits choose the place, and depend on low bits alone.
  return (hash ^ (hash >>> 15)) >>> 0
}
