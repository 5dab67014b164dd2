/** What a backup refuses, and disks that fail under a backup and a restore. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { readHeadMark } from '../../engine/journal/head-mark.ts'
import { holdStore } from '../../engine/disk/store-holds.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { backUp, backupCase, compare, faultsOf, LARGE_BYTES, modelled, restore, verify } from '../support/backups.ts'
import { flipByteInPlace, segmentPath } from '../support/journal-files.ts'
import { failingAt } from '../support/failing-disk.ts'
import { openTestStore, someBytes } from '../support/test-store.ts'
import { until } from '../support/waiting.ts'

backupCase('directories that must not be touched are refused', async (t) => {
  const root = t.testdir({ full: { file: 'x' } })
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('a', someBytes(10))
  await t.rejects(backUp(data, join(root, 'full')), { exit: 'usage', message: /is not empty/ })
  await t.rejects(backUp(data, join(data, 'backup')), { exit: 'usage', message: /inside it/ })
  await t.rejects(backUp(join(root, 'none'), backup), { exit: 'notFound', message: /there is no/ })
  await t.rejects(verify(join(root, 'none')), { exit: 'notFound', message: /there is no/ })
  await backUp(data, backup)
  await t.rejects(openTestStore(backup), { name: 'NotAStoreError', message: /is a backup/ })
  await t.rejects(backUp(backup, join(root, 'other')), { exit: 'usage', message: /itself a backup/ })
  await t.rejects(restore(backup, join(root, 'full')), { exit: 'usage', message: /not empty/ })
  const other = await modelled(join(root, 'other-data'))
  await t.rejects(backUp(other.store.paths.root, backup), { exit: 'failed', message: /another store/ })
  const lock = await lockStore(nodeDisk, backup)
  await t.rejects(backUp(data, backup), { name: 'StoreLockedError' }, 'two backups into one directory at once')
  await lock.release()
  t.match(await backUp(data, backup), { missing: [] })
})

backupCase('of a running store a backup takes what HEAD marks, and never a batch that was refused', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  const lock = await lockStore(nodeDisk, data)
  t.teardown(() => lock.release())
  await life.put('a', someBytes(100))
  const { sequence } = life.store.journal.position
  const { point } = await backUp(data, backup)
  t.ok(point.sequence >= sequence, 'it waits until what was acknowledged is marked')
  t.same(await faultsOf(backup), [])
})

backupCase('damage in the open segment is never taken for the end of the journal', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  const { paths } = life.store
  const marked = async () => {
    const { sequence } = life.store.journal.position
    await until(() => (readHeadMark(nodeDisk, paths)?.sequence ?? 0) >= sequence)
  }
  await life.put('a', someBytes(100))
  await marked()
  const { offset } = life.store.journal.place
  for (const key of ['b', 'c', 'd']) await life.put(key, someBytes(100))
  flipByteInPlace(segmentPath(paths, -1), offset + 100)
  await marked()
  const damaged = { name: 'JournalDamagedError', message: /offset \d+/ }
  const lock = await lockStore(nodeDisk, data)
  await t.rejects(backUp(data, backup), damaged, 'while a server runs')
  await lock.release()
  await t.rejects(backUp(data, backup), damaged, 'after a server that was killed')
  writeFileSync(paths.head, Buffer.alloc(8192))
  await t.rejects(backUp(data, backup), damaged, 'before the mark has come so far')
})

backupCase(
  'a disk that is full at any moment of a backup leaves the backup of before, and the next one succeeds',
  async (t) => {
    const root = t.testdir()
    const [data, backup] = [join(root, 'data'), join(root, 'backup')]
    const life = await modelled(data)
    await life.put('a', someBytes(3000))
    await backUp(data, backup)
    for (let operation = 0; ; operation += 1) {
      await life.put('a', someBytes(3000))
      await life.put('b', someBytes(LARGE_BYTES), true)
      const { disk, reached } = failingAt(operation)
      const failed = await backUp(data, backup, disk).then(
        () => false,
        () => true,
      )
      t.same(await faultsOf(backup), [], `operation ${operation}`)
      if (!reached()) {
        t.notOk(failed)
        break
      }
    }
    const { point } = await backUp(data, backup)
    await restore(backup, join(root, 'restored'))
    await compare(t, join(root, 'restored'), life.at(point.sequence))
  },
)

backupCase('a disk that is full at any moment of a restore leaves nothing that a server opens', async (t) => {
  const root = t.testdir()
  const [data, backup, restored] = [join(root, 'data'), join(root, 'backup'), join(root, 'restored')]
  const life = await modelled(data)
  await life.put('a', someBytes(3000))
  await life.put('b', someBytes(LARGE_BYTES), true)
  await backUp(data, backup)
  for (let operation = 0; ; operation += 1) {
    const { disk, reached } = failingAt(operation)
    const failed = await restore(backup, restored, undefined, false, disk).then(
      () => false,
      () => true,
    )
    if (!reached()) {
      t.notOk(failed)
      break
    }
    t.notOk(existsSync(join(restored, 'journal')), `operation ${operation}`)
    t.notOk(existsSync(join(restored, 'payloads')), `operation ${operation}`)
    rmSync(restored, { recursive: true, force: true })
  }
  await compare(t, restored, life.at(life.store.journal.position.sequence))
})

backupCase('half a restore is refused by name', async (t) => {
  const root = t.testdir({ half: { restoring: { journal: {} } }, done: { restoring: { state: {} } } })
  await t.rejects(openTestStore(join(root, 'half')), { name: 'NotAStoreError', message: /did not finish/ })
  const done = await openTestStore(join(root, 'done'))
  await done.close(true)
  t.notOk(existsSync(join(root, 'done', 'restoring')), 'what a restore leaves that was killed after its end goes')
})

backupCase('while a backup holds the store, what is deleted stays, and the backup ends whole', async (t) => {
  const root = t.testdir()
  const [data, backup] = [join(root, 'data'), join(root, 'backup')]
  const life = await modelled(data)
  await life.put('b', someBytes(LARGE_BYTES), true)
  const hold = await holdStore(nodeDisk, life.store.paths)
  const files = (): string[] =>
    (readdirSync(life.store.paths.files, { recursive: true }) as string[]).filter((path) => path.includes('/'))
  await life.remove('b')
  t.equal(files().length, 1)
  t.match(await backUp(data, backup), { missing: [] })
  await hold.release()
})
