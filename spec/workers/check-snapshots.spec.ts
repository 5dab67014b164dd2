/** All snapshots are read once a day, some bytes in a step; a damaged snapshot is named, removed and replaced. */
import { readFileSync, writeFileSync } from 'node:fs'
import { test, type Test } from 'tap'
import type { DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { usableNames } from '../../projections/snapshots/snapshot-file.ts'
import { type DamagedSnapshot, SnapshotWalk } from '../../projections/snapshots/snapshot-walk.ts'
import { SnapshotCheck } from '../../workers/check-snapshots.ts'
import { fillSegments, snapshotOf } from '../support/snapshots.ts'
import { openTestStore, roomyDisk } from '../support/test-store.ts'

const HOUR = 60 * 60 * 1000
const PIECE = 64 * 1024

/** A store with two snapshots, which is stopped. */
async function twoSnapshots(t: Test): Promise<StorePaths> {
  const store = await openTestStore(t.testdir())
  for (let count = 0; count < 2; count += 1) {
    await fillSegments(store, 'filled')
    await snapshotOf(store.paths)
  }
  await store.close(true)
  return store.paths
}

/** What a pass finds, and in how many steps. */
function pass(walk: SnapshotWalk): { readonly found: readonly DamagedSnapshot[]; readonly steps: number } {
  const found: DamagedSnapshot[] = []
  for (let steps = 0; ; steps += 1) {
    const step = walk.next()
    if (step === 'over') return { found, steps }
    if (step !== 'more') found.push(step)
  }
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] as number) ^ 4
  writeFileSync(path, bytes)
}

test('a pass a day, in one step a second', async (t) => {
  let now = 5
  const damaged = { name: 'a', reason: 'a bit' }
  const answers = ['more', damaged, 'more', 'over', 'more'] as const
  let steps = 0
  const found: DamagedSnapshot[] = []
  const walk = { next: () => answers[steps++] ?? ('over' as const), close: () => undefined }
  const worker = new SnapshotCheck(walk, { timer: () => now, onDamage: (each) => found.push(each) })
  for (let step = 0; step < 9; step += 1) t.equal(await worker.step(), 'idle')
  t.equal(steps, 4, 'nothing is read before a day is over')
  t.same(found, [damaged])
  t.equal(worker.status, '1 passes over all snapshots')
  now += 24 * HOUR
  await worker.step()
  t.equal(steps, 5)
  await worker.close()
})

test('a flipped bit anywhere in a snapshot is found, and the file removed', async (t) => {
  const paths = await twoSnapshots(t)
  const walk = new SnapshotWalk(roomyDisk, paths, PIECE)
  const whole = pass(walk)
  t.same(whole.found, [])
  t.ok(whole.steps > 4, `bounded pieces: ${whole.steps} steps`)
  t.same(pass(walk), whole, 'the next pass reads all again')
  const [newest, older] = usableNames(roomyDisk, paths)
  if (newest === undefined || older === undefined) throw new Error('there are two')
  const bytes = readFileSync(older.path)
  for (const at of [0, 5000, bytes.length - 200, bytes.length - 45, bytes.length - 1]) {
    writeFileSync(older.path, bytes)
    flip(older.path, at)
    t.match(pass(walk).found, [{ name: older.name, reason: /.+/ }], `byte ${at} of ${bytes.length}`)
    t.same(
      usableNames(roomyDisk, paths).map(({ name }) => name),
      [newest.name],
    )
  }
  t.same(pass(walk).found, [])
})

test('a snapshot that cannot be read is damaged; one that is gone is not', async (t) => {
  const paths = await twoSnapshots(t)
  const [newest, older] = usableNames(roomyDisk, paths)
  if (newest === undefined || older === undefined) throw new Error('there are two')
  const unreadable = {
    ...roomyDisk,
    openToRead(path: string): DiskFile {
      const file = roomyDisk.openToRead(path)
      if (path !== newest.path) return file
      file.readAt = () => {
        throw Object.assign(new Error('the disk cannot read it'), { code: 'EIO' })
      }
      return file
    },
  }
  t.match(pass(new SnapshotWalk(unreadable, paths, PIECE)).found, [{ name: newest.name, reason: /cannot read it/ }])
  const walk = new SnapshotWalk(roomyDisk, paths, PIECE)
  t.equal(walk.next(), 'more')
  roomyDisk.remove(older.path)
  t.same(pass(walk).found, [], 'a file that is open is read to its end')
  t.same(pass(walk), { found: [], steps: 0 })
  walk.close()
})
