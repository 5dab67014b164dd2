/** The scrub (J17): it reads everything, finds damage and names the objects, keeps its rate, and goes on after a restart. */
import { closeSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { test } from 'tap'
import { millisecondsOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { PayloadScrub } from '../../workers/scrub/payload-scrub.ts'
import { StoreScrub } from '../../workers/scrub/scrub-store.ts'
import { SegmentScrub } from '../../workers/scrub/segment-scrub.ts'
import { auditOf, createBucket, deleteObject, write, writeFile } from '../support/commands.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { segmentPath } from '../support/journal-files.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import { dumpStore, openTestStore, roomyDisk, someBytes, storeFile, type TestStore } from '../support/test-store.ts'

const START = Date.parse('2126-01-02T03:04:05Z')
const DAY = 86_400_000
const MIB = 2 ** 20

interface Scene {
  now: number
  timer: number
}

/** A scrub of a store; it may always read on unless `timer` is held. */
function scrubOf(store: TestStore, scene: Scene, { intervalDays = 30, disk = store.disk as Disk } = {}) {
  const found: unknown[] = []
  const ends: unknown[] = []
  const payloads = new PayloadReader(disk, store.paths)
  const scrubbed = {
    payloads: new PayloadScrub(store.catalog, payloads),
    segments: new SegmentScrub(disk, store.paths),
  }
  const worker = new StoreScrub(store.client, store.catalog, scrubbed, {
    intervalDays,
    bytesPerSecond: 100 * MIB,
    createdMilliseconds: millisecondsOf(START),
    clock: () => millisecondsOf(scene.now),
    timer: () => (scene.timer += 1000),
    onDamage: (damage) => found.push(damage),
    onEnd: (pass) => ends.push(pass),
  })
  const run = async (): Promise<void> => {
    while ((await worker.step()) === 'more');
  }
  const stop = async (): Promise<void> => {
    await worker.close()
    payloads.close()
  }
  return { worker, run, stop, found, ends }
}

async function openScene(root: string): Promise<{ store: TestStore; scene: Scene }> {
  const scene = { now: START, timer: 0 }
  const store = await openTestStore(root, { clock: () => scene.now * 1000, segmentBytes: 64 * 1024 })
  await store.client.execute(createBucket('b'))
  return { store, scene }
}

const begin = { kind: 'begin-scrub', audit: auditOf('StorageScrub', 'storage') } as const

/** Turns a bit of a file where it is, as a disk does. */
function turnBit(path: string, offset: number): void {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, offset)
  writeSync(file, Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, offset)
  closeSync(file)
}

/** Where a small object is. */
function volumePlace(store: TestStore, key: string): { path: string; offset: number } {
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('b')
  const payload = bucket && snapshot.object(bucket.id, key)?.payload
  const location = payload && snapshot.payload(payload)
  if (location?.kind !== 'volume') throw new Error(`${key} is not in a volume`)
  return { path: store.paths.volume(location.volume), offset: location.offset }
}

test('a pass reads every payload and sealed segment, and is due an interval after the one before', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  for (let index = 0; index < 300; index += 1) await store.client.execute(write('b', `k${index}`, someBytes(2000)))
  const name = await storeFile(store, someBytes(3 * MIB))
  await store.client.execute(writeFile('b', 'large', Buffer.alloc(3 * MIB), name))
  const { worker, run, stop, ends } = scrubOf(store, scene)
  t.equal(worker.dueSeconds, (START + 30 * DAY) / 1000)
  scene.now = START + 30 * DAY - 1
  await run()
  t.same(ends, [], 'not due yet')
  scene.now = START + 30 * DAY
  await run()
  t.match(ends, [{ stage: 'over', payloads: 301, damaged: 0 }])
  const [{ segments = 0, bytes = 0 } = {}] = ends as [{ segments: number; bytes: number }]
  t.ok(segments >= 1, 'there are sealed segments')
  t.ok(bytes > 300 * 2000 + 3 * MIB + segments * 40_000)
  t.ok((worker.dueSeconds ?? 0) >= (START + 60 * DAY) / 1000, 'an interval after its end')
  scene.now += 30 * DAY - 1
  await run()
  t.equal(ends.length, 1)
  scene.now += DAY
  await run()
  t.equal(ends.length, 2)
  await stop()
  await store.close(true)
  const tables = await dumpStore(store.paths)
  t.same(await rebuiltTables(store.paths), tables, 'a replay knows the same of it')
})

test('damage is named by object, known after a rebuild, and forgotten when it is gone', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  for (const key of ['sound', 'turned', 'removed later']) {
    await store.client.execute(write('b', key, someBytes(2000)))
  }
  const name = await storeFile(store, someBytes(MIB))
  await store.client.execute(writeFile('b', 'large', Buffer.alloc(MIB), name))
  const missing = await storeFile(store, someBytes(MIB))
  await store.client.execute(writeFile('b', 'missing', Buffer.alloc(MIB), missing))
  const turned = volumePlace(store, 'turned')
  turnBit(turned.path, turned.offset + 7)
  const removed = volumePlace(store, 'removed later')
  turnBit(removed.path, removed.offset + 1999)
  turnBit(store.paths.file(name), MIB - 1)
  rmSync(store.paths.file(missing))
  const { run, stop, found, ends } = scrubOf(store, scene, { intervalDays: 0 })
  await run()
  t.same(ends, [], 'without an interval it waits to be asked')
  await store.client.execute(begin)
  await run()
  t.match(ends, [{ damaged: 4 }])
  const objects = (found as { objects: { key: string }[]; reason: string }[]).map((one) => [
    one.objects[0]?.key,
    one.reason.replace(/^(volume|payload file) .*: /, ''),
  ])
  t.same(objects, [
    ['turned', 'checksum does not match'],
    ['removed later', 'checksum does not match'],
    ['large', 'checksum does not match'],
    ['missing', 'it is gone'],
  ])
  t.equal(store.catalog.snapshot().scrub()?.damage.length, 4)
  await store.client.execute(deleteObject('b', 'removed later'))
  t.equal(store.catalog.snapshot().scrub()?.damage.length, 3, 'nobody needs the bytes of a removed object')
  turnBit(turned.path, turned.offset + 7)
  scene.now += 1000
  await store.client.execute(begin)
  t.equal(store.catalog.snapshot().scrub()?.damage.length, 3, 'until the pass is over all are known')
  await run()
  t.same(
    store.catalog
      .snapshot()
      .scrub()
      ?.damage.flatMap(({ damage }) => damage.objects.map(({ key }) => key))
      .toSorted(),
    ['large', 'missing'],
    'what was repaired is forgotten',
  )
  await stop()
  await store.close(true)
  t.same(await rebuiltTables(store.paths), await dumpStore(store.paths))
})

test('an unreadable sector is damage; a lack of descriptors is not', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  const name = await storeFile(store, someBytes(MIB))
  await store.client.execute(writeFile('b', 'large', Buffer.alloc(MIB), name))
  let code = 'EMFILE'
  const failing = (path: string) => {
    if (path.endsWith(name)) throw Object.assign(new Error(code), { code })
  }
  // A reader opens a file by either, as it thinks fit.
  const disk: Disk = {
    ...roomyDisk,
    openToRead: (path) => {
      failing(path)
      return roomyDisk.openToRead(path)
    },
    openToReadAsync: async (path) => {
      failing(path)
      return roomyDisk.openToReadAsync(path)
    },
  }
  const { worker, run, stop, found } = scrubOf(store, scene, { disk })
  await store.client.execute(begin)
  await t.rejects(worker.step(), { code: 'EMFILE' })
  code = 'EIO'
  await run()
  t.match(found, [{ kind: 'payload', reason: 'the disk cannot read it', objects: [{ key: 'large' }] }])
  await stop()
  await store.close(true)
})

test('a damaged sealed segment is found by its first sequence, wherever it is damaged', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  for (let index = 0; index < 500; index += 1) await store.client.execute(write('b', `k${index}`, someBytes(500)))
  const segment = segmentPath(store.paths, 1)
  const { run, stop, found } = scrubOf(store, scene)
  for (const offset of [3, 300, statSync(segment).size >> 1, statSync(segment).size - 1]) {
    turnBit(segment, offset)
    scene.now += 1000
    await store.client.execute(begin)
    await run()
    t.match(found.splice(0), [{ kind: 'segment', number: Number(/(\d{16})\.segment/.exec(segment)?.[1]), objects: [] }])
    turnBit(segment, offset)
  }
  scene.now += 1000
  await store.client.execute(begin)
  await run()
  t.same(found, [])
  await compressJournal(store.paths)
  for (const offset of [30, statSync(segment).size >> 1, statSync(segment).size - 1]) {
    turnBit(segment, offset)
    scene.now += 1000
    await store.client.execute(begin)
    await run()
    t.match(found.splice(0), [{ kind: 'segment', objects: [] }], `cold, offset ${offset}`)
    turnBit(segment, offset)
  }
  scene.now += 1000
  await store.client.execute(begin)
  await run()
  t.same(found, [], 'cold, and sound')
  await stop()
  await store.close(true)
})

test('a restart goes on where the pass was; a kill repeats a part of it', async (t) => {
  const root = t.testdir()
  const { store, scene } = await openScene(root)
  for (let index = 0; index < 400; index += 1) await store.client.execute(write('b', `k${index}`, someBytes(500)))
  const first = scrubOf(store, scene)
  await store.client.execute(begin)
  for (let steps = 0; steps < 3; steps += 1) await first.worker.step()
  await first.stop()
  const before = store.catalog.snapshot().scrub()?.progress
  t.ok(before !== undefined && before.payloads > 0 && before.payloads < 400, 'in the middle')
  await store.close(true)

  const again = await openTestStore(root, { clock: () => scene.now * 1000 })
  const second = scrubOf(again, scene)
  await second.worker.step()
  await again.kill()

  const killed = await openTestStore(root, { clock: () => scene.now * 1000 })
  t.same(killed.catalog.snapshot().scrub()?.progress, before, 'what was not recorded is read again')
  const third = scrubOf(killed, scene)
  await third.run()
  t.match(third.ends, [{ payloads: 400, damaged: 0, startedMicroseconds: before?.startedMicroseconds }])
  await third.stop()
  await killed.close(true)
})

test('a pass that is asked for while one is under way changes nothing', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  await store.client.execute(begin)
  const { progress } = store.catalog.snapshot().scrub() ?? {}
  scene.now += 5000
  await store.client.execute(begin)
  t.same(store.catalog.snapshot().scrub()?.progress, progress)
  await store.close(true)
})

test('more damage than one record holds takes several', async (t) => {
  const { store, scene } = await openScene(t.testdir())
  for (let index = 0; index < 300; index += 1) await store.client.execute(write('b', `k${index}`, someBytes(100)))
  const paths = new Set(Array.from({ length: 300 }, (_, index) => volumePlace(store, `k${index}`).path))
  for (const path of paths) rmSync(path)
  const { run, stop, found, ends } = scrubOf(store, scene)
  await store.client.execute(begin)
  await run()
  t.equal(found.length, 300)
  t.match(ends, [{ damaged: 300 }])
  t.equal(store.catalog.snapshot().scrub()?.damage.length, 256, 'so many are kept')
  await stop()
  await store.close(true)
})
