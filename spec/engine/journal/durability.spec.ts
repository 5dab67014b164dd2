/** Proves: DO-CAP-20, AUT-MGT-10. */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'tap'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { createBucket, deleteObject, md5Of, write, writeFile } from '../../support/commands.ts'
import { CatalogObserver } from '../../support/catalog-observer.ts'
import {
  type Fault,
  FaultDisk,
  inputOutputError,
  noSpaceError,
  type Operation,
} from '../../support/disks/fault-disk.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { openTestStore, readObject, someBytes, storeFile, type TestStore } from '../../support/test-store.ts'

const SEGMENT = /\/journal\/\d+\.segment$/
const VOLUME = /\.volume$/

const isSegment = ({ path }: Operation): boolean => SEGMENT.test(path)

function bytesFor(key: string): Buffer {
  return Buffer.from(`bytes of ${key}`)
}

const nameOf = (error: unknown): string => (error as Error).name

test('J1 nothing is visible or acknowledged before the sync of the journal has returned', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20 }, disk)
  await store.client.execute(createBucket('photos'))
  await store.client.execute(write('photos', 'old', bytesFor('old')))
  await store.client.execute(write('photos', 'gone', bytesFor('gone')))
  const keys = ['new', 'old', 'gone', 'large']
  const observer = await CatalogObserver.start(store.paths.projections)
  const before = observer.etags('photos', keys)
  t.same(before, [undefined, md5Of(bytesFor('old')), md5Of(bytesFor('gone')), undefined])
  const large = someBytes(200_000)
  const name = await storeFile(store, large)
  const settled: string[] = []
  const seen: (string | undefined)[][] = []
  const look = (operation: Operation) => {
    if (operation.name !== 'sync' || !isSegment(operation)) return undefined
    t.same(settled, [], 'nothing is acknowledged')
    seen.push(observer.etags('photos', keys))
    return undefined
  }
  const from = disk.operations.length
  disk.fault = look
  disk.after = look
  const commands = [
    write('photos', 'new', bytesFor('new')),
    write('photos', 'old', bytesFor('changed')),
    deleteObject('photos', 'gone'),
    writeFile('photos', 'large', large, name),
  ]
  await Promise.all(commands.map((command) => store.client.execute(command).then(() => settled.push(command.key))))
  disk.fault = () => undefined
  disk.after = () => undefined
  t.same(seen, [before, before], 'neither as the sync begins nor as it ends')
  t.same(settled, keys)
  t.same(
    observer.etags('photos', keys),
    [md5Of(bytesFor('new')), md5Of(bytesFor('changed')), undefined, md5Of(large)],
    'all of it is visible when it is acknowledged',
  )
  const steps = disk.operations
    .slice(from)
    .filter((operation) => operation.name !== 'read' && (SEGMENT.test(operation.path) || VOLUME.test(operation.path)))
  t.same(
    steps.map(({ name: step, path }) => `${step} ${VOLUME.test(path) ? 'volume' : 'journal'}`),
    ['write volume', 'sync volume', 'write journal', 'sync journal'],
    'payloads are durable before the journal speaks of them, all of them in one batch',
  )
  const file = disk.operations.filter(({ path, to }) => path.endsWith(name) || to?.endsWith(name))
  t.same(
    file.map(({ name: step }) => step).filter((step) => step !== 'write'),
    ['create', 'rename', 'sync', 'close'],
    'a large payload has its name, and is synced',
  )
  const renamed = disk.operations.findIndex(({ name: step, path }) => step === 'rename' && path.endsWith(name))
  const afterName = disk.operations.slice(renamed + 1, from)
  const directory = dirname(store.paths.file(name))
  t.ok(
    afterName.some(({ name: step, path }) => step === 'sync-directory' && path === directory),
    'J9 and so is its name, before the command that publishes it is sent',
  )
  await observer.stop()
  await store.close(true)
})

test('J2 J3 what comes while the disk is busy is one batch, one write, one sync', async (t) => {
  const disk = new FaultDisk()
  const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20 }, disk)
  await store.client.execute(createBucket('photos'))
  const from = disk.operations.length
  const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`)
  const done = await Promise.all(keys.map((key) => store.client.execute(write('photos', key, bytesFor(key)))))
  const steps = disk.operations.slice(from).filter((operation) => SEGMENT.test(operation.path))
  const syncs = steps.filter(({ name }) => name === 'sync').length
  t.ok(syncs < keys.length / 10, `${keys.length} writes took ${syncs} syncs`)
  t.notMatch(
    steps.map(({ name }) => name).join(),
    /write,write|sync,sync/,
    'no batch is written before the last is synced',
  )
  t.equal(steps.filter(({ name }) => name === 'write').length, syncs)
  const sequences = done.map(({ sequence }) => sequence)
  t.same(
    sequences,
    sequences.toSorted((left, right) => left - right),
    'in the order they came',
  )
  await store.close(true)
  const entries = journalEntries(store.paths.root)
  t.same(
    entries.map(({ sequence }) => sequence),
    entries.map((_, index) => index + 1),
    'sequences are gapless',
  )
  const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]))
  for (const { sequence, intent, operation, resource } of entries) {
    if (intent === undefined) continue
    const attempt = bySequence.get(intent)
    t.match(attempt, { result: 'attempted', operation, resource })
    if (intent >= sequence) t.fail(`the attempt ${intent} stands behind its outcome ${sequence}`)
  }
  t.equal(entries.filter(({ intent }) => intent !== undefined).length, keys.length + 1)
})

const BROKEN: Readonly<Record<string, { readonly name: 'sync' | 'write'; readonly fault: Fault }>> = {
  'EIO at a sync': { name: 'sync', fault: { kind: 'error', error: inputOutputError() } },
  'EIO at a write': { name: 'write', fault: { kind: 'error', error: inputOutputError() } },
  'ENOSPC at a write': { name: 'write', fault: { kind: 'error', error: noSpaceError() } },
  'a short write': { name: 'write', fault: { kind: 'short', bytes: 100 } },
}

/** Writes one object after the other, and three at once at the end; returns which were acknowledged. */
async function writeSome(store: TestStore): Promise<string[]> {
  const acknowledged: string[] = []
  const put = async (key: string) => {
    await store.client.execute(write('photos', key, bytesFor(key)))
    acknowledged.push(key)
  }
  for (const key of ['a', 'b', 'c']) await put(key).catch(() => undefined)
  await Promise.allSettled(['d', 'e', 'f'].map(put))
  return acknowledged
}

test('J7 J10 after a failed write or sync of the journal nothing more is acknowledged, and its file is left alone', async (t) => {
  const root = t.testdir()
  for (const [title, { name, fault }] of Object.entries(BROKEN)) {
    let failed = true
    for (let k = 1; failed; k += 1) {
      const directory = join(root, title.replaceAll(' ', '-'), String(k))
      const disk = new FaultDisk()
      const store = await openTestStore(directory, { segmentBytes: 1 << 20 }, disk)
      await store.client.execute(createBucket('photos'))
      let count = 0
      let failedAt = 0
      disk.fault = (operation) => {
        if (operation.name !== name || !isSegment(operation)) return undefined
        count += 1
        if (count !== k) return undefined
        failedAt = disk.operations.length
        return fault
      }
      const acknowledged = await writeSome(store)
      disk.fault = () => undefined
      failed = failedAt > 0
      if (!failed) {
        t.equal(acknowledged.length, 6, `${title}: without a fault all are acknowledged`)
        t.equal(k, 5, 'each of the four batches was broken once')
        await store.close(true)
        continue
      }
      t.equal(acknowledged.length, k - 1, `${title} ${k}: what was acknowledged before`)
      await t.rejects(store.client.execute(deleteObject('photos', 'a')), { name: 'EngineUnavailableError' })
      t.same(store.failures.map(nameOf), ['JournalPoisonedError'], 'the failure is told once')
      await store.kill()
      const touched = disk.operations.slice(failedAt).filter((operation) => isSegment(operation))
      t.same(
        touched.map((operation) => operation.name),
        ['close'],
        'not written, not synced, not cut again',
      )
      const again = await openTestStore(directory)
      for (const key of acknowledged) t.same(await readObject(again, 'photos', key), bytesFor(key), `${key} is there`)
      await again.close(true)
      t.match(await verifyJournal(again.paths.journal, { threads: 0 }), { intact: true })
    }
  }
})

test('J12 a full disk under small payloads refuses them, and what needs no space goes on', async (t) => {
  const faults: Readonly<Record<string, Fault>> = {
    ENOSPC: { kind: 'error', error: noSpaceError() },
    'a short write': { kind: 'short', bytes: 10 },
  }
  for (const [title, fault] of Object.entries(faults)) {
    const disk = new FaultDisk()
    const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20, volumeBytes: 4096 }, disk)
    await store.client.execute(createBucket('photos'))
    await store.client.execute(write('photos', 'old', bytesFor('old')))
    disk.fault = ({ name, path }) => (name === 'write' && /volumes/.test(path) ? fault : undefined)
    const results = await Promise.allSettled([
      store.client.execute(write('photos', 'small', bytesFor('small'))),
      store.client.execute(write('photos', 'needs a new volume', someBytes(4000))),
      store.client.execute(write('photos', 'empty', Buffer.alloc(0))),
      store.client.execute(deleteObject('photos', 'old')),
    ])
    t.match(
      results,
      [
        { reason: { name: 'DomainError', code: 'storage-full' } },
        { reason: { name: 'DomainError', code: 'storage-full' } },
        { status: 'fulfilled' },
        { status: 'fulfilled' },
      ],
      title,
    )
    t.same(store.failures, [])
    disk.fault = () => undefined
    await store.client.execute(write('photos', 'small', bytesFor('small')))
    await store.client.execute(write('photos', 'large', someBytes(4000)))
    await store.close(true)
    const again = await openTestStore(store.paths.root)
    t.same(await readObject(again, 'photos', 'small'), bytesFor('small'), 'and space that returns is used')
    t.equal(await readObject(again, 'photos', 'old'), undefined)
    await again.close(true)
  }
})

test('J1 J7 a broken disk under small payloads ends the engine before anything is acknowledged', async (t) => {
  for (const before of [0, 1]) {
    const disk = new FaultDisk()
    const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20, volumeBytes: 4096 }, disk)
    await store.client.execute(createBucket('photos'))
    for (let index = 0; index < before; index += 1) {
      await store.client.execute(write('photos', `before-${index}`, bytesFor('before'.repeat(250))))
    }
    let failed = 0
    disk.fault = ({ name, path }) => {
      if (name !== 'sync' || !VOLUME.test(path) || failed > 0) return undefined
      failed = disk.operations.length
      return { kind: 'error', error: inputOutputError() }
    }
    const keys = ['a', 'b', 'c']
    const writes = keys.map((key) => store.client.execute(write('photos', key, bytesFor(key.repeat(1500)))))
    t.match(
      await Promise.allSettled(writes),
      keys.map(() => ({ reason: { name: 'EngineUnavailableError' } })),
      'all of it',
    )
    t.same(store.failures.map(nameOf), ['VolumeFailedError'])
    const after = disk.operations.slice(failed).filter(({ path }) => SEGMENT.test(path) || VOLUME.test(path))
    t.same(after, [], 'the volume is not synced again, and the journal never hears of it')
    disk.fault = () => undefined
    await store.kill()
    const again = await openTestStore(store.paths.root)
    for (const key of keys) t.equal(await readObject(again, 'photos', key), undefined)
    await again.client.execute(write('photos', 'a', bytesFor('again')))
    t.same(await readObject(again, 'photos', 'a'), bytesFor('again'))
    await again.close(true)
  }
})

test('J9 J13 many segments and volumes, with restarts in between, are one journal', async (t) => {
  const root = t.testdir()
  const options = { segmentBytes: 24 * 1024, volumeBytes: 16 * 1024 }
  const disk = new FaultDisk()
  for (let round = 0; round < 5; round += 1) {
    const store = await openTestStore(root, options, disk)
    if (round === 0) await store.client.execute(createBucket('photos'))
    const keys = Array.from({ length: 60 }, (_, index) => `round-${round}/${index}`)
    await Promise.all(keys.map((key) => store.client.execute(write('photos', key, bytesFor(key.repeat(20))))))
    await (round % 2 === 0 ? store.kill() : store.close(true))
  }
  const store = await openTestStore(root, options)
  for (let round = 0; round < 5; round += 1) {
    for (let index = 0; index < 60; index += 1) {
      const key = `round-${round}/${index}`
      if (!(await readObject(store, 'photos', key))?.equals(bytesFor(key.repeat(20)))) t.fail(`${key} is not there`)
    }
  }
  await store.close(true)
  const segments = readdirSync(store.paths.journal).filter((name) => name.endsWith('.segment'))
  const report = await verifyJournal(store.paths.journal, { threads: 0 })
  t.match(report, { intact: true, segments: segments.length, problems: [] })
  t.ok(segments.length > 8 && readdirSync(store.paths.volumes).length > 4, `${segments.length} segments`)
  for (const name of segments.slice(0, -1)) {
    t.equal(statSync(join(store.paths.journal, name)).mode & 0o777, 0o444, `${name} is history`)
  }
  t.equal(journalEntries(root).length + segments.length, report.records, 'and everything in it is read')
  for (const [index, { name, to }] of disk.operations.entries()) {
    if (name !== 'rename' || to === undefined) continue
    const next = disk.operations.slice(index + 1).find(({ path }) => path === dirname(to))
    t.match(next, { name: 'sync-directory' }, `${to} has a durable name`)
  }
})
