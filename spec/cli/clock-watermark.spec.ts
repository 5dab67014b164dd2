/** The high-water mark of the clock (specification, Limits, Object Lock clock): written while nothing else is. */
import tap, { type Test, test } from 'tap'
import { ClockWatermark } from '../../cli/store/clock-watermark.ts'
import type { Command } from '../../engine/commands.ts'
import { createBucket } from '../support/commands.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore } from '../support/test-store.ts'

const INTERVAL_SECONDS = 0.01
const LOOKS = 10

// The timer of the mark keeps no process alive: a server that has ended must end.
const alive = setInterval(() => undefined, 1000)
tap.teardown(() => clearInterval(alive))

/** Lets the clock be asked some times, and gives the commands that were executed meanwhile. */
async function observed(
  t: Test,
  { lockEnabled, age }: { readonly lockEnabled: boolean; readonly age: number },
): Promise<Command[]> {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ ...createBucket('photos'), lockEnabled })
  const executed: Command[] = []
  const client = { ...store.client, execute: record }
  let looks = 0
  await new Promise<void>((resolve) => {
    const clock = () => {
      looks += 1
      if (looks === LOOKS) setImmediate(end)
      return store.journal.position.timeMicroseconds + age
    }
    const watermark = new ClockWatermark(client, store.catalog, store.journal, clock, INTERVAL_SECONDS)
    const end = () => {
      watermark.stop()
      resolve()
    }
  })
  await store.close(true)
  return executed

  async function record(command: Command) {
    executed.push(command)
    return store.client.execute(command)
  }
}

test('W1: an idle store with a bucket under Object Lock records the time', async (t) => {
  const executed = await observed(t, { lockEnabled: true, age: 2 * INTERVAL_SECONDS * 1_000_000 })
  t.ok(executed.length > 0)
  for (const command of executed) {
    t.match(command, { kind: 'record-server-event', changes: [{ name: 'clock.observed' }] })
  }
})

test('a store that was written to needs no mark, and neither does one whose clock is behind', async (t) => {
  t.same(await observed(t, { lockEnabled: true, age: 0 }), [], 'the last entry is the mark')
  t.same(await observed(t, { lockEnabled: true, age: -60_000_000 }), [], 'a mark would say nothing new')
})

test('a store without a bucket under Object Lock has nothing to judge', async (t) => {
  t.same(await observed(t, { lockEnabled: false, age: 60_000_000 }), [])
})

test('an open store keeps the mark by itself, and the mark is an entry of the chain', async (t) => {
  const directory = t.testdir()
  const store = await openTestStore(directory, { clockIntervalSeconds: INTERVAL_SECONDS })
  await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
  const marked = () =>
    journalEntries(directory).filter(({ changes }) => changes.some(({ name }) => name === 'clock.observed'))
  while (marked().length === 0) await store.loop.drained().then(() => new Promise((resolve) => setTimeout(resolve, 5)))
  t.match(marked()[0], { principal: 'system:clock', operation: 'clock.observe', result: 'success', intent: undefined })
  await store.close(true)
  const reopened = await openTestStore(directory)
  t.equal(reopened.report.discardedProjections, undefined)
  await reopened.close(true)
})
