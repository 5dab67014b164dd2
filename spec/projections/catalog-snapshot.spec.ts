/** A snapshot of the catalog is one state of it, and refuses to mix two. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { test } from 'tap'
import { bucketIdOf, microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { StaleSnapshotError } from '../../projections/catalog/catalog-snapshot.ts'
import { CommitCounts } from '../../projections/catalog/commit-counts.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { putBucket } from '../../projections/tables/buckets.ts'
import { putObject } from '../../projections/tables/objects.ts'
import { openTables, type Tables } from '../../projections/tables/table-list.ts'

const BUCKET = 7
const KEY = 'key'
const NOW = microsecondsOf(1_767_323_045_000_000)
const OBJECT = {
  isNull: true,
  isMarker: false,
  modifiedMicroseconds: microsecondsOf(0),
  size: 0,
  etag: 'd41d8cd98f00b204e9800998ecf8427e',
  digest: Buffer.alloc(32),
  headers: [],
  metadata: [],
  payload: undefined,
  lock: undefined,
  checksum: undefined,
}

/** A writer, and a reader with a transaction of its own as another thread has. */
function open(root: string) {
  const directory = join(root, 'projections')
  mkdirSync(directory)
  const writer = ProjectionEnvironment.open(directory, { readOnly: false })
  const tables = openTables(writer)
  writeAll(writer, tables, 1)
  const reader = ProjectionEnvironment.open(directory, { readOnly: false })
  const close = async () => {
    await reader.close()
    await writer.close()
  }
  const counts = new CommitCounts()
  const catalog = new CatalogReader(reader)
  return {
    catalog,
    counts,
    counted: new CatalogReader(reader, counts),
    write: (at: number) => writeAll(writer, tables, at),
    close,
  }
}

/** Commits a bucket and an object that both say `at`. */
function writeAll(environment: ProjectionEnvironment, tables: Tables, at: number): void {
  const bucket = {
    id: bucketIdOf(BUCKET),
    name: 'bucket',
    region: 'r',
    createdMicroseconds: microsecondsOf(at),
    versioning: 'off',
  } as const
  const rest = { lockEnabled: false, defaultRetention: undefined, quota: { bytes: undefined, objects: undefined } }
  environment.write(() => {
    putBucket(tables.buckets, { ...bucket, ...rest })
    putObject(tables.objects, bucketIdOf(BUCKET), KEY, { ...OBJECT, sequence: sequenceOf(at) })
  })
}

test('all reads of a snapshot are of one state, and the next snapshot has what was committed since', async (t) => {
  const { catalog, write, close } = open(t.testdir())
  t.teardown(close)
  const snapshot = catalog.snapshot()
  t.equal(snapshot.bucket('bucket')?.createdMicroseconds, 1)
  write(2)
  t.equal(snapshot.object(bucketIdOf(BUCKET), KEY)?.sequence, 1, 'a commit in between is not seen')
  t.equal(snapshot.newestVersion(bucketIdOf(BUCKET), KEY)?.sequence, 1)
  t.equal(catalog.snapshot().object(bucketIdOf(BUCKET), KEY)?.sequence, 2)
})

test('a snapshot that was overtaken by another one is refused', async (t) => {
  const { catalog, write, close } = open(t.testdir())
  t.teardown(close)
  const snapshot = catalog.snapshot()
  snapshot.bucket('bucket')
  write(2)
  catalog.snapshot().bucket('bucket')
  t.throws(() => snapshot.object(bucketIdOf(BUCKET), KEY), StaleSnapshotError)
  t.throws(() => snapshot.totals(), StaleSnapshotError)
})

test('a snapshot that was kept over turns of the event loop is refused', async (t) => {
  const { catalog, write, close } = open(t.testdir())
  t.teardown(close)
  const snapshot = catalog.snapshot()
  snapshot.bucket('bucket')
  await Promise.resolve()
  t.equal(snapshot.object(bucketIdOf(BUCKET), KEY)?.sequence, 1)
  write(2)
  await setTimeout(5)
  t.throws(() => snapshot.object(bucketIdOf(BUCKET), KEY), StaleSnapshotError)
})

test('with counts of commits, a snapshot has every commit that was counted', (t) => {
  const { counted, counts, write, close } = open(t.testdir())
  t.teardown(close)
  const sequence = () => counted.snapshot().object(bucketIdOf(BUCKET), KEY)?.sequence
  const created = () => counted.snapshot().bucket('bucket')?.createdMicroseconds
  t.equal(sequence(), 1)
  write(2)
  t.equal(sequence(), 1, 'in the same turn nothing is read again that nobody was told of')
  counts.countCommit(NOW)
  t.equal(sequence(), 2)
  t.equal(created(), 2)
  write(3)
  counts.countCommit(NOW)
  t.equal(created(), 2, 'a bucket is kept until one is known to have changed')
  t.equal(counted.snapshot().bucket('other'), undefined)
  counts.countSettings(NOW)
  t.equal(created(), 3)
  write(4)
  counts.countSettings(NOW)
  t.equal(created(), 4, 'and the commit that changed it is counted with it')
  t.equal(sequence(), 4)
  t.end()
})

test('with counts, a snapshot is bound to the state of its first read', async (t) => {
  const { counted, counts, write, close } = open(t.testdir())
  t.teardown(close)
  const [early, late] = [counted.snapshot(), counted.snapshot()]
  t.equal(early.object(bucketIdOf(BUCKET), KEY)?.sequence, 1)
  t.equal(late.object(bucketIdOf(BUCKET), KEY)?.sequence, 1)
  write(2)
  counts.countCommit(NOW)
  t.equal(counted.snapshot().object(bucketIdOf(BUCKET), KEY)?.sequence, 2)
  t.throws(() => early.object(bucketIdOf(BUCKET), KEY), StaleSnapshotError)
  const kept = counted.snapshot()
  kept.object(bucketIdOf(BUCKET), KEY)
  await setTimeout(5)
  t.throws(() => kept.object(bucketIdOf(BUCKET), KEY), StaleSnapshotError)
  t.equal(counted.snapshot().object(bucketIdOf(BUCKET), KEY)?.sequence, 2)
})
