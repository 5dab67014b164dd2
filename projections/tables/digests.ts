import { type BucketId, bucketIdOf, type PayloadId, payloadIdOf } from '../../engine/brands.ts'
import { NUMBER_BYTES, numberKey, readNumber, writeNumber } from '../keys.ts'
import type { TableReader } from '../lmdb-environment.ts'
import type { Tables } from './table-list.ts'

/**
 * Multipart payloads whose SHA-256 is not known yet.
 *
 * `digests-pending`: key = payload id (8); value = id of the bucket that it was written into first (8)
 * `digest-queue`: the same in the order in which they are hashed, by size and bucket
 *
 *   key = size class (1) | bucket id (8) | payload id (8)
 *
 * Class 0 has up to 8 MiB; each further class has up to eight times as much as the one before.
 */
export const SMALL_DIGEST_BYTES = 8 << 20
const CLASS_FACTOR = 8
/** Enough for every size that a number can hold. */
export const DIGEST_CLASSES = 12
const BUCKET_AT = 1
const PAYLOAD_AT = BUCKET_AT + NUMBER_BYTES
const NO_BYTES = Buffer.alloc(0)

/** A payload in the queue, and the bucket that it is hashed for. */
export interface QueuedDigest {
  readonly bucketId: BucketId
  readonly payload: PayloadId
}

type DigestTables = Pick<Tables, 'digestsPending' | 'digestQueue'>

function sizeClassOf(length: number): number {
  let sizeClass = 0
  for (let bytes = SMALL_DIGEST_BYTES; length > bytes; bytes *= CLASS_FACTOR) sizeClass += 1
  return sizeClass
}

function queueKey(sizeClass: number, bucketId: number, payload: number): Buffer {
  const key = Buffer.allocUnsafe(PAYLOAD_AT + NUMBER_BYTES)
  key.writeUInt8(sizeClass, 0)
  writeNumber(key, bucketId, BUCKET_AT)
  writeNumber(key, payload, PAYLOAD_AT)
  return key
}

/** @param length bytes of the payload */
export function putPendingDigest(tables: DigestTables, { bucketId, payload }: QueuedDigest, length: number): void {
  tables.digestsPending.put(numberKey(payload), numberKey(bucketId))
  tables.digestQueue.put(queueKey(sizeClassOf(length), bucketId, payload), NO_BYTES)
}

export function removePendingDigest(tables: DigestTables, payload: PayloadId, length: number): void {
  const key = numberKey(payload)
  const bucket = tables.digestsPending.get(key)
  if (bucket === undefined) return
  tables.digestQueue.remove(queueKey(sizeClassOf(length), readNumber(bucket, 0), payload))
  tables.digestsPending.remove(key)
}

/** Ids of payloads, oldest first, at most `limit`. */
export function pendingDigests(table: TableReader, limit: number): PayloadId[] {
  return Array.from(table.keys({ limit }), (key) => payloadIdOf(readNumber(key, 0)))
}

/** The first payload of a size class in the bucket with the least id from `fromBucket` on that has one. */
export function firstQueuedDigest(
  table: TableReader,
  sizeClass: number,
  fromBucket: number,
  isLeftOut: (payload: PayloadId) => boolean,
): QueuedDigest | undefined {
  for (const key of table.keys({ start: queueKey(sizeClass, fromBucket, 0), end: Buffer.of(sizeClass + 1) })) {
    const payload = payloadIdOf(readNumber(key, PAYLOAD_AT))
    if (!isLeftOut(payload)) return { bucketId: bucketIdOf(readNumber(key, BUCKET_AT)), payload }
  }
  return undefined
}
