/** The stream of storage events over the wire. */
import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import tap, { test } from 'tap'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { allEvents, eventPage } from '../../support/storage-events.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

const server = await startManaged({ segmentBytes: 64 * 1024 })
tap.teardown(() => server.stop())
const { api } = server

await createBucket(server, 'streamed')
for (let index = 0; index < 30; index += 1) await put(server, `streamed/${index}`, 'x')

/** An open stream, and what has come of it so far. */
class Stream {
  readonly request: ClientRequest
  readonly response: IncomingMessage
  text = ''

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.request = request
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      this.text += piece
    })
    response.on('error', () => undefined)
  }

  static async open(
    query: string,
    headers: Readonly<Record<string, string>> = {},
    token = SYSTEM_TOKEN,
  ): Promise<Stream> {
    const url = `${server.apiEndpoint}/api/v1/events/stream?${query}`
    const request = get(url, { agent: false, headers: { authorization: `Bearer ${token}`, ...headers } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return new Stream(request, response)
  }

  /** Resolves when the text so far satisfies a condition. */
  async until(isEnough: (text: string) => boolean): Promise<string> {
    while (!isEnough(this.text)) await once(this.response, 'data')
    return this.text
  }

  async ended(): Promise<string> {
    if (!this.response.readableEnded) await once(this.response, 'end')
    return this.text
  }

  get events(): { id: string; object?: string }[] {
    return this.text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { id: string })
  }
}

test('the history as lines of JSON, which are those of the pages', async (t) => {
  const stream = await Stream.open('follow=false')
  t.match(stream.response.headers, { 'content-type': 'application/x-ndjson' })
  await stream.ended()
  t.same(stream.events, await allEvents(api))
  const some = await Stream.open(`follow=false&prefix=2&type=object.created&after_id=${stream.events[4]?.id}`)
  await some.ended()
  t.same(
    some.events.map(({ object }) => object),
    stream.events
      .slice(5)
      .map(({ object }) => object)
      .filter((key) => key?.startsWith('2')),
  )
})

test('goes on with what is written, and again after the last event that arrived', async (t) => {
  const { head_id } = await eventPage(api, { limit: '1' })
  const stream = await Stream.open(`after_id=${head_id}`)
  t.equal(await stream.until((text) => text !== ''), '\n', 'a heartbeat says that there is no more')
  await put(server, 'streamed/new-1', 'x')
  await put(server, 'streamed/new-2', 'x')
  await stream.until((text) => text.includes('new-2'))
  t.match(stream.events, [{ object: 'new-1' }, { object: 'new-2' }])
  stream.request.destroy()
  await put(server, 'streamed/new-3', 'x')
  const again = await Stream.open(`after_id=${stream.events[0]?.id}`)
  await again.until((text) => text.includes('new-3'))
  t.match(again.events, [{ object: 'new-2' }, { object: 'new-3' }])
  again.request.destroy()
})

test('server-sent events, from Last-Event-ID on', async (t) => {
  const [first, second] = (await allEvents(api, { prefix: '2' })).slice(-2)
  const headers = { accept: 'text/event-stream', 'last-event-id': String(first?.id) }
  const stream = await Stream.open('prefix=2&after_id=0000000000000000-0000', headers)
  t.match(stream.response.headers, { 'content-type': 'text/event-stream' })
  const text = await stream.until((each) => each.includes(': heartbeat'))
  const [event, heartbeat] = text.split('\n\n')
  t.equal(event, `id: ${second?.id}\nevent: object.created\ndata: ${JSON.stringify(second)}`)
  t.match(heartbeat, /^: heartbeat\nid: \d{16}-9999$/, 'which moves a filtered reader on')
  stream.request.destroy()
})

test('heartbeats that say how far the stream is', async (t) => {
  const stream = await Stream.open('prefix=none&progress=true')
  const text = await stream.until((each) => each.endsWith('\n'))
  const { progress } = JSON.parse(text) as { progress: Readonly<Record<string, string>> }
  t.match(progress, { id: /^\d{16}-9999$/, time: /Z$/ })
  t.equal(progress['id'], progress['head_id'], 'it is at the present')
  stream.request.destroy()
})

test('a token that is revoked ends its streams', async (t) => {
  const made = await api.get<{ id: string; token: string }>('POST', '/management-tokens', {
    name: 'reader',
    role: 'auditor',
  })
  const { head_id } = await eventPage(api, { limit: '1' })
  const stream = await Stream.open(`after_id=${head_id}`, {}, made.token)
  await stream.until((text) => text !== '')
  await api.get('DELETE', `/management-tokens/${made.id}`)
  t.equal(await stream.ended(), '\n')
})

test('positions of another store, and other mistakes', async (t) => {
  t.match(await api.call('GET', '/events/stream?after_id=0000000000900000-0000'), { status: 409, code: 'CONFLICT' })
  for (const query of [
    'after_id=1',
    'heartbeat=0',
    'heartbeat=10',
    'follow=maybe',
    'progress=1',
    'type=x',
    'until=2026-01-01T00:00:00Z',
  ]) {
    t.match(await api.call('GET', `/events/stream?${query}`), { status: 400, code: 'INVALID_REQUEST' }, query)
  }
  t.match(await api.send('HEAD', '/api/v1/events/stream'), { status: 200 })
  t.equal(server.streams.open, 0, 'none is left open')
})

test('one token that has every stream gives way to another: its oldest stream ends cleanly', async (t) => {
  const made = await api.get<{ id: string; token: string }>('POST', '/management-tokens', {
    name: 'greedy',
    role: 'auditor',
  })
  const { head_id } = await eventPage(api, { limit: '1' })
  const greedy: Stream[] = []
  for (let count = 0; count < 32; count += 1) {
    const stream = await Stream.open(`after_id=${head_id}`, {}, made.token)
    await stream.until((text) => text !== '')
    greedy.push(stream)
  }
  const modest = await Stream.open(`after_id=${head_id}`)
  await modest.until((text) => text !== '')
  t.match(await greedy[0]?.ended(), /^\n+$/, 'it ends as if the server stopped, and is taken up again by its cursor')
  t.equal(server.streams.open, 32)
  const { status } = await fetch(`${server.apiEndpoint}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${made.token}` },
  })
  t.equal(status, 503, 'the greedy token gets none back')
  await api.get('DELETE', `/management-tokens/${made.id}`)
  for (const stream of greedy.slice(1)) await stream.ended()
  modest.request.destroy()
  while (server.streams.open > 0) await new Promise((resolve) => setImmediate(resolve))
})

test('so many streams at once, and all end when the server stops', async (t) => {
  const { head_id } = await eventPage(api, { limit: '1' })
  const streams = await Promise.all(Array.from({ length: 32 }, () => Stream.open(`after_id=${head_id}`)))
  t.match(await api.call('GET', '/events/stream'), { status: 503, code: 'SLOW_DOWN' })
  for (const stream of streams) await stream.until((text) => text !== '')
  server.streams.end()
  // On a slow machine a line that keeps a stream open has come again.
  for (const stream of streams) t.match(await stream.ended(), /^\n+$/)
})
