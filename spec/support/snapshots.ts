/** Stores with snapshots, for specs. */
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { type MadeSnapshot, makeSnapshot, type SnapshotRequest } from '../../projections/snapshots/make-snapshot.ts'
import { NO_PACE, type Pace } from '../../projections/snapshots/snapshot-pace.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { decodeGenesis } from '../../engine/journal/bodies.ts'
import { readGenesis } from '../../engine/journal/read-journal.ts'
import { auditOf, createBucket, write } from './commands.ts'
import { MASTER_KEY, roomyDisk, type TestStore } from './test-store.ts'

/** Makes a snapshot of a store at once, in this thread. */
export function snapshotOf(
  paths: StorePaths,
  options: Partial<SnapshotRequest> = {},
  disk: Disk = roomyDisk,
  pace: Pace = NO_PACE,
): Promise<MadeSnapshot | undefined> {
  const { deploymentId } = decodeGenesis(readGenesis(disk, paths))
  const request: SnapshotRequest = {
    deploymentId: Buffer.from(deploymentId).toString('hex'),
    keys: options.keys ?? keysOf(disk, paths, MASTER_KEY),
    followerIsWhole: false,
    reservedBytes: 0,
    kept: 2,
    createdMilliseconds: millisecondsOf(1_800_000_000_000),
    ...options,
  }
  return makeSnapshot(disk, paths, request, pace)
}

/** Writes objects, some of them over others, until the journal has begun so many more segments. */
export async function fillSegments(store: TestStore, bucket: string, segments = 1): Promise<void> {
  const { client, journal } = store
  if (store.catalog.snapshot().bucket(bucket) === undefined) await client.execute(createBucket(bucket))
  const wanted = journal.place.segmentNumber + segments
  for (let index = 0; journal.place.segmentNumber < wanted; index += 1) {
    const written = client.execute(write(bucket, `key-${index % 40}`, Buffer.from(`value ${index}`)))
    client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', 'x'.repeat(10_000)] }, 'success')
    await written
    await store.loop.drained()
  }
}
