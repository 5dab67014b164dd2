/** Repair from a backup: one object taken out, and damage put back in place, never with other bytes than the journal states. */
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { extractObject } from '../../cli/backup/extract.ts'
import { healStore, type HealReport } from '../../cli/backup/heal/heal.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { crc32 } from '../../engine/hashing/crc32.ts'
import { storeKeys } from '../../engine/keys/store-keys.ts'
import { PayloadSealer } from '../../engine/payloads/sealing.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { backUp, backupCase, LARGE_BYTES, type Modelled, modelled } from '../support/backups.ts'
import { write } from '../support/commands.ts'
import { failingAt } from '../support/failing-disk.ts'
import { POSITION_ROWS } from '../support/damage/position-row.ts'
import { flipByte, segmentNames } from '../support/journal-files.ts'
import { MASTER_KEY, openTestStore, readObject, someBytes } from '../support/test-store.ts'
import { run } from './command-runner.ts'

const quiet = () => undefined

function heal(data: string, from: string, key?: string, disk: Disk = nodeDisk): Promise<HealReport> {
  const object = key === undefined ? undefined : { bucket: 'photos', key, versionId: undefined }
  return healStore(disk, new StorePaths(data), from, {
    object,
    masterKey: MASTER_KEY,
    by: 'host:spec',
    progress: quiet,
  })
}

function extract(from: string, key: string, to: string, at?: number, masterKey?: Uint8Array) {
  const object = { bucket: 'photos', key, versionId: undefined }
  return extractObject(nodeDisk, from, object, to, { at, masterKey, progress: quiet })
}

const SMALL = someBytes(5000)
const LARGE = someBytes(LARGE_BYTES)

interface Places {
  readonly data: string
  readonly backup: string
  readonly paths: StorePaths
}

/** A store with two small objects and a large one, and its backup; no process has it open. */
async function stopped(
  t: Test,
  more: (life: Modelled) => Promise<void> = async () => undefined,
  name = '',
): Promise<Places> {
  const root = join(t.testdir(), name)
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('a', SMALL)
  await life.put('b', LARGE, true)
  await life.put('c', someBytes(100))
  await more(life)
  await backUp(data, backup)
  await life.stop()
  return { data, backup, paths: new StorePaths(data) }
}

function volumeOf(paths: StorePaths): string {
  return join(paths.volumes, '0000000000.volume')
}

function filesIn(paths: StorePaths): string[] {
  const names = readdirSync(paths.files, { recursive: true, withFileTypes: true })
  return names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Opens the store as a server does and reads what was healed. */
async function intact(t: Test, data: string): Promise<void> {
  const store = await openTestStore(data)
  t.ok((await readObject(store, 'photos', 'a'))?.equals(SMALL))
  t.ok((await readObject(store, 'photos', 'b'))?.equals(LARGE))
  await store.close(true)
}

const DAMAGE: readonly (readonly [what: string, key: string, damage: (paths: StorePaths) => void])[] = [
  [
    'a byte of a small object',
    'a',
    (paths) => flipByte(volumeOf(paths), readFileSync(volumeOf(paths)).indexOf(SMALL) + 7),
  ],
  [
    'the header of its frame and a byte',
    'a',
    (paths) => {
      const at = readFileSync(volumeOf(paths)).indexOf(SMALL)
      for (const offset of [at - 30, at]) flipByte(volumeOf(paths), offset)
    },
  ],
  ['a volume that ends early', 'a', (paths) => truncateSync(volumeOf(paths), 200)],
  ['a byte of a large object', 'b', (paths) => flipByte(filesIn(paths)[0] ?? '', 70_000)],
  ['a checksum in its file', 'b', (paths) => flipByte(filesIn(paths)[0] ?? '', LARGE_BYTES + 1)],
  ['a file that is gone', 'b', (paths) => rmSync(filesIn(paths)[0] ?? '')],
  ['a file that is cut', 'b', (paths) => truncateSync(filesIn(paths)[0] ?? '', 10)],
]

for (const [what, key, damage] of DAMAGE) {
  backupCase(`healed from a backup: ${what}`, async (t) => {
    const { data, backup, paths } = await stopped(t)
    damage(paths)
    const report = await heal(data, backup, key)
    t.match(report, { checked: 1, healed: [new RegExp(`^payload \\d+ \\(photos/${key}\\): `)], left: [] })
    t.match(await heal(data, backup, key), { checked: 1, healed: [], left: [] }, 'what is intact is not touched')
    const all = await heal(data, backup)
    t.same(all.left, [])
    t.equal(all.checked, 3)
    await intact(t, data)
    t.same(readdirSync(paths.uploads), [])
  })
}

backupCase('all damage at once, a missing volume and a sealed segment included', async (t) => {
  const { data, backup, paths } = await stopped(t, async (life) => {
    for (let count = 0; count < 600; count += 1) await life.put('d', someBytes(10))
  })
  const sealed = segmentNames(paths).slice(0, -1)
  t.ok(sealed.length >= 1)
  flipByte(join(paths.journal, sealed[0] ?? ''), 5000)
  rmSync(volumeOf(paths))
  rmSync(filesIn(paths)[0] ?? '')
  const one = await heal(data, backup, 'a').catch((error: unknown) => error)
  t.match(one, { name: 'JournalDamagedError', message: /segments are healed first/ })
  const report = await heal(data, backup)
  t.match(report.healed[0], /^segment \d{16}\.segment: its bytes do not have the digest of its seal$/)
  t.same(report.left, [])
  t.ok(report.healed.length >= 3)
  t.ok((await verifyJournal(paths.journal, { threads: 0 })).intact)
  await intact(t, data)
})

backupCase('what the backup does not have, or has damaged, is left and named', async (t) => {
  const { data, backup, paths } = await stopped(t)
  const life = await modelled(data)
  await life.put('d', someBytes(LARGE_BYTES), true)
  await life.stop()
  for (const path of filesIn(paths)) rmSync(path)
  flipByte(filesIn(new StorePaths(backup))[0] ?? '', 5)
  const { healed, left } = await heal(data, backup)
  t.same(healed, [])
  t.match(
    left.toSorted((one, other) => one.length - other.length),
    [
      /^payload \d+ \(photos\/\w\): the backup does not have it$/,
      /^payload \d+ \(photos\/\w\): it is damaged in the backup too$/,
    ],
  )
  t.same(filesIn(paths), [], 'nothing that is not proved is written')
})

backupCase(
  'the backup of another store, no backup, a store without projections, an object that is not there',
  async (t) => {
    const { data, backup, paths } = await stopped(t)
    const root = join(t.testdirName, 'more')
    const other = await modelled(join(root, 'data'))
    await backUp(join(root, 'data'), join(root, 'backup'))
    await other.stop()
    const before = readFileSync(volumeOf(paths))
    await t.rejects(heal(data, join(root, 'backup')), { exit: 'usage', message: /is a backup of store [0-9a-f]{32}/ })
    await t.rejects(heal(data, join(root, 'none')), { exit: 'notFound', message: /there is no backup/ })
    await t.rejects(heal(data, backup, 'none'), { exit: 'notFound', message: /the store has no object with this key/ })
    flipByte(join(backup, 'manifests', '0000000001.manifest'), 20)
    await t.rejects(heal(data, backup), { exit: 'storeDamaged', message: /manifest/ })
    flipByte(join(backup, 'manifests', '0000000001.manifest'), 20)
    rmSync(paths.projections, { recursive: true })
    await t.rejects(heal(data, backup, 'a'), { exit: 'projectionsFailed', message: /projections rebuild/ })
    t.ok(readFileSync(volumeOf(paths)).equals(before))
  },
)

backupCase('projections that cannot tell what they have', async (t) => {
  for (const [what, edit] of Object.entries(POSITION_ROWS)) {
    const { data, backup, paths } = await stopped(t, async () => undefined, what)
    edit(paths.projections)
    const advised = { exit: 'projectionsFailed', message: /start the server and stop it/ }
    await t.rejects(heal(data, backup, 'a'), advised, what)
  }
})

backupCase(
  'a disk that is full at any moment leaves what was there or what is right, and the next try heals it',
  async (t) => {
    const { data, backup, paths } = await stopped(t)
    const [file = ''] = filesIn(paths)
    const sound = readFileSync(file)
    const damaged = Buffer.from(sound)
    damaged[70_000] = (damaged[70_000] ?? 0) ^ 1
    for (let operation = 0; ; operation += 1) {
      writeFileSync(file, damaged)
      const { disk, reached } = failingAt(operation)
      const failed = await heal(data, backup, 'b', disk).then(
        () => undefined,
        (error: Error) => error.name,
      )
      if (!reached()) break
      t.equal(failed, 'DiskFullError')
      const found = readFileSync(file)
      t.ok(found.equals(damaged) || found.equals(sound), `operation ${operation}`)
      t.same(readdirSync(paths.uploads), [])
    }
    await intact(t, data)
  },
)

backupCase('the command needs a stopped server, and ends with 21 for what stays damaged', async (t) => {
  const { data, backup, paths } = await stopped(t)
  const options = { environment: { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex') } }
  const command = ['storage', 'heal', '--data-dir', data, '--from', backup]
  const lock = await lockStore(nodeDisk, data)
  t.equal((await run(command, options)).exitCode, 22)
  await lock.release()
  t.match(await run([...command, 'photos'], options), { exitCode: 2, stderr: /BUCKET and KEY go together/ })
  rmSync(filesIn(paths)[0] ?? '')
  rmSync(filesIn(new StorePaths(backup))[0] ?? '')
  t.match(await run([...command, 'photos', 'b'], options), { exitCode: 21, stdout: /0 put back, 1 still damaged/ })
  t.match(await run([...command, 'photos', 'a', '--json'], options), { exitCode: 0, stdout: /"payloads_checked":1/ })
})

backupCase('an object is taken out of a backup, proved by its digest', async (t) => {
  let older = 0
  const first = someBytes(300)
  const { backup } = await stopped(t, async (life) => {
    await life.put('d', first)
    older = life.store.journal.position.sequence
    await life.put('d', LARGE, true)
  })
  const to = (name: string) => join(t.testdirName, name)
  t.match(await extract(backup, 'a', to('a')), { bytes: SMALL.length, isDigestKnown: true })
  t.ok(readFileSync(to('a')).equals(SMALL))
  await extract(backup, 'd', to('d'))
  t.ok(readFileSync(to('d')).equals(LARGE))
  await extract(backup, 'd', to('d-older'), older)
  t.ok(readFileSync(to('d-older')).equals(first))
  await t.rejects(extract(backup, 'none', to('x')), { exit: 'notFound', message: /no object with this key/ })
  await t.rejects(extract(backup, 'a', to('x'), 1e9), { exit: 'notFound', message: /ends with record/ })
  await t.rejects(extract(to('none'), 'a', to('x')), { exit: 'notFound', message: /there is no backup/ })
  await t.rejects(extract(backup, 'a', to('x'), undefined, Buffer.alloc(32, 1)), { name: 'MasterKeyMismatchError' })
  for (const path of filesIn(new StorePaths(backup))) flipByte(path, 100_000)
  await t.rejects(extract(backup, 'd', to('x')), { name: 'PayloadDamagedError' })
  t.notOk(existsSync(to('x')))
  const command = ['backup', 'extract', backup, 'photos']
  t.equal((await run([...command, 'a', to('a')])).exitCode, 2, 'a file that exists is not written over')
  t.match(await run([...command, 'a', to('again')]), { exitCode: 0, stdout: /proved by the digest in the journal/ })
  t.equal((await run([...command, 'b', to('b')])).exitCode, 21)
  t.equal((await run([...command, 'b', to('b'), '--version-id', 'abc'])).exitCode, 23)
})

backupCase('encrypted objects need the master key, and are healed and taken out with it', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  const sealer = new PayloadSealer(storeKeys(MASTER_KEY, Buffer.from(life.store.deploymentId, 'hex')).payloads)
  const envelope = sealer.seal(Buffer.alloc(14, 7), SMALL)
  const body = { kind: 'inline', bytes: Uint8Array.from(envelope), checksum: crc32(envelope), sealed: true } as const
  await life.store.client.execute({ ...write('photos', 'a', SMALL), body })
  await backUp(data, backup)
  await life.stop()
  const volume = volumeOf(new StorePaths(data))
  t.equal(readFileSync(volume).indexOf(SMALL), -1)
  await t.rejects(extract(backup, 'a', join(root, 'a')), { exit: 'masterKey', message: /is encrypted/ })
  await extract(backup, 'a', join(root, 'a'), undefined, MASTER_KEY)
  t.ok(readFileSync(join(root, 'a')).equals(SMALL))
  const before = readFileSync(volume)
  flipByte(volume, 200)
  t.match(await heal(data, backup, 'a'), { healed: [/not encrypted with this store/], left: [] })
  t.ok(readFileSync(volume).equals(before))
})
