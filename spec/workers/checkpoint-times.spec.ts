/** When checkpoints are signed. */
import { test } from 'tap'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { storeAndWorker } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../support/commands.ts'

const HOUR = 3_600_000

test('T5 with new records there is one each interval, without any one each heartbeat', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  const count = () => signing.reader.after(-1, 1000).length
  await signing.settle()
  t.equal(count(), 1)
  await store.client.execute(createBucket('one'))
  pass(59_999)
  await signing.settle()
  t.equal(count(), 1, 'the interval is not over')
  pass(1)
  await signing.settle()
  t.equal(count(), 2)
  pass(HOUR - 1)
  await signing.settle()
  t.equal(count(), 2, 'a checkpoint alone does not lead to another one')
  pass(1)
  await signing.settle()
  t.equal(count(), 3, 'silence is told from a stop')
  const [first, second, third] = signing.reader.after(-1, 3) as [CheckpointState, CheckpointState, CheckpointState]
  t.ok(second.size > first.sequence && third.size > second.sequence, 'each covers the entry of the one before')
  pass(-2 * HOUR)
  await store.client.execute(createBucket('two'))
  await signing.settle()
  t.equal(count(), 4, 'a clock that was set back stops nothing')
  await signing.close()
  await store.close(true)
})

test('records that arrive while a checkpoint is signed are covered by the next interval, and each follow-up waits twice as long as the one before', async (t) => {
  let arrives = false
  const { store, signing, pass } = await storeAndWorker(t.testdir(), {
    withholds: () => {
      // After the roots were taken, before the entry of the checkpoint.
      if (arrives) store.client.record(auditOf('s3:GET', 'x'), 'success')
      return false
    },
  })
  const count = () => signing.reader.after(-1, 1000).length
  const settled = async (milliseconds: number) => {
    pass(milliseconds)
    await signing.settle()
    return count()
  }
  await signing.settle()
  await store.client.execute(createBucket('one'))
  arrives = true
  t.equal(await settled(60_000), 2)
  const { size, sequence } = signing.reader.last() as CheckpointState
  t.equal(sequence, size + 1, 'a record is between the two')
  arrives = false
  t.equal(await settled(59_999), 2, 'the interval is not over')
  t.equal(await settled(1), 3)
  t.ok((signing.reader.last() as CheckpointState).size > size + 1, 'it is covered')
  t.equal(await settled(120_000), 3, 'nothing is left')

  // As between two stores that witness each other and are in step: each time something arrives.
  arrives = true
  await store.client.execute(createBucket('two'))
  t.equal(await settled(60_000), 4)
  for (const [passed, signed] of [
    [60_000, 5],
    [60_000, 5],
    [60_000, 6],
    [180_000, 6],
    [60_000, 7],
  ] as const) {
    t.equal(await settled(passed), signed, 'each waits twice as long as the one before')
  }
  for (let hours = 0; hours < 3; hours += 1) await settled(HOUR)
  t.equal(await settled(HOUR - 60_000), count(), 'the heartbeat is the longest wait')
  const before = count()
  t.equal(await settled(60_000), before + 1)
  arrives = false
  await store.client.execute(createBucket('three'))
  t.equal(await settled(60_000), before + 2, 'a new record is covered after the interval')
  await signing.close()
  await store.close(true)
})

test('how long the next checkpoint has been due, with new records and without', async (t) => {
  const { store, signing, pass } = await storeAndWorker(t.testdir())
  const late = () => Math.round(signing.worker.lateSeconds ?? -1)
  t.equal(late(), 0, 'before the first one')
  await signing.settle()
  pass(HOUR)
  t.equal(late(), 0)
  pass(7000)
  t.equal(late(), 7, 'the heartbeat is over')
  await store.client.execute(createBucket('one'))
  t.equal(late(), HOUR / 1000 + 7 - 60, 'with a new record the interval counts')
  await signing.settle()
  t.equal(late(), 0)
  await signing.close()
  await store.close(true)
})
