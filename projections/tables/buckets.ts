import { Packr } from 'msgpackr'
import {
  decodeDefaultRetention,
  encodeDefaultRetention,
  optional,
  type StoredDefaultRetention,
} from '../../engine/events/value-codec.ts'
import type { BucketState } from '../../engine/state-ports.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `buckets`: name in UTF-8 -> MessagePack `[id, created (microseconds), region, versioning (0 off, 1 enabled,
 * 2 suspended), Object Lock, default retention, quota in bytes, quota in objects]`.
 */
export const BUCKETS = 'buckets'

/** No bucket has a longer name, and LMDB fails on keys beyond a few KiB: strangers may ask for anything. */
const NAME_LENGTH_MAXIMUM = 255

const packr = new Packr({ useRecords: false, int64AsType: 'number' })

const VERSIONING = ['off', 'enabled', 'suspended'] as const

type StoredBucket = [
  id: number,
  createdMicroseconds: number,
  region: string,
  versioning: number,
  lockEnabled: boolean,
  defaultRetention: StoredDefaultRetention | null,
  quotaBytes: number | null,
  quotaObjects: number | null,
]

function decode(name: string, value: Buffer): BucketState {
  const [id, createdMicroseconds, region, versioning, lockEnabled, retention, bytes, objects] = packr.unpack(
    value,
  ) as StoredBucket
  return {
    id,
    name,
    region,
    createdMicroseconds,
    versioning: VERSIONING[versioning] ?? 'off',
    lockEnabled,
    defaultRetention: optional(retention, decodeDefaultRetention),
    quota: { bytes: bytes ?? undefined, objects: objects ?? undefined },
  }
}

export function getBucket(table: TableReader, name: string): BucketState | undefined {
  if (name.length === 0 || name.length > NAME_LENGTH_MAXIMUM) return undefined
  const value = table.get(Buffer.from(name))
  return value === undefined ? undefined : decode(name, value)
}

/** All buckets by name. */
export function* allBuckets(table: TableReader): Generator<BucketState> {
  for (const { key, value } of table.rows({})) yield decode(key.toString(), value)
}

export function putBucket(table: Table, bucket: BucketState): void {
  const { id, createdMicroseconds, region, versioning, lockEnabled, defaultRetention, quota } = bucket
  const stored: StoredBucket = [
    id,
    createdMicroseconds,
    region,
    VERSIONING.indexOf(versioning),
    lockEnabled,
    defaultRetention === undefined ? null : encodeDefaultRetention(defaultRetention),
    quota.bytes ?? null,
    quota.objects ?? null,
  ]
  table.put(Buffer.from(bucket.name), packr.pack(stored))
}

export function removeBucket(table: Table, name: string): void {
  table.remove(Buffer.from(name))
}
