/**
 * What a worker of lifecycle rules tells of its passes: totals, when the last one ended, and how far behind it is.
 * Proves: API-RUL-12.
 */
import { test } from 'tap'
import { millisecondsOf, sequenceOf } from '../../../engine/brands.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import { DomainError } from '../../../engine/errors.ts'
import { LifecycleExpiry } from '../../../workers/lifecycle/expire-objects.ts'
import { createBucket, write } from '../../support/commands.ts'
import { createRule, DAY } from '../../support/lifecycle.ts'
import { openTestStore } from '../../support/test-store.ts'
import { setRetention, setVersioning } from '../../support/version-commands.ts'

const START = Date.parse('2126-01-02T03:04:05Z')
const BYTES = Buffer.from('bytes')

async function sceneOf(root: string, batchSize: number) {
  const scene = { now: START, fails: false }
  const store = await openTestStore(root, { clock: () => scene.now * 1000 })
  const send = async (...commands: readonly Command[]) => {
    let sequence = 0
    for (const command of commands) ({ sequence } = await store.client.execute(command))
    return sequence
  }
  const execute = (command: Command) =>
    scene.fails ? Promise.reject(new DomainError('journal-full')) : store.client.execute(command)
  const engine = Object.assign(Object.create(store.client) as typeof store.client, { execute })
  let timer = 0
  const worker = new LifecycleExpiry(engine, store.catalog, {
    intervalSeconds: 10,
    batchSize,
    clock: () => millisecondsOf(scene.now),
    timer: () => timer,
    onPass: () => undefined,
  })
  const pass = async () => {
    timer += 10_000
    while ((await worker.step()) === 'more');
    return worker.lastPass?.lagSeconds
  }
  return { scene, store, send, worker, pass }
}

test('the lag is how long the oldest entry that a batch left has been due', async (t) => {
  const { scene, store, send, worker, pass } = await sceneOf(t.testdir(), 2)
  t.equal(worker.lastPass, undefined, 'before the first pass')
  await send(createBucket('b'), createRule('b', 'r', { prefix: 'k', expirationDays: 1 }))
  for (let day = 0; day < 5; day += 1) {
    await send(write('b', `k${day}`, BYTES), write('b', `other${day}`, BYTES))
    scene.now += DAY
  }
  scene.now += DAY
  // Due since five days, four, three, two and one.
  t.equal(await pass(), 3 * (DAY / 1000), 'k2 is the next')
  t.same(worker.lastPass?.endedMilliseconds, scene.now)
  scene.fails = true
  scene.now += DAY
  t.equal(await pass(), 3 * (DAY / 1000), 'a pass that failed says nothing new')
  t.equal(worker.lastPass?.endedMilliseconds, scene.now - DAY)
  t.match(worker.totals, { expired: 2, failed: 2 })
  scene.fails = false
  t.equal(await pass(), 2 * (DAY / 1000), 'k4, due since two days by now')
  t.equal(await pass(), 0, 'nothing is left')
  t.match(worker.totals, { scanned: 7, expired: 5, held: 0, failed: 2 })
  await store.close(true)
})

test('what a lock holds is no lag until the lock has ended', async (t) => {
  const { scene, store, send, worker, pass } = await sceneOf(t.testdir(), 1)
  await send({ ...createBucket('b'), lockEnabled: true }, setVersioning('b', 'enabled'))
  await send(createRule('b', 'r', { noncurrentDays: 1 }))
  const untilMilliseconds = millisecondsOf(START + 10 * DAY)
  for (const key of ['a', 'b']) {
    const version = sequenceOf(await send(write('b', key, BYTES)))
    await send(write('b', key, BYTES), setRetention('b', key, { mode: 'GOVERNANCE', untilMilliseconds }, version))
  }
  scene.now += 2 * DAY
  await pass()
  t.equal(await pass(), 0)
  t.match(worker.totals, { expired: 0, held: 2 })
  scene.now += 10 * DAY
  t.equal(await pass(), 2 * (DAY / 1000), 'the second of them has been free since its retention ended')
  t.equal(await pass(), 0)
  t.match(worker.totals, { expired: 2, held: 2 })
  await store.close(true)
})
