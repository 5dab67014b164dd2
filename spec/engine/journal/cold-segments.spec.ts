import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { crc32, gunzipSync } from 'node:zlib'
import { test } from 'tap'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { decodeIndex, encodeIndex } from '../../../engine/journal/cold/cold-index.ts'
import { encodeBlock } from '../../../engine/journal/cold/block-codec.ts'
import { openSegment, openSegmentAsync } from '../../../engine/journal/segment-file.ts'
import type { SegmentFile } from '../../../engine/journal/segment.ts'
import { auditOf } from '../../support/commands.ts'
import { compressJournal } from '../../support/journals/cold-segments.ts'
import { flipByteInPlace, segmentNames, segmentPath } from '../../support/journal-files.ts'
import { openTestStore, someBytes, type TestStore } from '../../support/test-store.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { everyNth } from '../../support/share-of-cases.ts'

/** A closed store with so many sealed segments of 1 MiB. */
async function longStore(directory: string, segments: number): Promise<TestStore> {
  const store = await openTestStore(directory, { segmentBytes: 1 << 20 })
  while (store.journal.place.segmentNumber < segments) {
    for (let count = 0; count < 100; count += 1) {
      const pad = someBytes(300).toString('base64')
      store.client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', pad] }, 'success')
    }
    await store.loop.drained()
  }
  await store.close(true)
  return store
}

function wholeOf(file: SegmentFile): Buffer {
  const bytes = Buffer.alloc(file.size())
  file.readAt(bytes, 0, bytes.length)
  return bytes
}

test('a cold segment is the plain one for gzip, for Python and for our reader', async (t) => {
  const { paths } = await longStore(t.testdir(), 2)
  const path = segmentPath(paths, 0)
  const plain = readFileSync(path)
  t.equal(await compressJournal(paths), 2)
  const cold = readFileSync(path)
  t.ok(cold.length < plain.length * 0.95)
  t.ok(gunzipSync(cold).equals(plain), 'zlib')
  const script = 'import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())'
  t.ok(spawnSync('python3', ['-c', script, path], { maxBuffer: 1 << 26 }).stdout.equals(plain), 'Python')
  t.ok(spawnSync('gzip', ['-dc'], { input: cold, maxBuffer: 1 << 26 }).stdout.equals(plain), 'gzip')
  const file = openSegment(nodeDisk, path)
  t.match(file, { isCold: true, path, storedBytes: cold.length })
  t.equal(file.size(), plain.length)
  t.ok(wholeOf(file).equals(plain))
  file.close()
})

test('any range of a cold segment is that of the plain one, read at once or in threads', async (t) => {
  const { paths } = await longStore(t.testdir(), 1)
  const path = segmentPath(paths, 0)
  const plain = readFileSync(path)
  await compressJournal(paths)
  const file = openSegment(nodeDisk, path)
  const aside = await openSegmentAsync(nodeDisk, path)
  const ends = [0, 1, 255, 256, 257, 256 + 262_144, 256 + 262_145, plain.length - 1, plain.length, plain.length + 9]
  for (const from of ends) {
    for (const length of [0, 1, 64, 262_144, 600_000, plain.length]) {
      const expected = plain.subarray(from, from + length)
      const bytes = Buffer.alloc(length)
      const read = file.readAt(bytes, from, length)
      if (!bytes.subarray(0, read).equals(expected)) t.fail(`at once, ${length} bytes at ${from}`)
      const others = Buffer.alloc(length)
      const readAside = await aside.readAtAsync(others, from, length)
      if (!others.subarray(0, readAside).equals(expected)) t.fail(`in threads, ${length} bytes at ${from}`)
    }
  }
  file.close()
  aside.close()
  t.equal(plain.length > 600_000, true, 'of several blocks')
})

test('a store opens and replays from cold segments as it did from plain ones', async (t) => {
  const { paths } = await longStore(t.testdir(), 3)
  const entries = journalEntries(paths.root)
  await compressJournal(paths)
  t.same(journalEntries(paths.root), entries)
  nodeDisk.removeTree(paths.projections)
  const again = await openTestStore(paths.root, { segmentBytes: 1 << 20 })
  t.equal(again.report.replayedRecords, entries.length + 4, 'with the genesis and three seals')
  await again.close(true)
})

test('every byte of a cold segment that is altered is found, with segment and offset', async (t) => {
  const { paths } = await longStore(t.testdir(), 1)
  await compressJournal(paths)
  const path = segmentPath(paths, 0)
  const cold = readFileSync(path)
  const file = openSegment(nodeDisk, path)
  const plain = wholeOf(file)
  file.close()
  const step = Math.floor(cold.length / 400)
  const indexed = Array.from({ length: 160 }, (_, index) => cold.length - 1 - index)
  const spread = Array.from({ length: 400 }, (_, index) => index * step)
  for (const at of everyNth([0, 1, 2, 3, 4, 9, ...spread, ...indexed], 5)) {
    flipByteInPlace(path, at)
    try {
      journalEntries(paths.root)
      t.fail(`byte ${at} of ${cold.length} was altered without a word`)
    } catch (error) {
      const text = (error as Error).message
      const offset = Number(/0{16}\.segment, offset (\d+)/.exec(text)?.[1] ?? 0)
      if (!text.includes(path) || offset > plain.length) t.fail(`byte ${at}: ${text}`)
    }
    flipByteInPlace(path, at)
  }
  t.equal(journalEntries(paths.root).length > 0, true)
})

test('damage of a block is named by its offset in the plain segment and the next sequence', async (t) => {
  const { paths } = await longStore(t.testdir(), 1)
  await compressJournal(paths)
  const path = segmentPath(paths, 0)
  const cold = readFileSync(path)
  const index = decodeIndex(cold.subarray(cold.length - indexBytesOf(cold)), cold.length)
  if (typeof index === 'string') throw new Error(index)
  const block = index.blocks[2]
  if (block === undefined) throw new Error('the segment has few blocks')
  cold.writeUInt8(cold.readUInt8(block.memberAt + 5000) ^ 1, block.memberAt + 5000)
  writeFileSync(path, cold)
  t.throws(() => journalEntries(paths.root), {
    name: 'JournalDamagedError',
    message: new RegExp(
      `0{16}\\.segment, offset ${256 + 262_144}, sequence \\d+: a block of 262144 bytes cannot be inflated`,
    ),
  })
  const heard: number[] = []
  const file = openSegment(nodeDisk, path, { onDamage: (offset) => heard.push(offset) })
  const bytes = Buffer.alloc(300_000, 1)
  t.equal(file.readAt(bytes, 256 + 262_144 - 8, 300_000), 300_000)
  file.close()
  t.same(heard, [256 + 262_144])
  t.ok(
    bytes.subarray(8, 8 + 262_144).every((byte) => byte === 0),
    'its bytes count as zeros',
  )
})

function indexBytesOf(cold: Buffer): number {
  return 12 * cold.readUInt32BE(cold.length - 26) + 50
}

test('a container that says more than its blocks are is refused', async (t) => {
  const block = await encodeBlock(Buffer.alloc(1000, 'record'), 6)
  const facts = { plainBytes: 1000, memberBytes: block.length, checksum: crc32(block) }
  const open = (...parts: Buffer[]) => {
    const path = `${t.testdir()}/0000000000000000.segment`
    writeFileSync(path, Buffer.concat(parts))
    const file = openSegment(nodeDisk, path)
    try {
      return wholeOf(file).length
    } finally {
      file.close()
    }
  }
  t.equal(open(block, encodeIndex([facts])), 1000)
  const index = encodeIndex([facts])
  t.throws(() => open(block, block, index), /the members do not fill the file/)
  t.throws(() => open(block, encodeIndex([{ ...facts, plainBytes: 999 }])), /cannot be inflated/)
  t.throws(() => open(block, encodeIndex([{ ...facts, plainBytes: 1001 }])), /cannot be inflated/)
  t.throws(() => open(block, encodeIndex([{ ...facts, plainBytes: 1 << 21 }])), /a block of 2097152 bytes/)
  t.throws(() => open(block, encodeIndex([{ ...facts, plainBytes: 0 }])), /a block of 0 bytes/)
  t.throws(() => open(block, encodeIndex([])), /an index of 0 blocks/)
  t.throws(() => open(block), /does not end with an index/)
  t.throws(() => open(block.subarray(0, 9)), /does not end with an index/)
  t.throws(() => open(block, index.subarray(0, -1)), /does not end with an index/)
  t.throws(() => open(block, index, Buffer.alloc(1)), /does not end with an index/)
  const hidden = Buffer.concat([block.subarray(0, -8), Buffer.from('hidden'), block.subarray(-8)])
  t.throws(
    () => open(hidden, encodeIndex([{ ...facts, memberBytes: hidden.length, checksum: crc32(hidden) }])),
    /cannot be inflated/,
  )
  t.throws(() => encodeIndex(Array.from({ length: 5459 }, () => facts)), /5459 blocks/)
})

test('a journal whose last segment is cold, since somebody removed those after it, goes on from there', async (t) => {
  const { paths } = await longStore(t.testdir(), 2)
  await compressJournal(paths)
  const last = journalEntries(paths.root).findLast(
    ({ sequence }) => sequence < Number(segmentNames(paths)[2]?.slice(0, 16)),
  )
  for (const path of [segmentPath(paths, 2), paths.head]) nodeDisk.remove(path)
  nodeDisk.removeTree(paths.projections)
  const store = await openTestStore(paths.root, { segmentBytes: 1 << 20 })
  t.equal(store.journal.place.segmentNumber, 2, 'in the segment after it')
  await store.close(true)
  const kinds = [0, 1, 2].map((index) => {
    const file = openSegment(nodeDisk, segmentPath(paths, index))
    file.close()
    return file.isCold
  })
  t.same(kinds, [true, false, false], 'the last one became plain again')
  const again = journalEntries(paths.root)
  t.same(
    again.find(({ sequence }) => sequence === last?.sequence),
    last,
  )
  t.match(await verifyAtRest(paths.journal), { intact: true })
})
