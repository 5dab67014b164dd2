/** Trees of checkpoints that are damaged on the disk: what differs from the journal is derived again, in its place. */
import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sequenceOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { treesIn } from '../../projections/checkpoints/tree-files.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { dataLength, flipByteInPlace, segmentPath } from '../support/journal-files.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

/** A store whose clock, and that of its worker, stand still until they are told. */
async function storeAndWorker(root: string, options: Parameters<typeof signingOf>[1] = {}) {
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now, ...options })
  return { store, signing, pass: (milliseconds: number) => void (now += milliseconds) }
}

function reasonOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error)
  }
}

/** Records as the journal has them. */
async function recordsOf({ paths }: TestStore, sequences: readonly number[]) {
  const wanted = sequences.map((sequence) => sequenceOf(sequence))
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const found = await new AuditLog(nodeDisk, paths, environment).chained(wanted, serverTurns)
  await environment.close()
  return wanted.flatMap((sequence) => found.get(sequence) ?? [])
}

test('T3 trees that a reader finds damaged are derived again in their place, while all else is proved', async (t) => {
  const { store, signing } = await storeAndWorker(t.testdir())
  for (let index = 0; index < 600; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const { log, mended } = signing
  const file = (name: string) => join(treesIn(store.paths.projections), name)
  const damages: readonly (readonly [string, number, () => void])[] = [
    ['a record hash', 1, () => flipByteInPlace(file('record-hashes'), 32 * 10)],
    ['two record hashes', 2, () => [20, 30].forEach((at) => flipByteInPlace(file('record-hashes'), 32 * at))],
    ['the root of a tile', 1, () => flipByteInPlace(file('log-1'), 0)],
    ['the root of a tile of the other tree', 1, () => flipByteInPlace(file('bundle-1'), 32)],
    ['a file that is not there', 2, () => rmSync(file('log-1'))],
    ['a file that ends early', 2, () => truncateSync(file('log-1'), 0)],
  ]
  const records = await recordsOf(store, [10])
  const last = log.last()
  for (const [name, hashes, damage] of damages) {
    damage()
    const told = [
      () => log.inclusion(10, undefined),
      () => log.tile({ level: 0, index: 0, width: 256 }),
      () => log.tile({ level: 1, index: 0, width: 2 }),
    ].map((read) => reasonOf(read))
    told.push(
      await log.bundlePaths(last, records, serverTurns).then(
        () => undefined,
        (error: { reason?: string }) => error.reason,
      ),
    )
    t.ok(told.includes('damaged'), name)
    t.same(
      told.filter((error) => error !== undefined && error !== 'damaged'),
      [],
    )
    await signing.settle()
    t.match(mended.pop(), { records: last.size + 1, hashes, failure: undefined }, name)
    log.inclusion(10, undefined)
    log.tile({ level: 0, index: 0, width: 256 })
    log.tile({ level: 1, index: 0, width: 2 })
    await log.bundlePaths(last, records, serverTurns)
  }
  flipByteInPlace(file('record-hashes'), 32 * 10)
  t.equal(
    reasonOf(() => log.tile({ level: 0, index: 0, width: 256 })),
    'damaged',
  )
  log.tile({ level: 0, index: 1, width: 256 })
  log.tile({ level: 1, index: 0, width: 2 })
  await signing.settle()
  rmSync(treesIn(store.paths.projections), { recursive: true })
  t.equal(
    reasonOf(() => log.inclusion(10, undefined)),
    'not-ready',
    'without files they are being made again',
  )
  await signing.settle()
  log.inclusion(10, undefined)
  t.same(signing.discarded, [])
  t.equal(signing.worker.facts.mendedHashes, 9 + 1 + (last.size + 1) + 4)
  await signing.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

test('T3 damaged trees over a damaged journal: what can be read is derived again, and signing goes on', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  for (let index = 0; index < 600; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const segment = segmentPath(store.paths, 0)
  const file = join(treesIn(store.paths.projections), 'record-hashes')
  const at = Math.floor(dataLength(segment) / 2)
  flipByteInPlace(segment, at)
  for (const record of [1, 500]) flipByteInPlace(file, 32 * record)
  t.equal(
    reasonOf(() => signing.log.inclusion(1, undefined)),
    'damaged',
  )
  await signing.settle()
  t.match(signing.mended, [{ hashes: 1, failure: /offset/ }])
  t.equal(
    reasonOf(() => signing.log.inclusion(500, undefined)),
    'damaged',
  )
  await signing.settle()
  t.equal(signing.mended.length, 1, 'it is not tried again and again')
  pass(60_000)
  await store.client.execute(createBucket('later'))
  await signing.settle()
  t.equal(signing.worker.facts.signed, 2)
  await signing.close()
  await store.close(false)
})

test('T3 a routine comparison that damage of the journal ends is not the last one', async (t) => {
  const { store, signing } = await storeAndWorker(t.testdir())
  for (let index = 0; index < 600; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const { worker, mended } = signing
  const segment = segmentPath(store.paths, 0)
  const file = join(treesIn(store.paths.projections), 'record-hashes')
  const at = Math.floor(dataLength(segment) / 2)
  const failing = async () => {
    flipByteInPlace(segment, at)
    worker.compare()
    await signing.settle()
    t.match(mended.pop(), { hashes: 0, failure: /offset/ })
    flipByteInPlace(segment, at)
    flipByteInPlace(file, 32 * 10)
  }
  await failing()
  worker.compare()
  await signing.settle()
  t.match(mended.pop(), { hashes: 1, failure: undefined }, 'the next scrub compares')
  await failing()
  t.equal(
    reasonOf(() => signing.log.inclusion(10, undefined)),
    'damaged',
  )
  await signing.settle()
  signing.log.inclusion(10, undefined)
  t.match(mended, [{ hashes: 1, failure: undefined }], 'and so does a reader that meets damage')
  await signing.close()
  await store.close(true)
})

test('T3 trees that no reader asks for are compared with the journal when a scrub is over', async (t) => {
  const { store, signing } = await storeAndWorker(t.testdir())
  for (let index = 0; index < 600; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  await signing.settle()
  const { worker, mended } = signing
  worker.compare()
  await signing.settle()
  t.same(mended, [], 'trees that are whole are not worth a word')
  flipByteInPlace(join(treesIn(store.paths.projections), 'record-hashes'), 32 * 10)
  await signing.settle()
  t.same(mended, [], 'nothing has read it')
  worker.compare()
  await signing.settle()
  t.match(mended, [{ hashes: 1, failure: undefined }])
  worker.compare()
  await signing.settle()
  t.equal(mended.length, 1)
  await signing.close()
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})
