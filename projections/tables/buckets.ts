import { Packr } from 'msgpackr'
import type { BucketState } from '../../engine/state-ports.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

/**
 * `buckets`: name in UTF-8 -> MessagePack `[id, created (microseconds), region]`.
 */
export const BUCKETS = 'buckets'

/** No bucket has a longer name, and LMDB fails on keys beyond a few KiB: strangers may ask for anything. */
const NAME_LENGTH_MAXIMUM = 255

const packr = new Packr({ useRecords: false, int64AsType: 'number' })

function decode(name: string, value: Buffer): BucketState {
  const [id, createdMicroseconds, region] = packr.unpack(value) as [number, number, string]
  return { id, name, region, createdMicroseconds }
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
  table.put(Buffer.from(bucket.name), packr.pack([bucket.id, bucket.createdMicroseconds, bucket.region]))
}

export function removeBucket(table: Table, name: string): void {
  table.remove(Buffer.from(name))
}
