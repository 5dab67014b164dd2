import { NUMBER_BYTES, readNumber, successor, writeNumber } from '../keys.ts'

/**
 * Row keys for what one key has many of, in the order of S3's listings: keys by their bytes, then within a key.
 *
 *   bucket id (8) | key in UTF-8, 00 written as 00 01 | 00 00 | order (8)
 *
 * The end mark sorts before every byte that could follow in a longer key, so `a` stands before `a/b` whatever comes
 * behind it.
 */
const END_BYTES = 2

/** The part of a row key that names the bucket and begins a key: without an end mark. */
export function escapedPrefix(bucketId: number, key: Buffer): Buffer {
  const escaped = key.includes(0) ? escapeNulls(key) : key
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES + escaped.length)
  writeNumber(bytes, bucketId, 0)
  escaped.copy(bytes, NUMBER_BYTES)
  return bytes
}

/** Row key behind all rows of the keys that begin with a prefix. UTF-8 has no byte 0xff, so there always is one. */
export function endOfPrefix(bucketId: number, prefix: Buffer): Buffer {
  return successor(escapedPrefix(bucketId, prefix)) as Buffer
}

function escapeNulls(key: Buffer): Buffer {
  const bytes: number[] = []
  for (const byte of key) {
    bytes.push(byte)
    if (byte === 0) bytes.push(1)
  }
  return Buffer.from(bytes)
}

/** What every row of a key begins with, the end mark included. */
export function rowsOfKey(bucketId: number, key: string): Buffer {
  return Buffer.concat([escapedPrefix(bucketId, Buffer.from(key)), Buffer.alloc(END_BYTES)])
}

/** `order` ascends within a key. */
export function orderedRowKey(bucketId: number, key: string, order: number): Buffer {
  const start = rowsOfKey(bucketId, key)
  const row = Buffer.allocUnsafe(start.length + NUMBER_BYTES)
  start.copy(row)
  writeNumber(row, order, start.length)
  return row
}

/** The escaped key of a row without bucket, end mark and order; for comparing. */
export function escapedKeyOf(row: Buffer): Buffer {
  return row.subarray(NUMBER_BYTES, row.length - NUMBER_BYTES - END_BYTES)
}

/** The S3 key of a row. */
export function keyOfOrderedRow(row: Buffer): string {
  const end = row.length - NUMBER_BYTES - END_BYTES
  const escaped = row.toString('utf8', NUMBER_BYTES, end)
  // UTF-8 has 00 for U+0000 alone. A key without one has its first where the end mark is.
  return row.indexOf(0, NUMBER_BYTES) === end ? escaped : escaped.replaceAll('\u0000\u0001', '\u0000')
}

export function orderOf(row: Buffer): number {
  return readNumber(row, row.length - NUMBER_BYTES)
}

/** Versions stand the newest first: the order of one is its sequence turned round. */
export function orderOfSequence(sequence: number): number {
  return Number.MAX_SAFE_INTEGER - sequence
}

export function sequenceOfOrder(order: number): number {
  return Number.MAX_SAFE_INTEGER - order
}
