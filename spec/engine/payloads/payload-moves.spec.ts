/** Small payloads that compaction gives another place, and volumes that are removed. */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { bucketIdOf, payloadIdOf, uploadIdOf, volumeNumberOf } from '../../../engine/brands.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import type { VolumeLocation } from '../../../engine/payloads/payload-reader.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { copyObject, createBucket, deleteObject, write } from '../../support/commands.ts'
import { openTestStore, readObject, roomyDisk, type TestStore } from '../../support/test-store.ts'
import {
  completeUpload,
  createUpload,
  moveOf,
  movePayloads,
  removeVolume,
  writePart,
} from '../../support/upload-commands.ts'

/** Volumes of two payloads each; several commands share a batch. */
const SIZES = { segmentBytes: 1 << 20, volumeBytes: 4096 }
const BYTES = Buffer.alloc(1500, 'bytes of a small payload ')

async function storeWith(root: string, keys: readonly string[]) {
  const store = await openTestStore(root, SIZES)
  const { sequence: bucketId } = await store.client.execute(createBucket('b'))
  for (const key of keys) await store.client.execute(write('b', key, BYTES))
  const payloadOf = (key: string): number => store.catalog.snapshot().object(bucketIdOf(bucketId), key)?.payload ?? 0
  const locationOf = (payload: number): VolumeLocation => {
    const location = store.catalog.snapshot().payload(payloadIdOf(payload))
    if (location?.kind !== 'volume') throw new Error(`payload ${payload} is in no volume`)
    return location
  }
  const move = (payload: number) => moveOf(store, payload, locationOf(payload))
  /** All at once, so that they share a batch. */
  const together = (...commands: Command[]) => Promise.all(commands.map((command) => store.client.execute(command)))
  return { store, bucketId, payloadOf, locationOf, move, together }
}

/** Live payloads of each volume. */
function livesIn(store: TestStore): Record<number, number> {
  return Object.fromEntries(
    store.catalog
      .snapshot()
      .volumes()
      .map(({ volume, payloads }) => [volume, payloads]),
  )
}

async function closeAndCheck(t: Test, store: TestStore): Promise<void> {
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 }, 'replay makes the same rows')
}

test('a payload that is moved is read from its new place by all that share it', async (t) => {
  const { store, bucketId, payloadOf, locationOf, move, together } = await storeWith(t.testdir(), ['a', 'b', 'c'])
  const payload = payloadOf('a')
  const { sequence = 0 } = store.catalog.snapshot().object(bucketIdOf(bucketId), 'a') ?? {}
  await together(copyObject({ bucket: 'b', key: 'a', sequence }, { bucket: 'b', key: 'copy' }))
  t.same(livesIn(store), { 0: 2, 1: 1 })
  const before = locationOf(payload)
  await together(movePayloads([move(payload)]))
  const after = locationOf(payload)
  t.match(before, { volume: 0 })
  t.match(after, { volume: 1, length: before.length, checksum: before.checksum, sealed: false })
  t.same(livesIn(store), { 0: 1, 1: 2 })
  for (const key of ['a', 'copy', 'b', 'c']) t.same(await readObject(store, 'b', key), BYTES, key)
  await together(deleteObject('b', 'a'))
  t.same(await readObject(store, 'b', 'copy'), BYTES, 'the copy keeps it')
  await together(deleteObject('b', 'copy'))
  t.same(livesIn(store), { 0: 1, 1: 1 })
  await closeAndCheck(t, store)
})

test('a payload that was moved meanwhile is left where it is', async (t) => {
  const { store, payloadOf, locationOf, move, together } = await storeWith(t.testdir(), ['a', 'b', 'c'])
  const payload = payloadOf('a')
  const stale = move(payload)
  await together(movePayloads([stale]), movePayloads([stale]), movePayloads([stale]))
  const { volume, offset } = locationOf(payload)
  t.same(livesIn(store), { 0: 1, 1: 2 }, 'the first of a batch moves it, the others find it gone')
  await together(movePayloads([stale, move(payloadOf('b'))]))
  t.match(locationOf(payload), { volume, offset })
  t.match(locationOf(payloadOf('b')).volume, 2, 'what else the command asks for is done')
  await together(movePayloads([move(payload)]))
  t.notMatch(locationOf(payload), { volume, offset }, 'from its new place it is moved again')
  await together(movePayloads([move(payload), move(payload)]))
  t.same(await readObject(store, 'b', 'a'), BYTES, 'twice by one command')
  t.equal(
    Object.values(livesIn(store)).reduce((total, count) => total + count, 0),
    3,
  )
  await closeAndCheck(t, store)
})

test('a payload that is released in the same batch is not moved, and one that is moved is released', async (t) => {
  const { store, payloadOf, move, together } = await storeWith(t.testdir(), ['a', 'b', 'c', 'd'])
  const [first, second] = [payloadOf('a'), payloadOf('b')]
  await together(
    deleteObject('b', 'a'),
    movePayloads([move(first)]),
    movePayloads([move(second)]),
    deleteObject('b', 'b'),
  )
  t.equal(store.catalog.snapshot().payload(payloadIdOf(first)), undefined)
  t.equal(store.catalog.snapshot().payload(payloadIdOf(second)), undefined)
  t.same(livesIn(store), { 0: 0, 1: 2, 2: 0 })
  const moved = move(payloadOf('c'))
  await together(write('b', 'c', Buffer.from('over it')), movePayloads([moved]))
  t.same(await readObject(store, 'b', 'c'), Buffer.from('over it'))
  await together(movePayloads([{ ...moved, payload: 7_000_000 }]))
  await closeAndCheck(t, store)
})

function bytesOfPart(part: number): Buffer {
  return Buffer.alloc(900, `part ${part} `)
}

test('parts are moved like any payload, before their completion and after it', async (t) => {
  const { store, locationOf, together } = await storeWith(t.testdir(), ['a'])
  const [{ sequence: upload = 0 } = {}] = await together(createUpload('b', 'k'))
  const name = { bucket: 'b', key: 'k', upload }
  const etags: string[] = []
  for (const part of [1, 2, 3]) {
    const { etag = '' } = await store.client.execute(writePart(name, part, bytesOfPart(part), 5 * 1024 ** 2))
    etags.push(etag)
  }
  const payloads = [1, 2, 3].map((part) => store.catalog.snapshot().part(uploadIdOf(upload), part)?.payload ?? 0)
  const move = (payload: number | undefined) => moveOf(store, payload ?? 0, locationOf(payload ?? 0))
  const completion = completeUpload(
    name,
    [1, 2, 3].map((part, index) => ({ part, etag: etags[index] ?? '' })),
  )
  await together(movePayloads([move(payloads[0])]), completion, movePayloads([move(payloads[1])]))
  await together(movePayloads([move(payloads[2]), move(payloads[0])]))
  const whole = Buffer.concat([1, 2, 3].map(bytesOfPart))
  t.same(await readObject(store, 'b', 'k'), whole)
  const id = store.catalog.snapshot().bucket('b')?.id ?? 0
  const object = store.catalog.snapshot().object(bucketIdOf(id), 'k')
  t.equal(object?.payload, upload)
  await together(movePayloads([{ payload: upload, volume: 0, offset: 64, bytes: BYTES, checksum: 1 }]))
  t.same(await readObject(store, 'b', 'k'), whole, 'a payload of parts is in no volume')
  await together(deleteObject('b', 'k'))
  t.same(store.catalog.snapshot().storedPayloads(0, 10).length, 1)
  await closeAndCheck(t, store)
})

test('a volume is removed when nothing lives in it, and never the one that is written', async (t) => {
  const root = t.testdir()
  const { store, payloadOf, move, together } = await storeWith(root, ['a', 'b', 'c', 'd', 'e'])
  t.same(livesIn(store), { 0: 2, 1: 2, 2: 1 })
  await together(removeVolume(0), removeVolume(1), removeVolume(2), removeVolume(3))
  t.same(livesIn(store), { 0: 2, 1: 2, 2: 1 }, 'something lives in each')
  await together(movePayloads([move(payloadOf('a'))]), deleteObject('b', 'b'), removeVolume(0), removeVolume(0))
  t.same(Object.keys(livesIn(store)), ['1', '2'], 'moved, deleted and removed in one batch')
  while (existsSync(store.paths.volume(volumeNumberOf(0)))) await setTimeout(5)
  await together(deleteObject('b', 'e'), deleteObject('b', 'a'), removeVolume(2))
  t.same(livesIn(store), { 1: 2, 2: 0 }, 'the newest stays, though it is empty')
  t.same(await readObject(store, 'b', 'c'), BYTES)
  await store.close(true)

  const again = await openTestStore(root, SIZES)
  await again.client.execute(write('b', 'next', BYTES))
  await again.client.execute(write('b', 'after', BYTES))
  await again.client.execute(write('b', 'last', BYTES))
  const numbers = again.catalog
    .snapshot()
    .volumes()
    .map(({ volume }) => volume)
  t.ok(Math.min(...numbers) === 1 && Math.max(...numbers) >= 3, `${numbers.join()}: no number is used again`)
  t.same(await readObject(again, 'b', 'next'), BYTES)
  await closeAndCheck(t, again)
})

test('the only volume, and one that is newer than every entry, are not removed', async (t) => {
  const { store, together } = await storeWith(t.testdir(), ['a'])
  await together(deleteObject('b', 'a'), removeVolume(0))
  t.same(livesIn(store), { 0: 0 })
  // The batch begins volume 1, of which no row tells until it ends: volume 0 is the newest that is known.
  const three = ['x', 'y', 'z'].map((key) => write('b', key, BYTES))
  await together(...three, removeVolume(0), removeVolume(1))
  t.ok(Object.values(livesIn(store)).includes(2))
  for (const key of ['x', 'y', 'z']) t.same(await readObject(store, 'b', key), BYTES)
  await together(removeVolume(0))
  await closeAndCheck(t, store)
})
