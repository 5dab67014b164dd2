/**
 * Single bits that flip anywhere in the file of the rows while the store is stopped: each is found, and nothing is missing. A disk
 * that cannot read it, or cannot keep its sums.
 */
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { BucketId } from '../../engine/brands.ts'
import { DATA_FILE } from '../../projections/lmdb-environment.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { stopFault, writeStopSums } from '../../projections/stop-sums.ts'
import { createBucket, write } from '../support/commands.ts'
import {
  type Fault,
  FaultDisk,
  inputOutputError,
  type Operation,
  type OperationName,
} from '../support/disks/fault-disk.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { everyNth } from '../support/share-of-cases.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

const FLIPS = 1000
/** Of them one of so many is started with, without SPEC_FULL. */
const NTH = 50
const KEYS = Array.from({ length: 60 }, (_, index) => `key-${index}`)
const EVERY = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 1000 }

function answersOf({ catalog }: TestStore) {
  const snapshot = catalog.snapshot()
  const id = snapshot.bucket('flipped')?.id as BucketId
  return [snapshot.list(id, EVERY), KEYS.map((key) => snapshot.object(id, key))]
}

/** Bits all over a file of so many bytes, of each place in a byte. */
function bits(length: number): number[] {
  return Array.from({ length: FLIPS }, (_, index) => Math.floor((index * length * 8) / FLIPS) + (index % 8))
}

function failing(name: OperationName, path: string) {
  return (operation: Operation): Fault | undefined =>
    operation.name === name && operation.path === path ? { kind: 'error', error: inputOutputError() } : undefined
}

test('a flipped bit anywhere is found by the next start', async (t) => {
  const root = join(t.testdir(), 'data')
  const store = await openTestStore(root)
  await store.client.execute(createBucket('flipped'))
  for (const key of KEYS) await store.client.execute(write('flipped', key, sampleBytes(20, 1)))
  const answers = answersOf(store)
  await store.close(true)
  const { paths } = store
  const path = join(paths.projections, DATA_FILE)

  const whole = readFileSync(path)
  for (const bit of bits(whole.length)) {
    const flipped = Buffer.from(whole)
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
    writeFileSync(path, flipped)
    if ((await stopFault(roomyDisk, paths)) === undefined) t.fail(`bit ${bit}`)
  }
  writeFileSync(path, whole)
  t.equal(await stopFault(roomyDisk, paths), undefined, 'and without one the file is as it was')

  for (const share of everyNth(
    Array.from({ length: FLIPS }, (_, index) => index),
    NTH,
  )) {
    const file = readFileSync(path)
    const bit = bits(file.length)[share] as number
    file[bit >> 3] = (file[bit >> 3] as number) ^ (1 << (bit & 7))
    writeFileSync(path, file)
    const again = await openTestStore(root)
    t.match(again.report.discardedProjections, /^their file changed since the store stopped/, `bit ${bit}`)
    t.same(answersOf(again), answers, `bit ${bit}`)
    await again.close(true)
  }
})

test('a disk that cannot read the file or its sums has damaged rows, which are derived again', async (t) => {
  const store = await openTestStore(join(t.testdir(), 'data'))
  await store.client.execute(createBucket('flipped'))
  const answers = answersOf(store)
  await store.close(true)
  const { paths } = store
  for (const unreadable of [join(paths.projections, DATA_FILE), paths.projectionsSums]) {
    const disk = new FaultDisk()
    disk.fault = failing('read', unreadable)
    const again = await openTestStore(paths.root, {}, disk)
    disk.fault = () => undefined
    t.match(again.report.discardedProjections, /^their file, or its sums, cannot be read: EIO/)
    t.same(answersOf(again), answers)
    await again.close(true)
  }
})

test('a stop on a disk that fails while the sums are made ends in order, and leaves none', async (t) => {
  const root = join(t.testdir(), 'data')
  const first = await openTestStore(root)
  await first.client.execute(createBucket('flipped'))
  await first.close(true)
  const { paths } = first
  const making = `${paths.projectionsSums}-making`
  for (const [name, path] of [
    ['read', join(paths.projections, DATA_FILE)],
    ['create', making],
    ['write', making],
    ['sync', making],
    ['close', making],
    ['rename', making],
  ] as const) {
    const disk = new FaultDisk()
    const store = await openTestStore(root, {}, disk)
    disk.fault = failing(name, path)
    await store.close(true)
    t.notOk(existsSync(making), name)
    t.notOk(existsSync(paths.projectionsSums), name)
    const again = await openTestStore(root)
    t.equal(again.report.discardedProjections, undefined, name)
    await again.close(true)
  }
})

test('the thread goes on while a large file is summed, and a file that would take too long has no sums', async (t) => {
  const paths = new StorePaths(join(t.testdir(), 'data'))
  mkdirSync(paths.projections, { recursive: true })
  const path = join(paths.projections, DATA_FILE)
  writeFileSync(path, sampleBytes(1000, 1))
  truncateSync(path, 5 * 4 * 1024 ** 2 + 7)
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await writeStopSums(roomyDisk, paths)
  t.ok(existsSync(paths.projectionsSums))
  const before = turns
  t.ok(before >= 5, 'what else there is to do has a turn after each block')
  t.equal(await stopFault(roomyDisk, paths), undefined)
  t.ok(turns >= before + 5)
  isOver = true
  roomyDisk.remove(paths.projectionsSums)
  truncateSync(path, 4 * 1024 ** 3 + 1)
  await writeStopSums(roomyDisk, paths)
  t.notOk(existsSync(paths.projectionsSums))
})
