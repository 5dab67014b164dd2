/** `events list` and `events follow` against a server. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import tap, { test } from 'tap'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { createBucket, put } from '../support/wire-versions.ts'
import { FakeControl, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

await createBucket(server, 'told')
for (let index = 0; index < 5; index += 1) await put(server, `told/${index}`, 'x')

test('list shows a table, page after page to the limit, and where the next one begins', async (t) => {
  const all = await run(['events', 'list', '--since', '1h'], { environment })
  t.match(all, { exitCode: 0, stderr: '' })
  const [heading, ...rows] = all.stdout.trimEnd().split('\n')
  t.match(heading, /^TIME +EVENT +TYPE +SIZE +VERSION +TARGET$/)
  t.match(rows[0], /Z +\d{16}-0000 +bucket.created +- +- +told$/)
  t.match(rows[1], /object.created +1 +null +told\/0$/)
  t.equal(rows.length, 6)
  const some = await run(['events', 'list', '--json', '--limit', '2', '--type', 'object.created'], { environment })
  const { events, next_time, next_id } = JSON.parse(some.stdout) as Record<string, string>
  t.match(events, [{ object: '0' }, { object: '1' }])
  const cursor = ['--after-time', String(next_time), '--after-id', String(next_id)]
  const rest = await run(['events', 'list', '--json', '--prefix', '4', ...cursor], { environment })
  t.match(JSON.parse(rest.stdout), { events: [{ object: '4' }], next_id: null, damaged: false })
  t.match(await run(['events', 'list', '--type', 'none'], { environment }), { exitCode: 2, stderr: /type/ })
})

function event(index: number): string {
  return JSON.stringify({ id: `000000000000000${index}-0000`, type: 'object.created', bucket: 'b' })
}

test('follow goes on where it was when its stream ends, until it is stopped', async (t) => {
  const control = new FakeControl()
  const asked: string[] = []
  // Breaks off in the middle of a line, then ends in order, then stays silent.
  const streams: ((response: ServerResponse) => void)[] = [
    (response) => response.write(`${event(1)}\n\n${event(2).slice(0, 30)}`, () => response.destroy()),
    (response) => response.end(`${event(2)}\n{"progress":{"id":"0000000000000007-9999"}}\n`),
    () => control.signal('SIGTERM'),
  ]
  const stub = createServer((request, response) => {
    asked.push(String(request.url))
    response.writeHead(200)
    streams[asked.length - 1]?.(response)
    response.flushHeaders()
  })
  await once(stub.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
  const outcome = await run(['events', 'follow', '--json', '--bucket', 'b', '--since', '2026-11-22'], {
    control,
    environment: { OBJECT_STORE_URL: url, OBJECT_STORE_TOKEN: SYSTEM_TOKEN },
  })
  stub.closeAllConnections()
  stub.close()
  t.equal(outcome.exitCode, 0)
  t.equal(outcome.stdout, `${event(1)}\n${event(2)}\n`, 'each once')
  t.match(outcome.stderr, /connecting again/)
  const stream = '/api/v1/events/stream?bucket=b&since=2026-11-22T00%3A00%3A00.000000Z'
  t.same(asked, [
    `${stream}&progress=true`,
    `${stream}&after_id=0000000000000001-0000&progress=true`,
    `${stream}&after_id=0000000000000007-9999&progress=true`,
  ])
})

test('follow names what cannot be read, continues after it, and ends with 21', async (t) => {
  const damage = { id: '0000000000000005-9999', sequence: 3, last_sequence: 5, verdict: 'content changed' }
  const place = { segment: '00000000000000000000.segment', offset: 640, detail: 'the records cannot be read' }
  const line = JSON.stringify({ damage: { ...damage, ...place } })
  for (const json of [true, false]) {
    const asked: string[] = []
    const control = new FakeControl()
    const streams: ((response: ServerResponse) => void)[] = [
      (response) => response.end(`${event(1)}\n${line}\n`),
      (response) => response.end(`${event(6)}\n`),
      () => control.signal('SIGTERM'),
    ]
    const stub = createServer((request, response) => {
      asked.push(String(request.url))
      response.writeHead(200)
      streams[asked.length - 1]?.(response)
      response.flushHeaders()
    })
    await once(stub.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
    const outcome = await run(['events', 'follow', '--since', '2026-11-22', ...(json ? ['--json'] : [])], {
      control,
      environment: { OBJECT_STORE_URL: url, OBJECT_STORE_TOKEN: SYSTEM_TOKEN },
    })
    stub.closeAllConnections()
    stub.close()
    t.equal(outcome.exitCode, 21)
    t.match(outcome.stderr, /could not be read.*\n {2}records 3 to 5: content changed, 0+\.segment, offset 640/)
    t.match(asked[1], /after_id=0000000000000005-9999/)
    if (json) t.equal(outcome.stdout, `${event(1)}\n${line}\n${event(6)}\n`)
    else t.notMatch(outcome.stdout, /damage/)
  }
})

test('follow ends at once where it may not read', async (t) => {
  const outcome = await run(['events', 'follow'], { environment: { ...environment, OBJECT_STORE_TOKEN: 'wrong' } })
  t.match(outcome, { exitCode: 5, stdout: '' })
})
