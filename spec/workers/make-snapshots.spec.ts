import { join } from 'node:path'
import { DATA_FILE } from '../../projections/lmdb-environment.ts'
import { test, type Test } from 'tap'
import { millisecondsOf, sequenceOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { MadeSnapshot, SnapshotRequest } from '../../projections/snapshots/make-snapshot.ts'
import { usableNames } from '../../projections/snapshots/snapshot-file.ts'
import { WorkStoppedError } from '../../projections/steady-pace.ts'
import { runSnapshot } from '../../projections/snapshots/snapshot-run.ts'
import { SnapshotMaker } from '../../workers/make-snapshots.ts'
import { keysOf } from '../../cli/access/access-keys.ts'
import { flipByte } from '../support/journal-files.ts'
import { fillSegments, snapshotOf } from '../support/snapshots.ts'
import { MASTER_KEY, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

const HOUR = 3_600_000

/** A maker over a store, with a clock that the spec sets. */
async function makerOf(t: Test, more: Partial<ConstructorParameters<typeof SnapshotMaker>[3]> = {}, open?: TestStore) {
  const store = open ?? (await openTestStore(t.testdir()))
  if (open === undefined) t.teardown(() => store.kill())
  const { paths } = store
  const seen = {
    now: 0,
    free: 1e12,
    isFull: false,
    requests: [] as SnapshotRequest[],
    made: [] as MadeSnapshot[],
    failures: [] as unknown[],
  }
  const run = (request: SnapshotRequest) => {
    seen.requests.push(request)
    return { ended: snapshotOf(paths, request), stop: () => undefined }
  }
  const disk = { ...nodeDisk, space: () => ({ capacityBytes: 2e12, availableBytes: seen.free }) }
  const space = {
    get isBelowReserve() {
      return seen.isFull
    },
    space: { capacityBytes: 2e12, availableBytes: 1e12 },
  }
  const options = {
    enabled: true,
    records: 1e9,
    intervalMilliseconds: HOUR,
    kept: 2,
    refused: [],
    reservedBytes: 0,
    request: { deploymentId: store.deploymentId, keys: keysOf(roomyDisk, paths, MASTER_KEY) },
    run,
    clock: () => millisecondsOf(1_800_000_000_000 + seen.now),
    timer: () => seen.now,
    onMade: (made: MadeSnapshot) => void seen.made.push(made),
    onFailure: (error: unknown) => void seen.failures.push(error),
    ...more,
  }
  const maker = new SnapshotMaker(disk, paths, space, options)
  /** A step so much later, and everything that it began. */
  const stepAfter = async (milliseconds: number) => {
    seen.now += milliseconds
    await maker.step()
    await maker.settled()
  }
  return { store, maker, seen, stepAfter }
}

test('a snapshot is due when so many records are sealed after the last, and the follower goes on', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t, { records: 40 })
  await stepAfter(10_000)
  t.same(seen.made, [], 'no segment is sealed')
  t.match(maker.facts, { state: 'waiting', newest: undefined, count: 0, bytes: 0 })
  await fillSegments(store, 'filled')
  await stepAfter(10_000)
  t.equal(seen.made.length, 1)
  const [first] = seen.made
  t.match(maker.facts, { newest: { sequence: first?.sequence, bytes: first?.bytes }, count: 1, made: 1, failures: 0 })
  t.ok(maker.facts.bytes > (first?.bytes ?? 0), 'with what the snapshot was made from')
  await stepAfter(10_000)
  t.equal(seen.requests.length, 1, 'nothing new is sealed')
  await fillSegments(store, 'filled')
  await stepAfter(10_000)
  t.same(
    seen.requests.map(({ followerIsWhole }) => followerIsWhole),
    [false, true],
  )
  t.ok((seen.made[1]?.records ?? 0) < (first?.records ?? 0) * 2, 'only what was new')
})

test('after those that are kept a snapshot is what changed, and the facts say what was written', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t, { records: 1 })
  for (let round = 0; round < 4; round += 1) {
    await fillSegments(store, 'filled')
    await stepAfter(10_000)
  }
  t.same(
    seen.made.map(({ isWhole }) => isWhole),
    [true, true, false, false],
  )
  const { newest, writtenBytes, ...facts } = maker.facts
  t.match(facts, { count: 2, changes: 3, made: 4, failures: 0 })
  t.equal(newest?.sequence, seen.made[3]?.sequence)
  t.equal(newest?.createdMilliseconds, 1_800_000_000_000 + seen.now)
  t.equal(
    writtenBytes,
    seen.made.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  t.ok((seen.made[3]?.bytes ?? 0) * 10 < (seen.made[0]?.bytes ?? 0), 'little where little changed')
})

test('after the interval one sealed segment is enough', async (t) => {
  const { store, seen, stepAfter } = await makerOf(t)
  await fillSegments(store, 'filled')
  await stepAfter(HOUR - 10_000)
  t.equal(seen.made.length, 0)
  await stepAfter(10_000)
  t.equal(seen.made.length, 1)
  await fillSegments(store, 'filled')
  await stepAfter(HOUR - 10_000)
  t.equal(seen.made.length, 1, 'the interval begins with the last snapshot')
  await stepAfter(10_000)
  t.equal(seen.made.length, 2)
})

test('a snapshot that the start refused is replaced at once, once', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t)
  await fillSegments(store, 'filled')
  await snapshotOf(store.paths)
  await stepAfter(10_000)
  t.same(seen.requests, [], 'nothing new is sealed')
  const [{ name = '', path = '' } = {}] = usableNames(nodeDisk, store.paths)
  flipByte(path, 5000)
  const { stepAfter: stepOf, seen: later } = await makerOf(t, { refused: [name] }, store)
  for (let step = 0; step < 3; step += 1) await stepOf(10_000)
  t.equal(later.requests.length, 1)
  t.match(later.made, [{ refused: [{ name, reason: /digest/ }] }])
  t.match(usableNames(nodeDisk, store.paths), [{ name }])
  t.equal(maker.facts.count, 1)
  t.match(await snapshotOf(store.paths, { refused: [name] }), { refused: [] }, 'it is whole now')
})

test('a snapshot that was found damaged, and removed, is replaced at once, once', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t)
  await fillSegments(store, 'filled')
  await snapshotOf(store.paths)
  const [{ name = '', path = '' } = {}] = usableNames(nodeDisk, store.paths)
  nodeDisk.remove(path)
  await stepAfter(10_000)
  t.same(seen.requests, [], 'a segment that was sealed since the last snapshot is no hurry')
  maker.replace(name)
  for (let step = 0; step < 3; step += 1) await stepAfter(10_000)
  t.equal(seen.requests.length, 1)
  t.match(usableNames(nodeDisk, store.paths), [{ name }])
})

test('one that is found damaged while another is made is replaced after that', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t, { records: 40 })
  for (const [name, finds] of [
    ['during.snapshot', true],
    ['after.snapshot', false],
  ] as const) {
    await fillSegments(store, 'filled')
    seen.now += 1e6
    await maker.step()
    if (finds) maker.replace(name)
    await maker.settled()
  }
  t.match(
    seen.requests.map(({ refused }) => refused),
    [[], ['during.snapshot']],
  )
  await stepAfter(1e6)
  t.equal(seen.requests.length, 2, 'once')
})

test('a file of changes does not ask for the room of a whole snapshot', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t, { records: 40 })
  for (let made = 0; made < 2; made += 1) {
    await fillSegments(store, 'filled')
    await stepAfter(1e6)
  }
  const before = maker.facts
  t.match(before, { count: 2, changes: 1 })
  seen.free = Math.ceil(0.8 * roomyDisk.sizeOf(join(store.paths.projections, DATA_FILE)))
  await fillSegments(store, 'filled')
  await stepAfter(1e6)
  t.same(seen.failures, [])
  t.match(maker.facts, { count: 2, changes: 2, made: 3 })
})

test('without room none is made, which is said once, and the older one goes first', async (t) => {
  const { store, maker, seen, stepAfter } = await makerOf(t, { records: 1 })
  for (let round = 0; round < 2; round += 1) {
    await fillSegments(store, 'filled')
    await stepAfter(10_000)
  }
  t.equal(maker.facts.count, 2)
  await fillSegments(store, 'filled')
  seen.free = 1000
  for (let round = 0; round < 3; round += 1) await stepAfter(10_000)
  t.match(maker.facts, { state: 'no-room', count: 1, failures: 1 })
  t.equal(seen.failures.length, 1)
  seen.isFull = true
  await stepAfter(10_000)
  t.notOk(nodeDisk.exists(store.paths.projectionsFollower))
  t.equal(maker.facts.count, 1, 'the newest stays')
  seen.isFull = false
  seen.free = 1e12
  await stepAfter(10_000)
  t.match(maker.facts, { state: 'waiting', made: 3 })
  t.equal(seen.requests.at(-1)?.followerIsWhole, false)
})

test('a failure is told and tried again after a rest', async (t) => {
  let fails = true
  const { store, maker, seen, stepAfter } = await makerOf(t, {
    records: 1,
    run: (request) => ({
      ended: fails ? Promise.reject(new Error('broken')) : snapshotOf(store.paths, request),
      stop: () => undefined,
    }),
  })
  await fillSegments(store, 'filled')
  await stepAfter(10_000)
  t.match(seen.failures, [{ message: 'broken' }])
  fails = false
  await stepAfter(10_000)
  t.equal(maker.facts.made, 0, 'not at once')
  await stepAfter(60_000)
  t.match(maker.facts, { made: 1, failures: 1 })
})

test('switched off it makes none, and those that are there are told of', async (t) => {
  const { store, maker, stepAfter } = await makerOf(t, { enabled: false, records: 1 })
  await fillSegments(store, 'filled')
  t.equal(await maker.step(), 'done')
  await stepAfter(HOUR)
  t.match(maker.facts, { state: 'off', count: 0, made: 0 })
  await snapshotOf(store.paths)
  t.match(maker.facts, { state: 'off', count: 1 })
})

/** In the thread in which a server makes it. */
function inThread({ paths, deploymentId }: TestStore, bytesPerSecond: number) {
  const keys = keysOf(roomyDisk, paths, MASTER_KEY)
  const { accessChanges, accessRows, earlier } = keys
  return runSnapshot(
    paths.root,
    {
      deploymentId,
      keys: { accessChanges, accessRows, earlier },
      followerIsWhole: false,
      refused: [],
      reservedBytes: 0,
      kept: 2,
      changesShare: 0.5,
      createdMilliseconds: millisecondsOf(5),
    },
    bytesPerSecond,
  )
}

test('the thread makes a snapshot, and one that is stopped leaves none', async (t) => {
  const store = await openTestStore(t.testdir())
  t.teardown(() => store.kill())
  await fillSegments(store, 'filled')
  const slow = inThread(store, 1)
  slow.stop()
  await t.rejects(slow.ended, new WorkStoppedError())
  t.same(usableNames(nodeDisk, store.paths), [])
  t.notOk(nodeDisk.exists(store.paths.snapshotMaking))
  const made = await inThread(store, 1e9).ended
  t.match(usableNames(nodeDisk, store.paths), [{ sequence: sequenceOf(made?.sequence ?? 0) }])
})
