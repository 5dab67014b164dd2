/** Bytes that the disk has lost, for readers that prove what they read: zeros, page by page, without blocking the thread. */
import { test } from 'tap'
import { type ReadableFile, ZeroedFile } from '../../engine/disk/unreadable.ts'
import { sampleBytes } from '../support/sample-bytes.ts'

const PAGE = 4096
const BYTES = sampleBytes(3 * PAGE + 100)

/** A file whose second page cannot be read, and how it was read. */
function rotten(code = 'EIO') {
  const reads = { blocking: 0, others: 0 }
  const read = (target: Uint8Array, position: number, length: number): number => {
    if (position < 2 * PAGE && position + length > PAGE) throw Object.assign(new Error('lost'), { code })
    return BYTES.subarray(position, position + length).copy(target)
  }
  const file: ReadableFile = {
    path: 'a-file',
    size: () => BYTES.length,
    close: () => undefined,
    readAt(...range) {
      reads.blocking += 1
      return read(...range)
    },
    async readAtAsync(...range) {
      reads.others += 1
      return read(...range)
    },
  }
  return { file: new ZeroedFile(file), reads }
}

test('both ways of reading give the same bytes, and the async one never blocks', async (t) => {
  const { file, reads } = rotten()
  for (const [position, length] of [
    [0, BYTES.length],
    [PAGE - 10, 20],
    [PAGE + 7, 100],
    [0, 50],
    [2 * PAGE, PAGE],
    [PAGE, 1_000_000],
    [BYTES.length + 5, 10],
  ] as const) {
    const wanted = Buffer.from(BYTES)
    wanted.fill(0, PAGE, 2 * PAGE)
    const expected = wanted.subarray(position, position + length)
    const before = reads.blocking
    const target = Buffer.alloc(length, 0xff)
    t.equal(await file.readAtAsync(target, position, length), expected.length, `${position}, ${length}`)
    t.ok(target.subarray(0, expected.length).equals(expected))
    t.equal(reads.blocking, before)
    const others = reads.others
    const blocking = Buffer.alloc(length, 0xff)
    t.equal(file.readAt(blocking, position, length), expected.length)
    t.ok(blocking.subarray(0, expected.length).equals(expected))
    t.equal(reads.others, others)
  }
})

test('another error is as the disk gives it', async (t) => {
  const { file } = rotten('EMFILE')
  t.throws(() => file.readAt(Buffer.alloc(10), PAGE, 10), { code: 'EMFILE' })
  await t.rejects(file.readAtAsync(Buffer.alloc(10), PAGE, 10), { code: 'EMFILE' })
})
