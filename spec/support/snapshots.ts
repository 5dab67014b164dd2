/** Stores with snapshots, for specs. */
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { type MadeSnapshot, makeSnapshot, type SnapshotRequest } from '../../projections/snapshots/make-snapshot.ts'
import { chains, filesOf } from '../../projections/snapshots/snapshot-chain.ts'
import { NO_PACE, type Pace } from '../../projections/steady-pace.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { decodeGenesis } from '../../engine/journal/bodies.ts'
import { readGenesis } from '../../engine/journal/read-journal.ts'
import { auditOf, createBucket, write } from './commands.ts'
import { MASTER_KEY, roomyDisk, type TestStore } from './test-store.ts'

/** Makes a snapshot of a store at once, in this thread: a whole one, unless told otherwise. */
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
    refused: [],
    reservedBytes: 0,
    kept: 2,
    changesShare: 0,
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

/** Name of the last file that a start from a whole snapshot uses: of the changes after it, if there are some. */
export function lastFileOf(paths: StorePaths, whole: string | undefined): string | undefined {
  const chain = chains(roomyDisk, paths).find((each) => each.whole.name === whole)
  return chain && filesOf(chain).at(-1)?.name
}
