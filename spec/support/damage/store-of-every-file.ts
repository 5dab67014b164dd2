/** A store that has every kind of file which a data directory can have, made as a server makes them. */
import { BackupNote } from '../../../cli/backup/backup-note.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { decodeGenesis } from '../../../engine/journal/bodies.ts'
import { readGenesis } from '../../../engine/journal/read-journal.ts'
import { run } from '../../cli/command-runner.ts'
import { signingOf } from '../checkpoint-signing.ts'
import { auditOf, createBucket, deleteObject, write, writeFile } from '../commands.ts'
import { compressJournal } from '../journals/cold-segments.ts'
import { editFile, segmentPath } from '../journal-files.ts'
import { sampleBytes } from '../sample-bytes.ts'
import { snapshotOf } from '../snapshots.ts'
import { openTestStore, OTHER_BOOT_ID, storeFile, type TestStore } from '../test-store.ts'
import { createWebhook } from '../webhooks/webhook-commands.ts'

export const BUCKET = 'damaged'
export const SMALL = sampleBytes(2000, 1)
export const LARGE = sampleBytes(150_000, 2)
/** Bytes of a segment. */
export const SEGMENT_BYTES = 64 * 1024

const audit = auditOf('s3:GET', 'x')

/** Entries until the journal has begun so many segments. */
async function fill({ client, journal, loop }: TestStore, segments: number): Promise<void> {
  for (let count = 0; journal.place.segmentNumber < segments; count += 1) {
    await client.execute(write(BUCKET, `object-${count}`, Buffer.from('x')))
    client.record({ ...audit, metadata: ['pad', 'x'.repeat(500)] }, 'success')
    await loop.drained()
  }
}

/** A batch that a power cut tore: the next start keeps it aside. */
function tearEnd(paths: StorePaths, offset: number): void {
  editFile(segmentPath(paths, -1), (bytes) => void bytes.fill(0xa5, offset, offset + 40))
}

/**
 * Makes the store, and stops it. Cold, sealed and open segments, a volume, payload files, a webhook, two snapshots,
 * trees of checkpoints, evidence of a torn batch, a kept verdict, a note of a backup. Its segments have `SEGMENT_BYTES`.
 */
export async function makeStoreOfEveryFile(root: string): Promise<void> {
  const options = { segmentBytes: SEGMENT_BYTES }
  const torn = await openTestStore(root, options)
  await torn.client.execute(createBucket(BUCKET))
  const { offset } = torn.journal.place
  await torn.kill()
  tearEnd(torn.paths, offset)
  const store = await openTestStore(root, { ...options, bootId: OTHER_BOOT_ID })
  const { client, paths } = store
  await client.execute(write(BUCKET, 'small', SMALL))
  await client.execute(writeFile(BUCKET, 'large', LARGE, await storeFile(store, LARGE)))
  await client.execute(createWebhook('all', { bucket: BUCKET, prefix: undefined, enabled: false }))
  await fill(store, 3)
  await snapshotOf(paths)
  await fill(store, 4)
  await snapshotOf(paths)
  await client.execute(deleteObject(BUCKET, 'object-1'))
  const signing = signingOf(store)
  await signing.settle()
  await signing.close()
  await store.close(true)
  await compressJournal(paths, 2)
  await run(['journal', 'verify', '--data-dir', root])
  const id = Buffer.from(decodeGenesis(readGenesis(nodeDisk, paths)).deploymentId).toString('hex')
  new BackupNote(nodeDisk, paths, id).keep({
    atMilliseconds: systemMilliseconds(),
    sequence: 3,
    directory: '/b',
    missing: 0,
  })
}
