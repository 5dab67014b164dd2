import { test } from 'tap'
import type { Disk } from '../../../engine/disk/disk.ts'
import { usableNames } from '../../../projections/snapshots/snapshot-file.ts'
import {
  FaultDisk,
  inputOutputError,
  noSpaceError,
  type Fault,
  type Operation,
} from '../../support/disks/fault-disk.ts'
import { rebuiltTables } from '../../support/rebuilt-tables.ts'
import { strideOf } from '../../support/share-of-cases.ts'
import { fillSegments, snapshotOf } from '../../support/snapshots.ts'
import { BOOT_ID, dumpStore, openTestStore, OTHER_BOOT_ID, roomyDisk } from '../../support/test-store.ts'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'

/** A disk that fails at operation `k` and at every one after it, as for a process that is no more. */
function deadAfter(k: number): FaultDisk {
  const disk = new FaultDisk()
  let operations = 0
  disk.fault = ({ name }) => {
    if (name === 'read' || name === 'open-to-read' || name === 'close') return undefined
    operations += 1
    return operations > k ? { kind: 'error', error: inputOutputError() } : undefined
  }
  return disk
}

/** A store with so many snapshots, that was killed, and segments after them. */
async function storeWith(root: string, snapshots: number): Promise<StorePaths> {
  const store = await openTestStore(root)
  for (let made = 0; made < snapshots; made += 1) {
    await fillSegments(store, 'filled')
    await snapshotOf(store.paths)
  }
  await fillSegments(store, 'filled')
  await store.kill()
  return store.paths
}

/** The same store for one more try. */
function copyOf(paths: StorePaths, root: string, name: string): StorePaths {
  cpSync(paths.root, join(root, name), { recursive: true })
  return new StorePaths(join(root, name))
}

async function opensRight(paths: StorePaths, bootId: string, disk?: Disk): Promise<string | undefined> {
  const store = await openTestStore(paths.root, { bootId }, disk)
  const { snapshot } = store.report
  await store.close(true)
  return JSON.stringify(await dumpStore(paths)) === JSON.stringify(await rebuiltTables(paths)) ? snapshot : 'wrong rows'
}

test('a process that ends at any step of a snapshot leaves the one before or the new one, and nothing else', async (t) => {
  const root = t.testdir()
  const paths = await storeWith(join(root, 'store'), 1)
  const [before = ''] = usableNames(roomyDisk, paths).map(({ name }) => name)
  const seen = new Set<string | undefined>()
  let made = false
  for (let k = 0; !made; k += strideOf(7)) {
    const tried = copyOf(paths, root, `tried-${k}`)
    made = await snapshotOf(tried, { kept: 1 }, deadAfter(k)).then(
      () => true,
      () => false,
    )
    const snapshot = await opensRight(tried, OTHER_BOOT_ID)
    t.ok(snapshot !== undefined && /^\d+-\d{16}\.snapshot$/.test(snapshot), `step ${k}: ${snapshot}`)
    seen.add(snapshot)
    const left = readdirSync(tried.root).filter((name) => name.startsWith('projections-'))
    t.same([left, existsSync(tried.snapshotMaking)], [[], false], `step ${k} leaves nothing after a start`)
    rmSync(tried.root, { recursive: true })
  }
  t.equal(seen.size, 2, 'some ended before the new one counted, and some after')
  t.ok(seen.has(before))
})

for (const [title, snapshots] of [
  ['copying the only snapshot', 1],
  ['moving the newer of two', 2],
] as const) {
  test(`a start that ends at any step of ${title} is followed by one that is right`, async (t) => {
    const root = t.testdir()
    const paths = await storeWith(join(root, 'store'), snapshots)
    let opened = false
    let steps = 0
    for (let k = 0; !opened; k += strideOf(7)) {
      const tried = copyOf(paths, root, `tried-${k}`)
      const store = await openTestStore(tried.root, { bootId: OTHER_BOOT_ID }, deadAfter(k)).catch(() => undefined)
      opened = store !== undefined && store.failures.length === 0
      await store?.kill().catch(() => undefined)
      t.ok(usableNames(roomyDisk, tried).length > 0, `step ${k} leaves a snapshot`)
      // The same boot: what LMDB has is trusted, however far it came.
      t.not(await opensRight(tried, OTHER_BOOT_ID), 'wrong rows', `step ${k}`)
      rmSync(tried.root, { recursive: true })
      steps = k
    }
    t.ok(steps > 20, `${steps} steps`)
  })
}

test('a full or failing disk ends a snapshot, and those that are there stay', async (t) => {
  const paths = await storeWith(t.testdir(), 1)
  const names = () => usableNames(roomyDisk, paths).map(({ name }) => name)
  const [before] = names()
  const faults: readonly [string, (operation: Operation) => Fault | undefined, RegExp][] = [
    [
      'a full disk',
      ({ name, path }) =>
        name === 'write' && path.endsWith('making') ? { kind: 'error', error: noSpaceError() } : undefined,
      /ENOSPC/,
    ],
    [
      'a short write',
      ({ name, path }) => (name === 'write' && path.endsWith('making') ? { kind: 'short', bytes: 100 } : undefined),
      /wrote 100 of/,
    ],
    [
      'a failed sync',
      ({ name, path }) =>
        name === 'sync' && path.endsWith('making') ? { kind: 'error', error: inputOutputError() } : undefined,
      /EIO/,
    ],
    [
      'a failed rename',
      ({ name, path }) =>
        name === 'rename' && path.endsWith('making') ? { kind: 'error', error: inputOutputError() } : undefined,
      /EIO/,
    ],
  ]
  for (const [title, fault, message] of faults) {
    const disk = new FaultDisk()
    disk.fault = fault
    await t.rejects(snapshotOf(paths, {}, disk), { message }, title)
    t.same(names(), [before], title)
  }
  const full = new FaultDisk()
  full.freeBytes = 1000
  await t.rejects(snapshotOf(paths, { reservedBytes: 2000 }, full), { name: 'DiskFullError' })
  t.same(names(), [before])
  t.ok(await snapshotOf(paths), 'and the next try works')
  t.equal(names().length, 2)
})

test('a start without room for the copy goes the old way', async (t) => {
  const paths = await storeWith(t.testdir(), 1)
  const disk = new FaultDisk()
  disk.fault = ({ name, path }) =>
    name === 'write' && path.includes('projections-restore') ? { kind: 'error', error: noSpaceError() } : undefined
  const store = await openTestStore(paths.root, { bootId: OTHER_BOOT_ID }, disk)
  t.match(store.report, { snapshot: undefined, refusedSnapshots: [{ reason: 'the disk is full' }] })
  await store.close(true)
  t.same(await dumpStore(paths), await rebuiltTables(paths))
})

test('a start that the power cuts off after a clean stop leaves no projections that were not synced', async (t) => {
  const root = t.testdir()
  const first = await openTestStore(root)
  await fillSegments(first, 'filled')
  await snapshotOf(first.paths)
  await first.close(true)
  const { paths } = first
  rmSync(paths.projections, { recursive: true })
  const disk = new FaultDisk()
  const store = await openTestStore(root, { bootId: BOOT_ID }, disk)
  t.ok(store.report.snapshot)
  await store.kill()
  const of = (name: string, part: string) =>
    disk.operations.findIndex((operation) => operation.name === name && operation.path.includes(part))
  const synced = of('sync', 'projections-restore')
  t.ok(synced !== -1 && synced < of('rename', 'projections-restore'), 'the copy was synced before it got its name')
})
