import type { BucketId, Microseconds } from '../../engine/brands.ts'
import { Packr } from 'msgpackr/index-no-eval'
import { optional } from '../../engine/events/schema/kinds.ts'
import { defaultRetention } from '../../engine/events/values.ts'
import type { BucketState } from '../../engine/state-ports.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `buckets`: name in UTF-8 -> MessagePack `[id, created (microseconds), region, versioning (0 off, 1 enabled,
 * 2 suspended), Object Lock, default retention, quota in bytes, quota in objects]`.
 */

/** No bucket has a longer name, and LMDB fails on keys beyond a few KiB: anybody may ask for anything. */
const NAME_LENGTH_MAXIMUM = 255

const packr = new Packr({ useRecords: false, int64AsType: 'number' })

const retentionOrNone = optional(defaultRetention)
const VERSIONING = ['off', 'enabled', 'suspended'] as const

type StoredBucket = [
  id: BucketId,
  createdMicroseconds: Microseconds,
  region: string,
  versioning: number,
  lockEnabled: boolean,
  defaultRetention: unknown,
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
    defaultRetention: retentionOrNone.decode(retention, 'default retention'),
    quota: { bytes: bytes ?? undefined, objects: objects ?? undefined },
  }
}

export function getBucket(table: TableReader, name: string): BucketState | undefined {
  if (name.length === 0 || name.length > NAME_LENGTH_MAXIMUM) return undefined
  const value = table.get(Buffer.from(name))
  return value === undefined ? undefined : decode(name, value)
}

/** All buckets by name. */
export function allBuckets(table: TableReader): BucketState[] {
  return Array.from(table.rows({}), ({ key, value }) => decode(key.toString(), value))
}

export function putBucket(table: Table, bucket: BucketState): void {
  const { id, createdMicroseconds, region, versioning, lockEnabled, quota } = bucket
  const stored: StoredBucket = [
    id,
    createdMicroseconds,
    region,
    VERSIONING.indexOf(versioning),
    lockEnabled,
    retentionOrNone.encode(bucket.defaultRetention),
    quota.bytes ?? null,
    quota.objects ?? null,
  ]
  table.put(Buffer.from(bucket.name), packr.pack(stored))
}

export function removeBucket(table: Table, name: string): void {
  table.remove(Buffer.from(name))
}
