import { type BucketId, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { NUMBER_BYTES, readNumber, successor, writeNumber } from '../keys.ts'

/**
 * Row keys of versions and uploads, of which a key can have many, in the order of S3's listings.
 *
 *   bucket id (8) | key in UTF-8, 00 written as 00 01 | 00 00 | order (8)
 *
 * The end mark sorts before every byte that could follow in a longer key, so `a` comes before `a/b` whatever its order.
 */
const END_BYTES = 2

/** Start of a row key: the bucket and the start of a key, without an end mark. */
export function escapedPrefix(bucketId: BucketId, key: Buffer): Buffer {
  const escaped = key.includes(0) ? escapeNulls(key) : key
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES + escaped.length)
  writeNumber(bytes, bucketId, 0)
  escaped.copy(bytes, NUMBER_BYTES)
  return bytes
}

/** Row key after all rows of the keys that begin with a prefix. UTF-8 has no byte 0xff, so there is always one. */
export function endOfPrefix(bucketId: BucketId, prefix: Buffer): Buffer {
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

/** Prefix of every row of a key, the end mark included. */
export function rowsOfKey(bucketId: BucketId, key: string): Buffer {
  return Buffer.concat([escapedPrefix(bucketId, Buffer.from(key)), Buffer.alloc(END_BYTES)])
}

/** `order` ascends within a key. */
export function orderedRowKey(bucketId: BucketId, key: string, order: number): Buffer {
  const start = rowsOfKey(bucketId, key)
  const row = Buffer.allocUnsafe(start.length + NUMBER_BYTES)
  start.copy(row)
  writeNumber(row, order, start.length)
  return row
}

/** The S3 key of a row. */
export function keyOfOrderedRow(row: Buffer): string {
  const end = row.length - NUMBER_BYTES - END_BYTES
  const escaped = row.toString('utf8', NUMBER_BYTES, end)
  // UTF-8 uses 00 for U+0000 only, so the first 00 of any other key is its end mark.
  return row.indexOf(0, NUMBER_BYTES) === end ? escaped : escaped.replaceAll('\u0000\u0001', '\u0000')
}

export function orderOf(row: Buffer): number {
  return readNumber(row, row.length - NUMBER_BYTES)
}

/** Newest first: the order of a version is the complement of its sequence. */
export function orderOfSequence(sequence: Sequence): number {
  return Number.MAX_SAFE_INTEGER - sequence
}

export function sequenceOfOrder(order: number): Sequence {
  return sequenceOf(Number.MAX_SAFE_INTEGER - order)
}
