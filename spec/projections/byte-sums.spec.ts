/** Sums of bytes beyond what a double tells exactly: every journal can be replayed, whatever rules it was written by. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { keysOf } from '../../cli/access/access-keys.ts'
import { bucketIdOf } from '../../engine/brands.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { rebuildProjections } from '../../projections/replay/rebuild.ts'
import { openTables, type Tables } from '../../projections/tables/table-list.ts'
import { bucketUsage } from '../../projections/tables/usage.ts'
import { createBucket, write } from '../support/commands.ts'
import { HugeHistory, LARGEST, poisoned } from '../support/journals/huge-history.ts'
import { dumpStore, MASTER_KEY, openTestStore, roomyDisk } from '../support/test-store.ts'

const NOTHING = { objects: 0, bytes: 0, noncurrent: 0, noncurrentBytes: 0, markers: 0, uploadBytes: 0 }
/** What the counter of a row tells of a sum. */
const told = (sum: bigint): bigint => (sum > 2n ** 63n - 1n ? 2n ** 63n - 1n : sum)

/** Rows of a store that is stopped; a start takes them for what a kill left. */
async function inRows<T>(paths: StorePaths, work: (tables: Tables) => T): Promise<T> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  const result = environment.write(() => work(openTables(environment)))
  await environment.close()
  rmSync(paths.projectionsSums, { force: true })
  return result
}

test('a journal that took a sum of bytes beyond 2^53 and back starts, and its numbers are right', async (t) => {
  const history = poisoned()
  t.same(history.versions, [])
  const paths = history.save(t.testdir())
  const store = await openTestStore(paths.root)
  const usage = () => store.catalog.snapshot().bucketUsage(bucketIdOf(history.bucketId))
  t.match(usage(), NOTHING)
  await store.client.execute(createBucket('another'))
  await store.client.execute(write('huge', 'object', Buffer.from('bytes')))
  t.match(usage(), { objects: 1, bytes: 5 })
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
  const before = await dumpStore(paths)
  await rebuildProjections(roomyDisk, paths, undefined, keysOf(roomyDisk, paths, MASTER_KEY))
  t.same(await dumpStore(paths), before)
})

/** Sizes near every limit that a field of the journal has. */
const size = fc
  .tuple(fc.constantFrom(3, LARGEST, 2 ** 52, Number.MAX_SAFE_INTEGER), fc.nat({ max: 3 }))
  .map(([limit, less]) => limit - less)
type Step = readonly [isWrite: boolean, key: string, size: number, which: number]
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.nat(9).map((of) => of < 6),
  fc.constantFrom('a', 'b'),
  size,
  fc.nat(),
)

test('whatever sizes a journal tells, replay ends, and the counters are the exact sums or the greatest they hold', async (t) => {
  const root = t.testdir()
  let runs = 0
  let beyond = 0
  await fc.assert(
    // Some grow past 2^63 first, 1,024 times 2^53, and one twice as far.
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 0, 1010, 2060), async (steps, before) => {
      const history = new HugeHistory()
      for (let count = 0; count < before; count += 1) history.write('a', Number.MAX_SAFE_INTEGER)
      for (const [isWrite, key, bytes, which] of steps) {
        if (isWrite || history.versions.length === 0) history.write(key, bytes)
        else history.deleteAt(which % history.versions.length)
      }
      const paths = history.save(join(root, String((runs += 1))))
      const store = await openTestStore(paths.root)
      await store.close(true)
      const tally = await inRows(paths, (tables) => bucketUsage.tally(tables.bucketUsage, bucketIdOf(history.bucketId)))
      const { current, noncurrent } = history.bytes
      if (current + noncurrent >= 2n ** 53n) beyond += 1
      const found = [tally.exactly('bytes'), tally.exactly('noncurrentBytes')]
      const expected = [told(current), told(noncurrent)]
      if (found.join() !== expected.join()) throw new Error(`${found.join()} instead of ${expected.join()}`)
      const { differenceCount } = await checkProjections(roomyDisk, paths)
      if (differenceCount > 0) throw new Error('rows are not those of another replay')
    }),
    { numRuns: 12, endOnFailure: true },
  )
  t.ok(beyond > 3, `${beyond} of ${runs} journals led beyond 2^53`)
})

test('a counter that is wrong is counted again from the rows, at a start and while the store runs', async (t) => {
  const recounts: unknown[] = []
  const open = (root: string) => openTestStore(root, { onRecounted: (found) => recounts.push(found) })
  const root = t.testdir()
  const first = await open(root)
  const { sequence: id } = await first.client.execute(createBucket('b'))
  for (const key of ['one', 'two']) await first.client.execute(write('b', key, Buffer.from('bytes')))
  await first.close(true)
  t.same(recounts, [])
  const before = await dumpStore(first.paths)
  const spoil = (bytes: number) =>
    inRows(first.paths, (tables) => {
      const tally = bucketUsage.tally(tables.bucketUsage, bucketIdOf(id))
      tally.add('bytes', bytes)
      bucketUsage.put(tables.bucketUsage, tally, bucketIdOf(id))
    })
  await spoil(-11)
  const second = await open(root)
  t.match(recounts.splice(0), [{ counters: `bucket ${id}`, found: { bytes: -1 }, counted: { objects: 2, bytes: 10 } }])
  await second.close(true)
  t.same((await dumpStore(first.paths))['bucket-usage'], before['bucket-usage'])
  await spoil(-9)
  const third = await open(root)
  t.same(recounts, [], 'it can be right')
  await third.client.execute(write('b', 'one', Buffer.alloc(0)))
  t.match(recounts.splice(0), [{ counters: `bucket ${id}`, found: { bytes: -4 }, counted: { objects: 2, bytes: 5 } }])
  t.match(third.catalog.snapshot().bucketUsage(bucketIdOf(id)), { objects: 2, bytes: 5 })
  t.same(third.failures, [])
  await third.close(true)
  t.match(await checkProjections(roomyDisk, first.paths), { differenceCount: 0 })
})
