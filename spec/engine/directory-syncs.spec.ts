/** Syncs of directories that uploads share. */
import { test } from 'tap'
import { DirectorySyncs } from '../../engine/disk/directory-syncs.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { roomyDisk } from '../support/test-store.ts'

interface Sync {
  readonly path: string
  readonly succeed: () => void
  readonly fail: () => void
}

/** A disk whose syncs of directories end when they are told to. */
function slowDisk(): { readonly disk: Disk; readonly syncs: Sync[] } {
  const syncs: Sync[] = []
  const syncDirectoryAsync = (path: string) =>
    new Promise<void>((resolve, reject) => {
      syncs.push({ path, succeed: resolve, fail: () => reject(new Error(`${path}: EIO`)) })
    })
  return { disk: { ...roomyDisk, makeDirectory: () => undefined, syncDirectoryAsync }, syncs }
}

const turn = () => new Promise(setImmediate)

test('J9 who asks while a sync is under way shares the next one, which begins after it', async (t) => {
  const { disk, syncs } = slowDisk()
  const directories = new DirectorySyncs(disk)
  const first = directories.sync('/a')
  const others = [directories.sync('/a'), directories.sync('/a')]
  const elsewhere = directories.sync('/b')
  t.same(
    syncs.map(({ path }) => path),
    ['/a', '/b'],
  )
  syncs[0]?.succeed()
  await first
  await turn()
  t.equal(syncs.length, 3, 'one more for both')
  let late = false
  const latest = directories.sync('/a').then(() => {
    late = true
  })
  syncs[2]?.succeed()
  await Promise.all(others)
  await turn()
  t.notOk(late, 'who asked during that one has another one')
  for (const { succeed } of syncs) succeed()
  await Promise.all([latest, elsewhere])
  t.equal(syncs.length, 4)
  void directories.sync('/a')
  t.equal(syncs.length, 5, 'when none is under way the next begins at once')
})

test('J9 a sync that fails fails for all who share it, and for nobody else', async (t) => {
  const { disk, syncs } = slowDisk()
  const directories = new DirectorySyncs(disk)
  const first = directories.sync('/a')
  const second = directories.sync('/a')
  syncs[0]?.fail()
  await t.rejects(first, /EIO/)
  await turn()
  const third = [directories.sync('/a'), directories.sync('/a')]
  syncs[1]?.succeed()
  await second
  await turn()
  syncs[2]?.fail()
  for (const result of third) await t.rejects(result, /EIO/)
  const made = directories.make('/a/b', '/a')
  syncs[3]?.fail()
  await t.rejects(made, /EIO/)
  const again = directories.make('/a/b', '/a')
  t.equal(syncs.length, 5, 'what is not durable is synced again')
  syncs[4]?.succeed()
  await again
  await directories.make('/a/b', '/a')
  t.equal(syncs.length, 5, 'and what is durable is not')
})
