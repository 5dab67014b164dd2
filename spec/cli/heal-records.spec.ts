/** A repair leaves records, also after a crash; the open segment is healed where the chain proves the bytes; locks are left as they are. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import tap from 'tap'
import { healStore, type HealReport } from '../../cli/backup/heal/heal.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { backUp, backupCase, LARGE_BYTES, type Modelled, modelled } from '../support/backups.ts'
import { write } from '../support/commands.ts'
import { failingAt } from '../support/failing-disk.ts'
import { type JournalEntry, journalEntries } from '../support/journal-entries.ts'
import { dataLength, flipByte, segmentNames, segmentPath } from '../support/journal-files.ts'
import { startManaged } from '../support/management-server.ts'
import { dumpStore, MASTER_KEY, openTestStore, readObject, someBytes } from '../support/test-store.ts'
import { setRetention } from '../support/version-commands.ts'

tap.setTimeout(120_000)

const LARGE = someBytes(LARGE_BYTES)

interface Places {
  readonly data: string
  readonly backup: string
  readonly paths: StorePaths
}

/** A store with a large object, backed up while it lived on; no process has it open. */
async function stopped(
  t: Test,
  name = '',
  more: (life: Modelled) => Promise<void> = async () => undefined,
): Promise<Places> {
  const root = name === '' ? t.testdir() : join(t.testdirName, name)
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('b', LARGE, true)
  await more(life)
  await backUp(data, backup)
  await life.put('c', someBytes(100))
  await life.stop()
  return { data, backup, paths: new StorePaths(data) }
}

function heal({ data, backup }: Places, key?: string, disk: Disk = nodeDisk): Promise<HealReport> {
  const object = key === undefined ? undefined : { bucket: 'photos', key, versionId: undefined }
  const options = { object, masterKey: MASTER_KEY, by: 'host:spec', progress: () => undefined }
  return healStore(disk, new StorePaths(data), backup, options)
}

function fileOf(paths: StorePaths): string {
  const [name = ''] = nodeDisk.list(paths.files).flatMap((one) => nodeDisk.list(join(paths.files, one)))
  return paths.file(name)
}

async function startAndStop(data: string): Promise<void> {
  await (await openTestStore(data)).close(true)
}

function repairsIn(data: string): JournalEntry[] {
  return journalEntries(data).filter(({ operation }) => operation === 'storage.heal')
}

backupCase(
  'each repair is a record after the next start, once, and a query finds it, also after a replay',
  async (t) => {
    const places = await stopped(t, '', async (life) => {
      for (let count = 0; count < 600; count += 1) await life.put('d', someBytes(10))
    })
    const { data, backup, paths } = places
    const [sealed = ''] = segmentNames(paths)
    flipByte(join(paths.journal, sealed), 5000)
    rmSync(fileOf(paths))
    t.equal((await heal(places)).healed.length, 2)
    t.ok(existsSync(paths.unrecorded))
    t.same((await heal(places)).healed, [], 'what is intact is not repaired, and the records stay')
    for (let starts = 0; starts < 2; starts += 1) {
      await startAndStop(data)
      const [segment, payload, ...more] = repairsIn(data)
      t.same(more, [])
      const expected = { principal: 'system:operator', result: 'success', credentialId: undefined }
      t.match(segment, { ...expected, resource: `segment:${sealed}` })
      t.match(payload, { ...expected, resource: /^payload:\d+$/, requestId: segment?.requestId })
      const details = { by: 'host:spec', from: backup, before: /./, after: 'intact', repaired_at: /^\d{4}-.*Z$/ }
      for (const one of [segment, payload]) t.match(Object.fromEntries(one?.details ?? []), details)
    }
    t.notOk(existsSync(paths.unrecorded))
    t.ok((await verifyJournal(paths.journal, { threads: 0 })).intact)
    const events = async () => {
      const server = await startManaged({ dataDirectory: data, masterKey: MASTER_KEY })
      const { events: found } = await server.api.get<{ events: unknown[] }>(
        'GET',
        '/audit/events?operation=storage.heal',
      )
      await server.stop()
      return found
    }
    const found = await events()
    t.match(found, [{ resource: `segment:${sealed}`, metadata: { before: /digest of its seal/, after: 'intact' } }, {}])
    rmSync(paths.projections, { recursive: true })
    rmSync(paths.snapshots, { recursive: true, force: true })
    t.same(await events(), found)
  },
)

backupCase('a crash at any operation of a repair: whatever was changed has a record', async (t) => {
  const places = await stopped(t)
  const { data, paths } = places
  const file = fileOf(paths)
  const sound = readFileSync(file)
  const damaged = Buffer.from(sound)
  damaged[70_000] = (damaged[70_000] ?? 0) ^ 1
  const results = new Set<string>()
  for (let operation = 0, records = 0; ; operation += 1) {
    writeFileSync(file, damaged)
    const { disk, reached } = failingAt(operation)
    await heal(places, 'b', disk).catch(() => undefined)
    const isChanged = !readFileSync(file).equals(damaged)
    await startAndStop(data)
    const [record, ...others] = repairsIn(data).slice(records)
    t.same(others, [], `operation ${operation}`)
    if (isChanged) t.match(record, { operation: 'storage.heal' }, `operation ${operation}: a change without a record`)
    if (isChanged) t.ok(readFileSync(file).equals(sound), 'and nothing but the right bytes was written')
    if (record?.result === 'success') t.ok(isChanged, 'no success without a change')
    if (record !== undefined) {
      results.add(record.result)
      t.match(Object.fromEntries(record.details), {
        bucket: 'photos',
        key: 'b',
        after: record.result === 'success' ? 'intact' : 'unknown',
      })
      records += 1
    }
    if (!reached()) break
  }
  t.same([...results].toSorted(), ['attempted', 'success'])
})

backupCase(
  'records of a repair are added to those that wait already; rotten ones end it before anything is written',
  async (t) => {
    const places = await stopped(t)
    const { data, paths } = places
    const file = fileOf(paths)
    for (let times = 0; times < 2; times += 1) {
      flipByte(file, 70_000)
      t.equal((await heal(places, 'b')).healed.length, 1)
    }
    flipByte(file, 70_000)
    const damaged = readFileSync(file)
    flipByte(paths.unrecorded, 30)
    await t.rejects(heal(places, 'b'), { name: 'JournalDamagedError', message: /unrecorded is damaged/ })
    t.ok(readFileSync(file).equals(damaged))
    flipByte(paths.unrecorded, 30)
    t.equal((await heal(places, 'b')).healed.length, 1)
    await startAndStop(data)
    const repairs = repairsIn(data)
    t.equal(repairs.length, 3)
    t.equal(new Set(repairs.map(({ requestId }) => requestId)).size, 3)
  },
)

backupCase(
  'the open segment is healed wherever the backup has it, and only where the chain proves the bytes',
  async (t) => {
    const places = await stopped(t, '', async (life) => {
      for (let count = 0; count < 8; count += 1) await life.put('d', someBytes(10))
    })
    const { data, backup, paths } = places
    const open = segmentPath(paths, -1)
    const sound = readFileSync(open)
    const end = dataLength(open)
    const backedUp = dataLength(segmentPath(new StorePaths(backup), -1))
    t.ok(backedUp < end, 'the store has written since')
    const stride = Math.ceil(backedUp / 40)
    for (let offset = 5; offset < backedUp; offset += stride) {
      flipByte(open, offset)
      const one = await heal(places).catch((error: Error) => error)
      // The only segment of a journal says whose it is.
      if (one instanceof Error && offset < SEGMENT_HEADER.bytes) {
        writeFileSync(open, sound)
        continue
      }
      t.match(one, { healed: [/^segment \d{16}\.segment: /], left: [] }, `offset ${offset}`)
      t.ok(readFileSync(open).equals(sound), `offset ${offset}: it is as it was`)
    }
    flipByte(open, backedUp + 150)
    const damaged = readFileSync(open)
    t.match(await heal(places), { healed: [], left: [/^segment .*: offset \d+: .*; with the backup: offset \d+: /] })
    t.ok(readFileSync(open).equals(damaged), 'what the backup does not have is left alone')
    writeFileSync(open, sound)
    flipByte(open, 1000)
    const mark = readFileSync(paths.head)
    writeFileSync(paths.head, Buffer.alloc(mark.length))
    t.match(await heal(places), { healed: [], left: [/without a high-water mark nothing proves its end$/] })
    writeFileSync(paths.head, mark)
    const theirs = segmentPath(new StorePaths(backup), -1)
    flipByte(theirs, 300)
    await t.rejects(heal(places), { exit: 'storeDamaged', message: /the point of manifest 1 does not hold/ })
    flipByte(theirs, 300)
    t.equal((await heal(places)).healed.length, 1)
    await startAndStop(data)
    t.ok(repairsIn(data).every(({ result, resource }) => result === 'success' && resource.startsWith('segment:')))
    t.ok((await verifyJournal(paths.journal, { threads: 0 })).intact)
  },
)

backupCase('a batch that a crash tore at the end is no damage', async (t) => {
  const places = await stopped(t)
  const open = segmentPath(places.paths, -1)
  const bytes = readFileSync(open)
  bytes.set(bytes.subarray(256, 300), dataLength(open) + ((8 - (dataLength(open) % 8)) % 8))
  writeFileSync(open, bytes)
  t.match(await heal(places), { healed: [], left: [] })
  t.ok(readFileSync(open).equals(bytes))
})

backupCase('a payload of a locked version is healed, and the lock is as it was', async (t) => {
  const mode = 'COMPLIANCE'
  const until = systemMilliseconds() + 86_400_000
  const places = await stopped(t, '', async ({ store }) => {
    const audit = write('locked', 'x', LARGE).audit
    await store.client.execute({
      kind: 'create-bucket',
      audit,
      bucket: 'locked',
      region: 'us-east-1',
      lockEnabled: true,
    })
    await store.client.execute(write('locked', 'x', someBytes(5000)))
    await store.client.execute(setRetention('locked', 'x', { mode, untilMilliseconds: until }))
  })
  const { data, paths } = places
  const rows = await dumpStore(paths)
  const volume = join(paths.volumes, '0000000000.volume')
  const sound = readFileSync(volume)
  flipByte(volume, 500)
  const object = { bucket: 'locked', key: 'x', versionId: undefined }
  const options = { object, masterKey: MASTER_KEY, by: 'host:spec', progress: () => undefined }
  t.match(await healStore(nodeDisk, paths, places.backup, options), { healed: [/./], left: [] })
  t.ok(readFileSync(volume).equals(sound))
  t.same(await dumpStore(paths), rows, 'no row has changed')
  const store = await openTestStore(data)
  t.equal((await readObject(store, 'locked', 'x'))?.length, 5000)
  await store.close(true)
  t.match(repairsIn(data), [{ result: 'success' }])
  t.match(Object.fromEntries(repairsIn(data)[0]?.details ?? []), { bucket: 'locked', key: 'x' })
})
