/** The trees as a projection: rebuilt equal to live, whole after a crash at any step, made again when they are not those of the journal. */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { BUNDLE_HASHING, LOG_HASHING, type TreeHashing } from '../../engine/checkpoints/tree-hashing.ts'
import { inclusionPath, rootOfInclusion, treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { rebuildProjections } from '../../projections/replay/rebuild.ts'
import { TreeGrower } from '../../projections/checkpoints/grow-trees.ts'
import { TREE_FILES, TreeFiles, treesIn } from '../../projections/checkpoints/tree-files.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { everyNth, runsOf } from '../support/share-of-cases.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

function hashesOf(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => createHash('sha256').update(`${index}`).digest()))
}

/** From all leaves, level by level. */
function naiveRoot(hashing: TreeHashing, hashes: Buffer): Buffer {
  let level = Array.from({ length: hashes.length / 32 }, (_, at) =>
    hashing.leaf(hashes.subarray(at * 32, at * 32 + 32)),
  )
  while (level.length > 1) {
    const above: Buffer[] = []
    for (let at = 0; at < level.length; at += 2) {
      const right = level[at + 1]
      above.push(right === undefined ? (level[at] as Buffer) : hashing.node(level[at] as Buffer, right))
    }
    level = above
  }
  return hashing.root(level[0] as Buffer)
}

function filesOf(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'hex')]))
}

test('roots and paths from the files are those of all leaves, however the hashes came', async (t) => {
  const size = 70_000
  const hashes = hashesOf(size)
  const trees = TreeFiles.openToWrite(nodeDisk, join(t.testdir(), 'trees'))
  for (let at = 0; at < size; at += 7777) trees.append(hashes.subarray(at * 32, Math.min(size, at + 7777) * 32))
  for (const count of everyNth([1, 2, 255, 256, 257, 511, 65_535, 65_536, 65_537, 70_000], 4)) {
    const expected = hashes.subarray(0, count * 32)
    t.same(treeRoot(trees.tree('log'), count), naiveRoot(LOG_HASHING, expected), `log of ${count}`)
    t.same(treeRoot(trees.tree('bundle'), count), naiveRoot(BUNDLE_HASHING, expected), `bundle of ${count}`)
  }
  const root = treeRoot(trees.tree('log'), size)
  for (const index of [0, 255, 256, 65_535, 65_536, 69_999]) {
    const path = inclusionPath(trees.tree('log'), index, size)
    t.same(rootOfInclusion(LOG_HASHING, trees.recordHash(index), index, size, path), root)
  }
  const bytes = TREE_FILES.reduce((sum, { name }) => sum + nodeDisk.sizeOf(join(t.testdirName, 'trees', name)), 0)
  t.ok(bytes <= 33 * size, `${bytes / size} bytes a record`)
  trees.close()
})

test('a crash at any byte of any file leaves trees that are completed to the same bytes', async (t) => {
  const [before, added] = [65_000, 1500]
  const all = hashesOf(before + added)
  const root = t.testdir()
  const write = (directory: string, from: number) => {
    const trees = TreeFiles.openToWrite(nodeDisk, directory)
    if (trees.size < from) trees.append(all.subarray(trees.size * 32, from * 32))
    if (trees.size < before + added) trees.append(all.subarray(trees.size * 32))
    trees.close()
  }
  const whole = join(root, 'whole')
  write(whole, before)
  const expected = filesOf(whole)
  const sizes = TREE_FILES.map(({ name }) => nodeDisk.sizeOf(join(whole, name)))
  // What is written comes in the order of the files: hashes, then roots from the lowest level up.
  fc.assert(
    fc.property(fc.nat({ max: TREE_FILES.length - 1 }), fc.nat({ max: 3000 }), (file, missing) => {
      const crashed = join(root, 'crashed')
      rmSync(crashed, { recursive: true, force: true })
      nodeDisk.makeDirectory(crashed)
      for (const { name } of TREE_FILES) copyFileSync(join(whole, name), join(crashed, name))
      for (const [at, { name }] of TREE_FILES.entries()) {
        if (at === file) truncateSync(join(crashed, name), Math.max(0, (sizes[at] as number) - missing))
        if (at > file) truncateSync(join(crashed, name), Math.max(0, (sizes[at] as number) - 3000))
      }
      write(crashed, before)
      return JSON.stringify(filesOf(crashed)) === JSON.stringify(expected)
    }),
    { numRuns: runsOf(25, 8) },
  )
})

async function grownStore(root: string): Promise<TestStore> {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('trees'))
  // More than one segment of 256 KiB.
  for (let index = 0; index < 600; index += 1) {
    store.client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', 'x'.repeat(500)] }, 'success')
    if (index % 50 === 49) await store.loop.drained()
  }
  await store.client.execute(createBucket('end'))
  return store
}

function grow(store: Pick<TestStore, 'paths' | 'journal'>): { readonly size: number; readonly discarded: number } {
  const trees = TreeFiles.openToWrite(nodeDisk, treesIn(store.paths.projections))
  try {
    const grower = new TreeGrower(nodeDisk, store.paths, trees)
    const limit = { ...store.journal.place, head: store.journal.position.head }
    for (;;) {
      try {
        if (grower.step(limit)) return { size: trees.size, discarded: grower.discarded }
      } catch (error) {
        if ((error as Error).name !== 'OtherTreesError') throw error
      }
    }
  } finally {
    trees.close()
  }
}

test('J14 trees that grew beside the engine are those that a rebuild makes; a check compares every hash', async (t) => {
  const store = await grownStore(t.testdir())
  const { paths, journal } = store
  t.ok(readdirSync(paths.journal).filter((name) => name.endsWith('.segment')).length > 1)
  t.match(grow(store), { size: journal.position.sequence + 1, discarded: 0 })
  await store.client.execute(createBucket('later'))
  t.match(grow(store), { size: journal.position.sequence + 1, discarded: 0 }, 'they go on where they were')
  await store.close(true)
  const reopened = await openTestStore(paths.root)
  grow(reopened)
  const live = filesOf(treesIn(paths.projections))
  await reopened.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 }, 'the trees lack the records of the stop')
  await rebuildProjections(roomyDisk, paths)
  const rebuilt = filesOf(treesIn(paths.projections))
  for (const [name, bytes] of Object.entries(live)) t.ok(rebuilt[name]?.startsWith(bytes), name)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
  flipByte(join(treesIn(paths.projections), 'record-hashes'), 32 * 300 + 5)
  t.match(await checkProjections(roomyDisk, paths), {
    differenceCount: 1,
    differences: [{ table: 'trees/record-hashes', key: (300).toString(16) }],
  })
})

test('a rebuild makes no trees where there were none', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.close(true)
  await rebuildProjections(roomyDisk, store.paths)
  t.notOk(existsSync(treesIn(store.paths.projections)))
})

test('trees of another journal, and trees that are longer than theirs, are made again', async (t) => {
  const store = await grownStore(t.testdir())
  const { paths, journal } = store
  grow(store)
  const file = join(treesIn(paths.projections), 'record-hashes')
  const whole = readFileSync(file)
  const changed = Buffer.from(whole)
  changed[whole.length - 1]! ^= 1
  writeFileSync(file, changed)
  t.match(grow(store), { size: journal.position.sequence + 1, discarded: 1 })
  t.same(readFileSync(file), whole)
  writeFileSync(file, Buffer.concat([whole, Buffer.alloc(64, 1)]))
  t.match(grow(store), { size: journal.position.sequence + 1, discarded: 1 })
  t.same(readFileSync(file), whole)
  await store.close(true)
})

test('T4 a byte that changed on the disk after it was written is found, and no tree has it', async (t) => {
  const store = await grownStore(t.testdir())
  const { paths } = store
  const path = segmentPath(paths, 0)
  flipByte(path, 5000)
  t.throws(() => grow(store), { name: 'JournalDamagedError' })
  flipByte(path, 5000)
  t.match(grow(store), { discarded: 0 })
  await store.close(true)
})
