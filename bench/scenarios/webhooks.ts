import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { EVENT_TYPES } from '../../engine/events/values.ts'
import type { Bench, Target } from '../bench.ts'
import { indexRange, putLoad } from '../load.ts'
import { manage } from '../management.ts'
import { processorSeconds } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { measureInTurns } from '../turns.ts'

const RECEIVER = fileURLToPath(new URL('../webhook-receiver.js', import.meta.url))
const SETTINGS = ['webhooks.allow_http=true', 'webhooks.allow_private_networks=true']

/** Writes whose events are waited for one by one, at moments that have nothing to do with the poll of the server. */
const SINGLE_WRITES = 25
const SINGLE_PAUSE_MILLISECONDS = 237
const ARRIVAL_SECONDS_MAXIMUM = 30
/** Written at once, for the rate of deliveries. */
const BACKLOG = 6000
const BACKLOG_QUICK = 1500
const ROUNDS_MAXIMUM = 5
const TURN_SECONDS_MINIMUM = 3

/** Deliveries to a receiver in a process of its own, over connections of the loopback interface. */
export const webhooks: Scenario = {
  name: 'webhooks',
  title: 'Webhooks: how soon and how fast events are delivered, and what it costs writers',
  needs: 'own server',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const receiver = await startReceiver(bench)
      const webhook = await createWebhook(target, receiver)
      await arrivals(bench, target, receiver)
      await deliveries(bench, target, receiver)
      await beside(bench, target, webhook, receiver)
    }, SETTINGS),
}

/** Returns the address of a receiver, which ends with the bench. */
async function startReceiver(bench: Bench): Promise<string> {
  const child = bench.children.start(process.execPath, [RECEIVER], { stdio: ['pipe', 'pipe', 'inherit'] })
  if (child.stdout === null) throw new Error('a receiver has no output')
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return `http://127.0.0.1:${port.toString().trim()}`
}

async function createWebhook(target: Target, receiver: string): Promise<string> {
  const body = Buffer.from(JSON.stringify({ target_url: `${receiver}/hook`, event_types: EVENT_TYPES }))
  const { text } = await manage(target, 'POST', '/webhooks', body)
  return (JSON.parse(text) as { subscription: { id: string } }).subscription.id
}

/** From the answer to a write until its event is with the receiver, while nothing else happens. */
async function arrivals(bench: Bench, target: Target, receiver: string): Promise<void> {
  const answered = new Map<string, number>()
  for (const index of indexRange(0, SINGLE_WRITES)) {
    await sleep(SINGLE_PAUSE_MILLISECONDS)
    const key = `single/${index}`
    await target.client.send({ method: 'PUT', path: `/${target.bucket}/${key}` }, Buffer.from('x'))
    answered.set(key, Date.now())
  }
  await countOf(receiver, SINGLE_WRITES, ARRIVAL_SECONDS_MAXIMUM)
  const arrived = (await (await fetch(`${receiver}/arrivals`)).json()) as Readonly<Record<string, number>>
  const seconds = Array.from(answered, ([key, at]) => ((arrived[key] ?? Number.NaN) - at) / 1000)
  seconds.sort((left, right) => left - right)
  bench.add({
    name: 'webhooks-delivered',
    label: `From the answer to a write until its event is delivered, median of ${SINGLE_WRITES}`,
    value: seconds[Math.floor(SINGLE_WRITES / 2)] as number,
    unit: 's',
    note: `at most ${(seconds.at(-1) as number).toFixed(1)} s`,
  })
}

/** How fast a backlog is delivered after the writes that made it. */
async function deliveries(bench: Bench, target: Target, receiver: string): Promise<void> {
  const backlog = bench.settings.quick ? BACKLOG_QUICK : BACKLOG
  await target.client.fill(target.bucket, 0, backlog, randomBytes(SMALL_BYTES))
  const from = await countOf(receiver, 0, 0)
  const before = target.pid === undefined ? 0 : processorSeconds(target.pid)
  const began = performance.now()
  await countOf(receiver, SINGLE_WRITES + backlog, ARRIVAL_SECONDS_MAXIMUM)
  const seconds = (performance.now() - began) / 1000
  const processor = target.pid === undefined ? 0 : processorSeconds(target.pid) - before
  const delivered = SINGLE_WRITES + backlog - from
  bench.add({
    name: 'webhooks-deliveries',
    label: `Deliveries to one receiver, of a backlog of ${delivered.toLocaleString('en')}`,
    value: delivered / seconds,
    unit: 'per second',
    processorMicroseconds: (processor * 1_000_000) / delivered,
  })
}

/** Waits until a receiver has had as many deliveries. Returns how many it has had. */
async function countOf(receiver: string, wanted: number, secondsMaximum: number): Promise<number> {
  const deadline = performance.now() + secondsMaximum * 1000
  for (;;) {
    const count = (await (await fetch(`${receiver}/count`)).json()) as number
    if (count >= wanted) return count
    if (performance.now() > deadline) throw new Error(`${count} of ${wanted} deliveries came`)
    await sleep(20)
  }
}

/**
 * The rate of writes with the webhook, and without it: it is disabled in every other turn, which drops pending events.
 */
async function beside(bench: Bench, target: Target, webhook: string, receiver: string): Promise<void> {
  const { seconds, rounds } = bench.settings
  const load = putLoad(target.bucket, indexRange(0, 100_000), randomBytes(SMALL_BYTES), 'time')
  const side = (words: string, figure: string, enabled: boolean) => ({
    figure,
    label: `PUT 4 KiB, ${USUAL_CONNECTIONS} connections, ${words}`,
    target,
    load,
    prepare: async () => {
      await manage(target, 'PUT', `/webhooks/${webhook}/status`, Buffer.from(JSON.stringify({ enabled })))
    },
  })
  const without = side('no webhook', 'webhooks-none-put-4-kib', false)
  const withOne = side('one webhook for everything', 'webhooks-one-put-4-kib', true)
  const before = await countOf(receiver, 0, 0)
  const turns = {
    connections: USUAL_CONNECTIONS,
    seconds: Math.max(TURN_SECONDS_MINIMUM, Math.ceil(seconds / 2)),
    rounds: Math.min(ROUNDS_MAXIMUM, rounds),
    limits: ['sync-preallocated'],
  } as const
  const ratio = await measureInTurns(bench, without, withOne, turns)
  const delivered = (await countOf(receiver, 0, 0)) - before
  bench.add({
    name: 'webhooks-put-4-kib-ratio',
    label: 'Rate of PUT 4 KiB with one webhook for everything over that without',
    value: ratio,
    unit: 'ratio',
    note: `${delivered.toLocaleString('en')} deliveries in ${turns.rounds} turns of ${turns.seconds} s and the warm-up`,
  })
}
