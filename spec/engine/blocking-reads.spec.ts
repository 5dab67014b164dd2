/** When a thread may read a file itself: a disk that is waited for blocks it for a small share of its time. */
import { test } from 'tap'
import { BlockingReads } from '../../engine/payloads/blocking-reads.ts'
import { BLOCK_BYTES } from '../../engine/payloads/file-format.ts'
import { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { FaultDisk } from '../support/disks/fault-disk.ts'
import { payloadPaths, storeLarge } from '../support/large-payloads.ts'
import { someBytes } from '../support/test-store.ts'

/** Clocks that a spec moves. */
class HandClocks {
  milliseconds = 0
  reads = 0

  now(): number {
    return this.milliseconds
  }

  diskReads(): number {
    return this.reads
  }

  /** A read that takes so long, and waits for a disk or not. */
  reading(milliseconds: number, fromDisk: boolean): () => string {
    return () => {
      this.milliseconds += milliseconds
      if (fromDisk) this.reads += 1
      return 'bytes'
    }
  }
}

test('after a read that waited for a disk no other blocks the thread, for twenty times as long', (t) => {
  const clocks = new HandClocks()
  const blocking = new BlockingReads(clocks)
  t.equal(blocking.run(clocks.reading(0.1, true)), 'bytes')
  t.ok(blocking.allowed, 'as fast as the page cache')
  blocking.run(clocks.reading(8, true))
  t.notOk(blocking.allowed)
  clocks.milliseconds += 159
  t.notOk(blocking.allowed)
  clocks.milliseconds += 1
  t.ok(blocking.allowed)
  blocking.run(clocks.reading(5, false))
  t.ok(blocking.allowed, 'it waited for a processor')
  blocking.run(clocks.reading(21, false))
  t.notOk(blocking.allowed, 'nobody waits so long for a processor')
  clocks.milliseconds += 420
  blocking.run(clocks.reading(60_000, true))
  clocks.milliseconds += 9_999
  t.notOk(blocking.allowed)
  clocks.milliseconds += 1
  t.ok(blocking.allowed, 'a disk that hung is tried again')
  t.end()
})

test('a read that fails is timed as well', (t) => {
  const clocks = new HandClocks()
  const blocking = new BlockingReads(clocks)
  t.throws(() =>
    blocking.run(() => {
      clocks.reading(50, true)()
      throw new Error('EIO')
    }),
  )
  t.notOk(blocking.allowed)
  t.end()
})

/** How a reader read a payload: by itself, by the pool, or in which order both. */
async function waysOf(bytes: Buffer, paths: ReturnType<typeof payloadPaths>, slowAt: number): Promise<string[]> {
  const clocks = new HandClocks()
  const disk = new FaultDisk()
  let reads = 0
  disk.fault = ({ name }) => {
    if (name === 'read') {
      reads += 1
      if (reads === slowAt) clocks.reading(10, true)()
    }
    return undefined
  }
  const location = await storeLarge(paths, bytes, BLOCK_BYTES)
  const payloads = new PayloadReader(disk, paths, undefined, new BlockingReads(clocks))
  const reader = await payloads.openLarge(location, 0, location.length)
  const ways: string[] = []
  const parts: Buffer[] = []
  for (;;) {
    const next = reader.next()
    const piece = await next
    if (piece === undefined) break
    ways.push(next instanceof Promise ? 'pool' : 'thread')
    parts.push(Buffer.from(piece))
  }
  reader.close()
  if (!Buffer.concat(parts).equals(bytes)) throw new Error('other bytes than were stored')
  return ways
}

test('a payload of any length is read by the thread until a disk is waited for, and by the pool from then on', async (t) => {
  const paths = payloadPaths(t.testdir())
  const bytes = someBytes(16 * BLOCK_BYTES)
  t.same(await waysOf(bytes, paths, 0), ['thread', 'thread'])
  t.same(await waysOf(bytes, paths, 1), ['pool', 'pool'], 'slow at the proofs')
  t.same(await waysOf(bytes, paths, 2), ['thread', 'pool'], 'slow at the first piece')
  const long = someBytes(40 * BLOCK_BYTES + 1)
  t.same(await waysOf(long, paths, 0), ['thread', 'thread', 'thread', 'thread', 'thread', 'thread'])
  t.same(await waysOf(long, paths, 4), ['thread', 'thread', 'thread', 'pool', 'pool', 'pool'], 'slow at the third')
})
