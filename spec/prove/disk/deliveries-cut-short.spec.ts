import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { createBucket, write } from '../../support/commands.ts'
import { openTestStore } from '../../support/test-store.ts'
import { deliverAll, EventReceiver } from '../../support/webhooks/event-receiver.ts'
import { createWebhook } from '../../support/webhooks/webhook-commands.ts'

const TURNS = 50

/** Answers long after the steps are over. */
class SlowReceiver extends EventReceiver {
  override async send(...asked: Parameters<EventReceiver['send']>) {
    for (let turn = 0; turn < TURNS; turn += 1) await setImmediate()
    return super.send(...asked)
  }
}

test('a delivery that is cut short has ended before its store is closed', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('photos'))
  await store.client.execute(createWebhook('all', { bucket: undefined, prefix: undefined }))
  await store.client.execute(write('photos', 'a', Buffer.from('a')))
  const receiver = new SlowReceiver()
  await deliverAll(store, receiver, { now: 4e12, steps: 2 })
  t.equal(receiver.requests, 1)
  for (let turn = 0; turn < 2 * TURNS; turn += 1) await setImmediate()
  await store.close(true)
})
