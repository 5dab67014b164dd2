/** The disk, and the mark of the head on it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sequenceOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { SpareFile } from '../../engine/disk/spare-file.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { createBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError, noSpaceError, type Operation } from '../support/disks/fault-disk.ts'
import { openTestStore, readObject, roomyDisk } from '../support/test-store.ts'

test('space that a spare takes is given back also while it is made, and a spare that cannot be made fails nothing', async (t) => {
  const root = t.testdir()
  const path = join(root, 'spare')
  const disk = new FaultDisk()
  const spare = new SpareFile(disk, root, path, 8 << 20)
  const making = spare.prepare()
  disk.after = ({ name, position }) => {
    if (name === 'write' && position === 3 << 20) spare.discard()
  }
  await making
  t.equal(existsSync(path), false)
  t.equal(spare.ready, false, 'what was given back is not kept open without a name')
  t.ok(disk.count('write') < 8, 'and the rest of it is not written')
  disk.after = () => undefined
  await spare.prepare()
  t.equal(spare.ready, true)
  spare.discard()
  disk.fault = () => ({ kind: 'error', error: inputOutputError() })
  await spare.prepare()
  t.match(spare.failure, { code: 'EIO' })
  disk.fault = () => undefined
  await spare.close()
  t.same(readdirSync(root), [])
})

test('a file that is closed twice does not close another one that has its number', async (t) => {
  const root = t.testdir({ first: 'first', second: 'second' })
  for (const close of ['close', 'closeAsync'] as const) {
    const first = roomyDisk.openToRead(join(root, 'first'))
    await first[close]()
    const second = roomyDisk.openToRead(join(root, 'second'))
    await first[close]()
    const bytes = Buffer.alloc(6)
    t.equal(second.readAt(bytes, 0, 6), 6)
    t.equal(bytes.toString(), 'second')
    second.close()
  }
})

test('a file that is closed is not written or read through the number that another one has now', async (t) => {
  const root = t.testdir({ first: 'first', second: 'second' })
  const first = roomyDisk.openToWrite(join(root, 'first'))
  first.close()
  const second = roomyDisk.openToWrite(join(root, 'second'))
  const bytes = Buffer.from('wrong')
  const closed = /first is closed/
  t.throws(() => first.writeAt(bytes, 0), closed)
  t.throws(() => first.readAt(bytes, 0, 5), closed)
  t.throws(() => first.sync(), closed)
  t.throws(() => first.size(), closed)
  t.throws(() => first.truncate(0), closed)
  t.throws(() => first.seal(), closed)
  await t.rejects(first.writeAtAsync(bytes, 0), closed)
  await t.rejects(first.readAtAsync(bytes, 0, 5), closed)
  await t.rejects(first.syncAsync(), closed)
  second.close()
  t.equal(readFileSync(join(root, 'second'), 'utf8'), 'second')
})

/** Longer than the time between two marks. */
const MARK_MILLISECONDS = 1300

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
/** What a file system gives at a time. */
const BLOCK_BYTES = 4096

function blocksOf({ path, position = 0, bytes = 0 }: Operation): string[] {
  const first = Math.floor(position / BLOCK_BYTES)
  const count = Math.ceil((position + bytes) / BLOCK_BYTES) - first
  return Array.from({ length: count }, (_, index) => `${path} ${first + index}`)
}

/** A full disk takes bytes only where the file has some already. */
function fullAfter(disk: FaultDisk, isFull: () => boolean): void {
  const given = new Set<string>()
  disk.fault = (operation) => {
    if (operation.name !== 'write') return undefined
    const blocks = blocksOf(operation)
    if (isFull() && blocks.some((block) => !given.has(block))) return { kind: 'error', error: noSpaceError() }
    for (const block of blocks) given.add(block)
    return undefined
  }
}

test('J6 J12 on a disk that fills up right after the first mark there is space for the second', async (t) => {
  const paths = new StorePaths(t.testdir({ journal: {} }))
  const disk = new FaultDisk()
  let isFull = false
  fullAfter(disk, () => isFull)
  const mark = { sequence: sequenceOf(1), batch: 1, head: Buffer.alloc(32, 1), clean: false, bootId: 'boot' }
  const head = HeadFile.open(disk, paths)
  head.write(mark)
  isFull = true
  for (const sequence of [2, 3, 4]) {
    t.doesNotThrow(() => head.write({ ...mark, sequence: sequenceOf(sequence) }), `mark ${sequence}`)
  }
  head.close()
  t.equal(HeadFile.open(disk, paths).newest?.sequence, 4)
})

test('J6 a file of the mark that a crash left empty gets its space', async (t) => {
  const paths = new StorePaths(t.testdir({ journal: { HEAD: '' } }))
  const head = HeadFile.open(nodeDisk, paths)
  head.close()
  t.equal(head.newest, undefined)
  t.equal(statSync(paths.head).size, 2 * BLOCK_BYTES)
})

const nameOf = (error: unknown): string => (error as Error).name

test('J6 J7 the mark follows the journal, and never speaks of what a failed write left', async (t) => {
  const root = t.testdir()
  const follows = async () => {
    const store = await openTestStore(join(root, 'follows'))
    await store.client.execute(createBucket('marked'))
    await pause(MARK_MILLISECONDS)
    const { sequence, head, batch } = store.journal.position
    await store.kill()
    const file = HeadFile.open(nodeDisk, store.paths)
    t.match(file.newest, { sequence, batch, head: Buffer.from(head), clean: false }, 'within a second or so')
    file.close()
  }
  const failsToSeal = async () => {
    const disk = new FaultDisk()
    const segmentBytes = 16 * 1024
    const store = await openTestStore(join(root, 'seal'), { segmentBytes }, disk)
    await store.client.execute(createBucket('marked'))
    for (let index = 0; store.journal.place.offset + segmentBytes / 4 + 1024 <= segmentBytes; index += 1) {
      await store.client.execute(write('marked', `key-${index}`, Buffer.from('bytes')))
    }
    disk.fault = ({ name, path }) =>
      name === 'sync' && path.endsWith('.segment') ? { kind: 'error', error: inputOutputError() } : undefined
    await t.rejects(store.client.execute(write('marked', 'last', Buffer.from('bytes'))))
    const from = disk.operations.length
    await pause(MARK_MILLISECONDS)
    t.same(
      disk.operations.slice(from).filter(({ path }) => path === store.paths.head),
      [],
      'it is left alone',
    )
    disk.fault = () => undefined
    await store.kill()
    const again = await openTestStore(store.paths.root, { segmentBytes })
    t.same(await readObject(again, 'marked', 'key-0'), Buffer.from('bytes'), 'and the store opens again')
    await again.close(true)
  }
  const failsToMark = async () => {
    const disk = new FaultDisk()
    const store = await openTestStore(join(root, 'mark'), {}, disk)
    await store.client.execute(createBucket('marked'))
    disk.fault = ({ name, path }) =>
      name === 'sync' && path === store.paths.head ? { kind: 'error', error: inputOutputError() } : undefined
    await pause(MARK_MILLISECONDS)
    t.same(store.failures.map(nameOf), ['JournalPoisonedError'], 'a mark that cannot be written ends the engine')
    await store.kill()
  }
  await Promise.all([follows(), failsToSeal(), failsToMark()])
})
