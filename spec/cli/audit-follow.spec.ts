/** `audit query --follow`: new records as they come, without those of whoever follows. */
import tap, { test } from 'tap'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { FakeControl, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }
const POLL = 'GET /api/v1/audit/events'

interface Event {
  readonly event_id: string
  readonly operation: string
  readonly request_id: string | null
  readonly result: string
}

async function polls(): Promise<readonly Event[]> {
  const words = ['audit', 'query', '--json', '--operation', POLL, '--limit', '1000', '--oldest-first']
  const { stdout } = await run(words, { environment })
  return (JSON.parse(stdout) as { readonly events: readonly Event[] }).events
}

/** Waits until each of two has asked so many times. */
async function untilPolled(times: number): Promise<void> {
  for (;;) {
    const counts = new Map<string, number>()
    for (const { request_id: id } of await polls()) {
      if (id?.startsWith('follow-') === true) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    if ([...counts.values()].filter((count) => count >= times).length === 2) return
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
}

test('two who follow see what others do, and not each other', async (t) => {
  await server.api.get('POST', '/buckets', { name: 'before' })
  const controls = [new FakeControl(), new FakeControl()]
  const following = controls.map((control) => run(['audit', 'query', '--follow', '--json'], { environment, control }))
  await untilPolled(1)
  await server.api.get('POST', '/buckets', { name: 'meanwhile' })
  const borrowed = { authorization: 'Bearer wrong', 'x-request-id': `follow-${'0'.repeat(24)}` }
  const refused = await fetch(`${server.apiEndpoint}/api/v1/audit/events`, { headers: borrowed })
  t.equal(refused.status, 401)
  await untilPolled(4)
  for (const control of controls) control.signal('SIGINT')
  for (const { exitCode, stdout } of await Promise.all(following)) {
    t.equal(exitCode, 0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event)
    t.equal(
      events.filter(({ operation }) => operation === 'POST /api/v1/buckets').length,
      4,
      'both attempts and successes',
    )
    t.ok(events.length > 4, 'queries of others are shown')
    const mine = events.filter(({ request_id }) => request_id?.startsWith('follow-') === true)
    t.match(mine, [{ operation: POLL, result: 'denied' }], 'and who was refused, whatever id it gave')
    t.same(new Set(events.map(({ event_id }) => event_id)).size, events.length, 'each of them once')
  }
})
