/** What a data directory knows of its last backup. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { BackupNote } from '../../cli/backup/backup-note.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { backUp, modelled } from '../support/backups.ts'
import { report, root } from '../support/doctor-report.ts'
import { startProcess } from '../support/server-process.ts'
import { run } from './command-runner.ts'
import { MASTER_KEY } from '../support/test-clients.ts'

const ID = 'ab'.repeat(16)
const BACKUP = {
  atMilliseconds: millisecondsOf(1_780_000_000_000),
  sequence: 7,
  directory: '/backup/store',
  missing: 0,
}

test('a note is read as it was kept, and ignored when it is of something else or damaged', (t) => {
  const paths = new StorePaths(t.testdir())
  const note = new BackupNote(nodeDisk, paths, ID)
  t.same(note.read(), { backup: undefined, ignored: undefined }, 'there is none')
  note.keep(BACKUP)
  t.same(note.read(7), { backup: BACKUP, ignored: undefined })
  t.match(note.read(6), { backup: undefined, ignored: 'it is about another journal' })
  t.match(new BackupNote(nodeDisk, paths, 'cd'.repeat(16)).read(), { ignored: 'it is about another journal' })
  const text = readFileSync(paths.backedUp, 'utf8')
  writeFileSync(paths.backedUp, text.replace('"sequence":7', '"sequence":8'))
  t.match(note.read(), { backup: undefined, ignored: 'its checksum is wrong' })
  note.keep({ ...BACKUP, sequence: 9 })
  t.match(note.read(), { backup: { sequence: 9 } }, 'the next backup writes it again')
  t.end()
})

test('a backup leaves a note in the store; without one it is whole all the same', async (t) => {
  const directory = t.testdir()
  const [data, backup] = [join(directory, 'data'), join(directory, 'backup')]
  const life = await modelled(data)
  await life.put('a', Buffer.from('a'))
  const { point, deploymentId, unnoted } = await backUp(data, backup)
  t.equal(unnoted, undefined)
  const paths = new StorePaths(data)
  t.match(new BackupNote(nodeDisk, paths, deploymentId).read(point.sequence), {
    backup: { sequence: point.sequence, directory: backup, missing: 0 },
  })
  const create = (path: string) => {
    if (path.startsWith(paths.backedUp)) throw new Error('no room for a note')
    return nodeDisk.create(path)
  }
  await life.put('b', Buffer.from('b'))
  t.match(await backUp(data, backup, { ...nodeDisk, create }), { run: 2, unnoted: 'no room for a note' })
})

test('the metrics of a running server say when, and the doctor', async (t) => {
  const directory = t.testdir()
  const [data, backup] = [join(directory, 'data'), join(directory, 'backup')]
  const server = await startProcess({ dataDirectory: data })
  t.teardown(() => server.kill9())
  t.equal((await server.wire.send('PUT', '/photos')).status, 200)
  const metrics = async () => {
    const headers = { authorization: `Bearer ${server.scrapeToken}` }
    return (await fetch(`${server.apiEndpoint}/metrics`, { headers })).text()
  }
  t.notMatch(await metrics(), /^object_store_backup/m, 'before the first backup')
  const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'), OBJECT_STORE_DATA_DIR: data }
  const { stdout, exitCode } = await run(['backup', backup, '--json'], { environment })
  t.equal(exitCode, 0)
  const { sequence, unnoted } = JSON.parse(stdout) as { sequence: number; unnoted: string | null }
  t.equal(unnoted, null)
  const text = await metrics()
  t.match(text, new RegExp(`^object_store_backup_sequence ${sequence}$`, 'm'))
  t.match(text, /^object_store_backup_completed_seconds 1\.\d+e\+09$|^object_store_backup_completed_seconds \d{10}/m)
  const found = await report({ OBJECT_STORE_DATA_DIR: data })
  t.match(found.of('backup'), new RegExp(`^ok: the last one ended .*Z, up to record ${sequence}, in ${backup}$`))
  t.equal((await report({ OBJECT_STORE_DATA_DIR: root })).of('backup'), 'ok: none was made yet, and the store is new')
})
