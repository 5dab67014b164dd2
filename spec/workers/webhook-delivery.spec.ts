/**
 * The worker that delivers storage events: order, retries, bounds, restarts. Clock and receivers are those of the spec.
 * Proves: RES-EVT-02, RES-HOO-02, STA-HOO-01, STA-HOO-02, STA-HOO-03, STA-HOO-04, STA-HOO-05, STA-HOO-06, EVT-GUA-01,
 * EVT-GUA-03, EVT-GUA-04, EVT-GUA-05, EVT-DEL-06, EVT-DEL-07, EVT-DEL-08.
 */
import { test } from 'tap'
import { microsecondsOf } from '../../engine/brands.ts'
import { retryAfter, retryDelay } from '../../workers/webhooks/retry.ts'
import { deliveryWorld, FAILED } from '../support/webhooks/delivery-world.ts'
import { storageEvent } from '../support/webhooks/sample-events.ts'
import { createWebhook, deleteWebhook, replayWebhook, setWebhookStatus } from '../support/webhooks/webhook-commands.ts'

const ALL = { bucket: undefined, prefix: undefined }

test('four at a time to one target, and what came of them in one entry', async (t) => {
  const { store, reader, flights, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a', { prefix: '2026/', bucket: 'photos' }))
  happen(1, 2, 3, 4, 5, 6)
  const worker = start()
  await later(worker, 0)
  t.same(sequences(), [1, 2, 3, 4])
  await flights[1]?.end()
  t.same(sequences(), [1, 3, 4, 5], 'the next one begins when one ends')
  const before = store.journal.position.sequence
  while (flights.length > 0) await flights[0]?.end()
  await later(worker, 2)
  t.equal(store.journal.position.sequence - before, 2, 'an attempt and an outcome of the pass')
  t.equal(reader.log('a', 10).length, 6)
  t.match(worker.counts, { pending: 0, succeeded: 6, failed: 0 })
  await later(worker, 60)
  t.equal(store.journal.position.sequence - before, 2, 'nothing new, nothing written')
  await worker.close()
})

test('a line that is behind is read on as soon as it has room', async (t) => {
  const { store, flights, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(...Array.from({ length: 300 }, (_, index) => index + 1))
  const worker = start()
  await later(worker, 0)
  t.equal(worker.counts.pending, 256, 'as many as it may hold')
  let isWoken = false
  const woken = worker.woken().then(() => (isWoken = true))
  while (worker.counts.pending > 128) await flights[0]?.end()
  t.equal(isWoken, false, 'half of them are left')
  await flights[0]?.end()
  await woken
  await later(worker, 0)
  t.equal(worker.counts.pending, 127 + 44, 'with what was left in the journal')
  while (flights.length > 0) await flights[0]?.end()
  await worker.close()
})

test('nothing begins while the pace does not allow it, and goes on by itself when it does', async (t) => {
  const { store, flights, state, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1)
  const worker = start()
  state.pace = false
  await later(worker, 0)
  t.equal(flights.length, 0)
  state.pace = true
  while (flights.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await flights[0]?.end()
  t.match(worker.counts, { pending: 0, succeeded: 1 })
  await worker.close()
})

test('filters: type, bucket, prefix', async (t) => {
  const { store, events, start, later, sequences } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  events.push(
    storageEvent(1001, { type: 'object.updated' }),
    storageEvent(1002, { bucket: 'other' }),
    storageEvent(1003, { object: '2025/x' }),
    storageEvent(1004, { type: 'bucket.created', object: undefined }),
    storageEvent(1005),
    storageEvent(1006, { type: 'object.deleted' }),
  )
  const worker = start()
  await later(worker, 0)
  t.same(sequences(), [5, 6])
})

test('a failed delivery is tried again with growing delays, and fails for good after the last attempt', async (t) => {
  const { store, reader, flights, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1)
  const worker = start()
  await later(worker, 0)
  await flights[0]?.end(FAILED)
  await later(worker, 1)
  t.equal(flights.length, 0, 'not before two seconds')
  t.match(reader.progress('a')?.line.pending, [{ attempts: 1 }])
  await later(worker, 2)
  t.equal(flights.length, 1)
  await flights[0]?.end({ ...FAILED, askedMilliseconds: 60_000 })
  await later(worker, 30)
  t.equal(flights.length, 0, 'the target asked for a minute')
  await later(worker, 31)
  await flights[0]?.end(FAILED)
  await later(worker, 3600)
  t.equal(flights.length, 0)
  t.same(reader.progress('a')?.line.pending, [])
  t.match(worker.counts, { pending: 0, succeeded: 0, failed: 1, failedAttempts: 3 })
  t.same(
    reader
      .log('a', 10)
      .map(({ attempt }) => attempt)
      .toSorted(),
    [1, 2, 3],
  )
})

test('a restart goes on where the journal is: nothing is lost, what was not recorded is sent again', async (t) => {
  const { store, flights, start, later, sequences, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1, 2, 3)
  const killed = start()
  await later(killed, 0)
  await flights[0]?.end(FAILED)
  await flights[0]?.end()
  await later(killed, 1)
  t.same(sequences(), [3], 'the third is on its way and was recorded as waiting')
  const lost = flights.splice(0)
  t.equal(lost.length, 1)
  happen(4)
  const next = start()
  await later(next, 0)
  t.same(sequences().toSorted(), [3, 4])
  await later(next, 3)
  t.same(sequences().toSorted(), [1, 3, 4], 'the failed one when its time has come; the second is done')
})

test('a target that never answers holds up nobody else, and is asked one at a time after five failures', async (t) => {
  const { store, flights, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('dead'))
  await store.client.execute(createWebhook('well'))
  happen(...Array.from({ length: 40 }, (_, index) => index + 1))
  const worker = start()
  await later(worker, 0)
  const of = (name: string) => flights.filter(({ webhook }) => webhook === name)
  t.equal(of('dead').length, 4)
  while (of('well').length > 0) await of('well')[0]?.end()
  t.equal(worker.counts.succeeded, 40)
  for (let failure = 0; failure < 5; failure += 1) await of('dead')[0]?.end(FAILED)
  while (of('dead').length > 1) await of('dead')[0]?.end(FAILED)
  t.equal(of('dead').length, 1)
  await of('dead')[0]?.end()
  t.equal(of('dead').length, 4, 'it is well again')
})

test('disabled, deleted and begun anew: what is pending and on its way is dropped', async (t) => {
  const { store, reader, flights, start, later, sequences, happen, events } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1, 2)
  const worker = start()
  await later(worker, 0)
  await store.client.execute(setWebhookStatus('a', false))
  await later(worker, 0)
  t.equal(flights.length, 0)
  t.match(worker.counts, { pending: 0, succeeded: 0, failed: 0, failedAttempts: 2 })
  await store.client.execute(setWebhookStatus('a', true))
  const enabled = Number(reader.webhook('a')?.startSequence)
  events.splice(0, events.length, storageEvent(enabled - 1), storageEvent(enabled + 1))
  await later(worker, 2)
  t.same(sequences(), [enabled + 1 - 1000], 'only what happened after it was enabled')
  await store.client.execute(deleteWebhook('a'))
  await later(worker, 2)
  t.equal(flights.length, 0)
  t.same(reader.log(undefined, 10), [])
})

test('a webhook far behind has a bounded number of events in memory and reads the others later', async (t) => {
  const { store, flights, reads, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  await store.client.execute(createWebhook('b'))
  happen(...Array.from({ length: 1000 }, (_, index) => index + 1))
  const worker = start()
  await later(worker, 0)
  t.equal(reads.length, 2, 'each began at a place of its own')
  t.equal(worker.counts.pending, 512)
  t.equal(await later(worker, 10), 'idle', 'there is no room')
  for (let round = 0; worker.counts.succeeded < 2000 && round < 3000; round += 1) {
    while (flights.length > 0) await flights[0]?.end()
    await later(worker, 1)
  }
  t.match(worker.counts, { pending: 0, succeeded: 2000 })
  reads.length = 0
  await later(worker, 2)
  t.equal(reads.length, 1, 'those at the end share a page')
})

test('a replay sends the events of its time once more, and ends', async (t) => {
  const { store, reader, flights, start, later, sequences, happen, events } = await deliveryWorld(t)
  happen(1, 2)
  events.push(storageEvent(1003, { timeMicroseconds: microsecondsOf(1_767_323_045_000_001 + 1) }))
  await store.client.execute(createWebhook('a', ALL))
  const worker = start()
  await later(worker, 0)
  while (flights.length > 0) await flights[0]?.end()
  await later(worker, 2)
  const replay = replayWebhook('a')
  await store.client.execute({ ...replay, untilMicroseconds: microsecondsOf(replay.untilMicroseconds + 1) })
  await later(worker, 2)
  t.same(sequences(), [1, 2], 'the end is not included')
  await flights[0]?.end(FAILED)
  await flights[0]?.end()
  await later(worker, 1)
  t.match(reader.progress('a')?.replay?.pending, [{ attempts: 1 }])
  await later(worker, 3)
  await flights[0]?.end()
  await later(worker, 2)
  t.equal(reader.progress('a')?.replay, undefined)
  await later(worker, 60)
  t.equal(flights.length, 0)
  t.equal(reader.log('a', 10).filter(({ kind }) => kind === 'replay').length, 3)
})

test('a journal without room stops deliveries, loses none of what came of them, and they go on when there is room', async (t) => {
  const { store, reader, flights, state, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(...Array.from({ length: 3000 }, (_, index) => index + 1))
  const worker = start()
  state.isFull = true
  let sent = 0
  for (let round = 0; round < 3000; round += 1) {
    await later(worker, 1).catch((error: unknown) => t.match(error, { code: 'journal-full' }))
    if (flights.length === 0) break
    for (; flights.length > 0; sent += 1) await flights[0]?.end()
  }
  t.ok(sent <= 512, `${sent} were sent`)
  state.isFull = false
  for (let round = 0; worker.counts.succeeded < 3000 && round < 3000; round += 1) {
    await later(worker, 1)
    while (flights.length > 0) await flights[0]?.end()
  }
  await later(worker, 2)
  t.equal(reader.progress('a')?.logged, 3000, 'each is recorded once')
})

test('at the stop what is on its way may end, and is recorded', async (t) => {
  const { store, reader, flights, start, later, happen } = await deliveryWorld(t)
  await store.client.execute(createWebhook('a'))
  happen(1, 2, 3, 4, 5, 6)
  const worker = start()
  await later(worker, 0)
  const closed = worker.close()
  while (flights.length > 0) await flights[0]?.end()
  await closed
  t.equal(reader.log('a', 10).length, 4, 'and nothing new was begun')
  t.equal(reader.progress('a')?.line.pending.length, 2)
})

test('delays', async (t) => {
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    const delay = retryDelay('delivery', attempt)
    const least = Math.min(2 ** attempt, 21_600) * 1000
    t.ok(delay >= least && delay < least + 1000, `${attempt}: ${delay}`)
    t.equal(retryDelay('delivery', attempt), delay, 'the same each time')
  }
  t.not(retryDelay('a', 1), retryDelay('b', 1))
  t.equal(retryDelay('a', 1, 30_000), 30_000, 'Retry-After lengthens')
  t.ok(retryDelay('a', 5, 1000) >= 32_000, 'and never shortens')
  t.ok(retryDelay('a', 1, 1e12) <= 21_601_000, 'nor is it without a bound')
  const now = Date.UTC(2026, 0, 2, 3, 4, 5)
  t.equal(retryAfter(undefined, now), 0)
  t.equal(retryAfter('120', now), 120_000)
  t.equal(retryAfter('Fri, 02 Jan 2026 03:04:15 GMT', now), 10_000)
  for (const wrong of ['', '-1', '1.5', 'tomorrow', 'Fri, 02 Jan 2020 03:04:15 GMT', '9'.repeat(30)])
    t.equal(retryAfter(wrong, now), 0, wrong)
})
