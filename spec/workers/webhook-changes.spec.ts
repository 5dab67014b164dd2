/**
 * The worker that delivers storage events, when clocks are set, webhooks are changed, and the journal cannot be read.
 * Proves: RES-HOO-06, STA-HOO-01, EVT-DEL-08.
 */
import { test } from 'tap'
import { deliveryWorld, FAILED } from '../support/webhooks/delivery-world.ts'
import { createWebhook, setWebhookStatus } from '../support/webhooks/webhook-commands.ts'

test('a clock that is set back stops nothing: events are read, tried again and recorded', async (t) => {
  const { store, reader, flights, state, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1)
  const worker = start()
  await later(worker, 0)
  await flights[0]?.end(FAILED)
  await later(worker, 1)
  state.now -= 900_000
  happen(2)
  await later(worker, 3)
  t.same(sequences().toSorted(), [1, 2])
  while (flights.length > 0) await flights[0]?.end(flights[0].event === '1001' ? FAILED : {})
  await later(worker, 1)
  t.equal(reader.log('a', 10).length, 3)
  const restarted = start()
  state.now -= 90_000
  await later(restarted, 3)
  t.same(sequences(), [], 'what is to be tried again keeps its time over a restart')
  state.now -= 365 * 24 * 3_600_000
  const again = start()
  await later(again, 0)
  await later(again, 6 * 3600 + 1)
  t.same(sequences(), [1], 'and comes after the longest of all delays at the latest')
})

test('a webhook that is disabled is sent nothing more, from the answer on', async (t) => {
  const { store, flights, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1, 2, 3, 4, 5, 6)
  const worker = start()
  await later(worker, 0)
  t.same(sequences(), [1, 2, 3, 4])
  await store.client.execute(setWebhookStatus('a', false))
  await flights[0]?.end()
  t.same(sequences(), [], 'no fifth one begins, and those on their way are given up')
})

test('a part of the journal that cannot be read is said of every webhook that read over it, and the rest is sent', async (t) => {
  const { store, damaged, state, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  await store.client.execute(createWebhook('b'))
  happen(1, 2)
  const worker = start()
  state.isDamaged = true
  t.equal(await later(worker, 0), 'idle')
  t.equal(await later(worker, 1), 'idle')
  t.same([damaged, sequences()], [[], []], 'it is read again at the next poll')
  await later(worker, 1)
  t.same(damaged.toSorted(), ['a', 'b'])
  t.same(sequences(), [2, 2])
  state.isDamaged = false
  await later(worker, 2)
  t.same(sequences(), [2, 2])
})

test('what cannot be read for a moment is sent when it can be', async (t) => {
  const { store, damaged, flights, state, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  const worker = start()
  for (const round of [1, 2]) {
    happen(2 * round, 2 * round + 1)
    state.isDamaged = true
    await later(worker, 2)
    t.same(sequences(), [])
    state.isDamaged = false
    await later(worker, 2)
    t.same(sequences(), [2 * round, 2 * round + 1])
    while (flights.length > 0) await flights[0]?.end()
  }
  t.same(damaged, [])
})

test('an attempt that was made is in the log, though its webhook was disabled before it was written', async (t) => {
  const { store, reader, flights, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1, 2, 3, 4, 5)
  const worker = start()
  await later(worker, 0)
  await flights[0]?.end()
  await flights[0]?.end(FAILED)
  await store.client.execute(setWebhookStatus('a', false))
  await later(worker, 1)
  await later(worker, 1)
  t.same(sequences(), [])
  const logged = reader.log('a', 10).map(({ event, status, error, nextMicroseconds }) => {
    return [Number(event?.sequence) - 1000, status, error, nextMicroseconds]
  })
  const givenUp = 'given up: the webhook was disabled or deleted'
  t.same(
    logged.toSorted(([a], [b]) => Number(a) - Number(b)),
    [
      [1, 200, undefined, undefined],
      [2, 500, 'the target answered 500', undefined],
      [3, undefined, givenUp, undefined],
      [4, undefined, givenUp, undefined],
      [5, undefined, givenUp, undefined],
    ],
    'what was answered, and what was on its way; none is tried again',
  )
  t.same(reader.progress('a')?.line.pending, [], 'what was pending is dropped')
  await store.client.execute(setWebhookStatus('a', true))
  await later(worker, 3)
  t.equal(reader.log('a', 10).length, 5, 'each once')
})

test('an attempt that a stop cuts off is in the log, and is made again after the start', async (t) => {
  const { store, reader, flights, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1)
  const worker = start()
  await later(worker, 0)
  for (const seconds of [4, 8]) {
    await flights[0]?.end(FAILED)
    await later(worker, seconds)
  }
  t.same(sequences(), [1], 'its third attempt, the last one, is on its way')
  await worker.close()
  t.match(reader.log('a', 1), [{ attempt: 3, status: undefined, error: 'given up: the server was stopped' }])
  await later(start(), 3)
  t.same(sequences(), [1], 'and it is sent once more')
})
