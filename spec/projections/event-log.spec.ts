/**
 * Storage events as they are read from the journal: after restarts and rebuilds, where they begin, and when it is damaged.
 * Proves: RES-EVT-02, EVT-GUA-01, EVT-GUA-02, EVT-GUA-06.
 */
import { rmSync } from 'node:fs'
import { test } from 'tap'
import { sequenceOf, type UploadId } from '../../engine/brands.ts'
import { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { EventLog } from '../../projections/events/event-log.ts'
import { type EventPosition, storageEventId, type StorageEvent } from '../../projections/events/storage-event.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { rebuildProjections } from '../../projections/replay/rebuild.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { auditOf, createBucket, deleteObject, write } from '../support/commands.ts'
import { flipByte, segmentNames, segmentPath } from '../support/journal-files.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'

const IDS = { versionIds: new OpaqueIds(Buffer.alloc(32, 1)), uploadIds: new OpaqueIds<UploadId>(Buffer.alloc(32, 2)) }
const EVERYTHING = { limit: 100_000 }

/** What `work` reads from the events of a store. */
async function withEvents<T>(paths: StorePaths, work: (events: EventLog) => Promise<T>): Promise<T> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    return await work(new EventLog(roomyDisk, paths, environment, IDS))
  } finally {
    await environment.close()
  }
}

function eventsIn(paths: StorePaths): Promise<readonly StorageEvent[]> {
  return withEvents(paths, async (events) => (await events.read(EVERYTHING, serverTurns)).events)
}

test('the same events after a kill, a restart and a rebuild', async (t) => {
  const directory = t.testdir()
  const options = { segmentBytes: 16 * 1024 }
  const store = await openTestStore(directory, options)
  await store.client.execute(createBucket('b'))
  for (let index = 0; index < 40; index += 1) {
    await store.client.execute(write('b', `k${index}`, Buffer.from('x')))
    for (let reads = 0; reads < 20; reads += 1) void store.client.record(auditOf('s3:GET', 'bucket:b/k'), 'success')
  }
  await store.client.execute(deleteObject('b', 'k1'))
  const { paths } = store
  t.ok(segmentNames(paths).length > 3, 'in several segments')
  const first = await eventsIn(paths)
  t.equal(first.length, 42)
  await store.close(false)
  const again = await openTestStore(directory, options)
  t.same(await eventsIn(paths), first)
  t.ok((await compressJournal(paths)) > 2)
  t.same(await eventsIn(paths), first, 'from cold segments')
  await again.client.execute(write('b', 'after', Buffer.from('x')))
  await again.close(true)
  const all = await eventsIn(paths)
  t.same(all.slice(0, 42), first)
  t.match(all.slice(42), [{ type: 'object.created', object: 'after' }])
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
  await rebuildProjections(roomyDisk, paths)
  t.same(await eventsIn(paths), all)
  const pages = await withEvents(paths, async (events) => {
    const found: StorageEvent[] = []
    for (
      let page = await events.read({ limit: 5 }, serverTurns);
      ;
      page = await events.read({ limit: 5, after: page.position }, serverTurns)
    ) {
      found.push(...page.events)
      if (page.isAtEnd) return found
    }
  })
  t.same(pages, all, 'by pages too')
})

test('a part of the journal that cannot be read is reported', async (t) => {
  const directory = t.testdir()
  const store = await openTestStore(directory, { segmentBytes: 16 * 1024 })
  await store.client.execute(createBucket('b'))
  for (let index = 0; index < 60; index += 1) await store.client.execute(write('b', `k${index}`, Buffer.from('x')))
  const { paths } = store
  t.match(await withEvents(paths, (events) => events.read(EVERYTHING, serverTurns)), { damaged: false })
  flipByte(segmentPath(paths, 1), 2000)
  const page = await withEvents(paths, (events) => events.read(EVERYTHING, serverTurns))
  t.equal(page.damaged, true)
  t.ok(page.events.length > 40 && page.events.length < 61, 'the others are there')
  await store.close(true)
})

test('pages past damage have each event and each part that cannot be read once, in their order', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 16 * 1024 })
  const { paths } = store
  await store.client.execute(createBucket('b'))
  for (let index = 0; index < 120; index += 1) await store.client.execute(write('b', `k${index}`, Buffer.from('x')))
  const whole = await eventsIn(paths)
  // In the middle of a segment, the whole of one, and one that is not there any more.
  flipByte(segmentPath(paths, 1), 2000)
  flipByte(segmentPath(paths, 2), 20)
  rmSync(segmentPath(paths, 3))
  await withEvents(paths, async (events) => {
    const all = await events.read(EVERYTHING, serverTurns)
    const isMissing = (sequence: number) =>
      all.damage.entries.some((run) => run.sequence <= sequence && sequence <= run.lastSequence)
    t.same(
      all.events,
      whole.filter(({ sequence }) => !isMissing(sequence)),
      'all else is there',
    )
    t.match(all.damage.entries, [
      { verdict: 'content changed', place: { offset: Number } },
      { verdict: 'record is missing from the log' },
    ])
    for (const limit of [1, 2, 7]) {
      const found: StorageEvent[] = []
      const runs: unknown[] = []
      for (let after: EventPosition | undefined, isOver = false; !isOver; ) {
        const page = await events.read({ limit, after }, serverTurns)
        found.push(...page.events)
        runs.push(...page.damage.entries)
        after = page.position
        isOver = page.isAtEnd
      }
      t.same(found, all.events, `by ${limit}`)
      t.same(runs, all.damage.entries, `damage by ${limit}`)
    }
    const [run] = all.damage.entries
    const middle = sequenceOf(run!.sequence + 1)
    const from = await events.read({ limit: 1, after: { sequence: middle, index: 0 } }, serverTurns)
    t.match(from.damage.entries, [{ sequence: middle, lastSequence: run!.lastSequence }], 'from within it')
  })
  await store.close(true)
})

test('events of a segment that is not there are named, also where reading begins with it', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 16 * 1024 })
  const { paths } = store
  await store.client.execute(createBucket('b'))
  for (let index = 0; index < 60; index += 1) await store.client.execute(write('b', `k${index}`, Buffer.from('x')))
  const whole = await eventsIn(paths)
  rmSync(segmentPath(paths, 0))
  const page = await withEvents(paths, (events) => events.read(EVERYTHING, serverTurns))
  const [run] = page.damage.entries
  t.match(page.damage.entries, [{ verdict: 'record is missing from the log' }])
  t.same(
    page.events,
    whole.filter(({ sequence }) => sequence > (run?.lastSequence ?? 0)),
  )
  t.ok(page.events.length < whole.length && page.events.length > 0)
  await store.close(true)
})

test('an event that happens while a page is read is left to the next page, and is no damage', async (t) => {
  const store = await openTestStore(t.testdir())
  const { client, paths } = store
  await client.execute(createBucket('b'))
  // Records without events, so that the blocks after the first have none.
  for (let reads = 0; reads < 600; reads += 1) void client.record(auditOf('s3:GET', 'bucket:b/k'), 'success')
  await t.rejects(client.execute(deleteObject('no-such-bucket', 'k')))
  let opened = 0
  const openToReadAsync = async (path: string) => {
    if (opened === 0) await client.execute(write('b', 'late', Buffer.from('x')))
    opened += 1
    return roomyDisk.openToReadAsync(path)
  }
  const disk: Disk = Object.assign(Object.create(roomyDisk) as Disk, { openToReadAsync })
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const events = new EventLog(disk, paths, environment, IDS)
  const page = await events.read(EVERYTHING, serverTurns)
  t.equal(opened > 0, true)
  t.ok(page.position.sequence > 512, 'the event is in a block that the page has begun')
  t.match(page, { damaged: false, isAtEnd: true, events: { length: 1 } })
  const following = await events.read({ ...EVERYTHING, after: page.position }, serverTurns)
  t.match(following, { damaged: false, events: [{ object: 'late' }] })
  await environment.close()
  await store.close(true)
})

test('ids', (t) => {
  t.equal(storageEventId({ sequence: sequenceOf(4711), index: 2 }), '0000000000004711-0002')
  t.end()
})
