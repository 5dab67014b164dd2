/** Proves: DO-CAP-01, ERR-OTH-06, LIM-VAL-18, LIM-VAL-19. */
import { readdirSync } from 'node:fs'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { until } from '../../../support/waiting.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { MALFORMED_REQUESTS } from '../../malformed-requests.ts'
import { openRaw, type RawClient } from '../../../support/raw/raw-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire, paths } = server

const GIBIBYTE = 1024 ** 3
const LARGE = sampleBytes(600_000)
const UNSIGNED = { payloadHash: 'UNSIGNED-PAYLOAD' }

await raw('PUT', '/http-bucket')

/** The head of a signed request, with further lines that are not signed. */
function head(
  method: string,
  target: string,
  unsignedHeaders: readonly HeaderLine[],
  sign: false | object = UNSIGNED,
  of = wire,
): string {
  return of.headText(method, target, { sign, unsignedHeaders })
}

function statusLines(client: RawClient): string[] {
  return [...client.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] ?? '')
}

test('a body needs a length, and one within bounds', async (t) => {
  const chunked = openRaw(server.port)
  chunked.send(head('PUT', '/http-bucket/k', [['transfer-encoding', 'chunked']]))
  chunked.send('5\r\nhello\r\n0\r\n\r\n')
  t.match(
    await chunked.untilClosed(),
    /^HTTP\/1\.1 411 [^]*<Code>MissingContentLength<\/Code><Message>[^<]*curl -T FILE/,
  )
  for (const length of [5 * GIBIBYTE + 1, 1e15 - 1]) {
    const client = openRaw(server.port)
    client.send(
      head('PUT', '/http-bucket/k', [
        ['content-length', String(length)],
        ['expect', '100-continue'],
      ]),
    )
    const answer = await client.until(/<\/Error>/)
    t.match(answer, /HTTP\/1\.1 400 [^]*<Code>EntityTooLarge<\/Code>/, `${length} bytes are refused before they come`)
    t.match(answer, `<ProposedSize>${length}</ProposedSize><MaxSizeAllowed>${5 * GIBIBYTE}</MaxSizeAllowed>`)
    client.socket.destroy()
  }
  isError(t, await raw('GET', '/http-bucket/k'), 'NoSuchKey', 'nothing was stored')
})

test('a client that waits for 100 Continue', async (t) => {
  const client = openRaw(server.port)
  const lines: HeaderLine[] = [
    ['content-length', '5'],
    ['expect', '100-continue'],
  ]
  client.send(head('PUT', '/http-bucket/expected', lines))
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  client.send('hello')
  await client.until(/HTTP\/1\.1 200/)
  t.same(statusLines(client), ['100', '200'])
  t.equal((await raw('GET', '/http-bucket/expected')).text, 'hello')
  client.socket.destroy()

  const refused = openRaw(server.port)
  const large: HeaderLine[] = [
    ['content-length', '100000'],
    ['expect', '100-continue'],
  ]
  refused.send(head('PUT', '/no-such-bucket/k', large))
  t.match(await refused.until(/<\/Error>/), '<Code>NoSuchBucket</Code>', 'a refusal does not wait for a large body')
  refused.socket.destroy()
})

test('after an error the connection serves the next request', async (t) => {
  const client = openRaw(server.port)
  const body = 'x'.repeat(1000)
  const length: HeaderLine[] = [['content-length', '1000']]
  const requests: [status: string, text: string][] = [
    ['404', head('PUT', '/no-such-bucket/k', length) + body],
    ['403', head('PUT', '/http-bucket/k', length, false) + body],
    ['501', head('PUT', '/http-bucket/k?acl', length) + body],
    ['204', head('DELETE', '/http-bucket/k', length) + body],
    ['404', head('HEAD', '/http-bucket/missing', [])],
    ['416', head('GET', '/http-bucket/expected', [['range', 'bytes=99-']])],
    ['304', head('GET', '/http-bucket/expected', [['if-none-match', '*']])],
    ['400', head('GET', '/http-bucket?list-type=2&max-keys=x', [])],
    ['200', head('PUT', '/http-bucket/kept', length) + body],
    ['200', head('HEAD', '/http-bucket/kept', [])],
    ['200', head('GET', '/http-bucket/kept', [])],
  ]
  for (const [index, [, text]] of requests.entries()) {
    client.send(text)
    await client.until(new RegExp(`(HTTP/1\\.1 [^]*){${index + 1}}x-amz-request-id`))
  }
  await client.until(/x{1000}$/)
  t.same(
    statusLines(client),
    requests.map(([status]) => status),
  )
  const ids = [...client.received.matchAll(/x-amz-request-id: (\w+)/g)].map((match) => match[1])
  t.equal(new Set(ids).size, requests.length, 'every answer has an id of its own')
  client.socket.destroy()
})

test('a refusal reaches a client that is still sending', async (t) => {
  const body = Buffer.alloc(8 * 1024 ** 2, 'b')
  for (let round = 0; round < 3; round += 1) {
    isError(t, await raw('PUT', '/no-such-bucket/k', { body }), 'NoSuchBucket', '8 MiB')
    isError(t, await raw('PUT', '/http-bucket/k?partNumber=1&uploadId=u', { body }), 'NoSuchUpload', '8 MiB part')
    isError(t, await raw('PUT', '/http-bucket/k?acl', { body }), 'NotImplemented', '8 MiB of what is not done here')
    isError(t, await raw('PUT', '/http-bucket/k', { body, sign: false }), 'AccessDenied', '8 MiB of nobody')
  }
})

test('an upload that breaks off leaves what was there', async (t) => {
  for (const [key, size] of [
    ['small', 1000],
    ['large', LARGE.length],
  ] as const) {
    const target = `/http-bucket/broken-${key}`
    await raw('PUT', target, { body: 'old bytes' })
    for (const sent of [0, 1, Math.floor(size / 2), size - 1]) {
      const client = openRaw(server.port)
      client.send(head('PUT', target, [['content-length', String(size)]]))
      await client.push(LARGE.subarray(0, sent))
      await until(() => server.listener.activeRequests() === 1)
      client.socket.destroy()
      await until(() => server.listener.activeRequests() === 0)
      t.equal((await raw('GET', target)).text, 'old bytes', `${sent} of ${size} bytes`)
    }
  }
  await until(() => readdirSync(paths.uploads).length === 0)
  t.same(
    readdirSync(paths.files).flatMap((name) => readdirSync(`${paths.files}/${name}`)),
    [],
    'no file is left',
  )
  const ends = (await server.journal()).filter((entry) => entry.details.get('error') === 'incomplete-body')
  t.equal(ends.length, 8, 'and each is in the journal')
  for (const end of ends) t.match(end, { result: 'failure', operation: 's3:PUT', intent: Number })
})

test('received bytes are those that came, whatever was declared', async (t) => {
  const stored = await raw('PUT', '/http-bucket/counted', { body: LARGE })
  const finished = (id: unknown) => server.finished.find(({ requestId }) => requestId === id)
  t.equal(finished(stored.headers['x-amz-request-id'])?.receivedBytes, LARGE.length)
  const client = openRaw(server.port)
  client.send(head('PUT', '/http-bucket/declared', [['content-length', String(5 * GIBIBYTE)]], false))
  await client.push(Buffer.from('1'))
  const answer = await client.until(/<\/Error>/)
  const id = /^x-amz-request-id: (\w+)\r$/im.exec(answer)?.[1]
  const refused = finished(id)
  t.equal(refused?.status, 403)
  t.ok((refused?.receivedBytes ?? Number.NaN) <= 1, 'of 5 GiB that were declared one byte was sent')
  client.socket.destroy()
})

test('an upload in small pieces', async (t) => {
  const client = openRaw(server.port)
  client.send(head('PUT', '/http-bucket/pieces', [['content-length', '50']]))
  for (let index = 0; index < 50; index += 1) await client.push(LARGE.subarray(index, index + 1))
  await client.until(/HTTP\/1\.1 200/)
  t.ok((await raw('GET', '/http-bucket/pieces')).body.equals(LARGE.subarray(0, 50)))
  client.socket.destroy()
})

test('a download that is not read to its end gives its place back', async (t) => {
  const body = sampleBytes(20 * 1024 ** 2)
  await raw('PUT', '/http-bucket/download', { body })
  const clients = Array.from({ length: 4 }, () => openRaw(server.port))
  for (const client of clients) {
    client.socket.pause()
    client.send(head('GET', '/http-bucket/download', []))
  }
  await until(() => server.gate.active === 4)
  for (const client of clients) client.socket.destroy()
  await until(() => server.gate.active === 0)
  t.ok((await raw('GET', '/http-bucket/download')).body.equals(body))
})

test('a reader that takes its time gets every byte', async (t) => {
  const client = openRaw(server.port)
  const pieces: Buffer[] = []
  client.socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    client.socket.pause()
    setTimeout(() => client.socket.resume(), 1)
  })
  client.send(
    head('GET', '/http-bucket/download', [
      ['range', 'bytes=0-2999999'],
      ['connection', 'close'],
    ]),
  )
  await client.closed
  const received = Buffer.concat(pieces)
  const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
  t.ok(body.equals(sampleBytes(3_000_000)))
})

test('what is no request is refused, and ends its connection', async (t) => {
  const unclear = 'content-length: 1\r\ncontent-length: 2'
  for (const line of [unclear, 'content-length: -1', 'content-length: 1\r\ntransfer-encoding: chunked']) {
    const client = openRaw(server.port)
    client.send(`PUT /http-bucket/k HTTP/1.1\r\nhost: a\r\n${line}\r\n\r\n`)
    const answer = await client.until(/<\/(?:Error|i)>/)
    t.match(answer, /^HTTP\/1\.1 400 /, line)
    if (line === unclear) {
      t.match(answer, /<Error><Code>BadRequest<\/Code><Message>[^<]/)
      const id = /^x-amz-request-id: ([0-9A-F]{18})\r$/im.exec(answer)?.[1]
      t.match(answer, `<RequestId>${id}</RequestId>`, 'it has a request id, like every answer')
      t.match(answer, /^x-content-type-options: nosniff\r$/im)
    }
    client.socket.destroy()
  }
  // The page of operating says which answers of the library are without an id.
  const short = MALFORMED_REQUESTS.filter(({ answer, sent }) => typeof answer === 'number' && sent.length < 16_000)
  t.ok(short.length > 50)
  for (const { name, sent, answer, isOfLibrary } of short) {
    const client = openRaw(server.port)
    await client.send(sent).until(/<\/(?:Error|i|p)>/)
    const status = /^HTTP\/1\.1 (\d+)/.exec(client.received)?.[1]
    t.equal(status, String(answer), name)
    t.equal(/^x-amz-request-id: [0-9A-F]{18}\r$/im.test(client.received), !isOfLibrary, name)
    t.equal(client.received.includes('<h1>'), isOfLibrary, name)
    client.socket.destroy()
  }
  for (const method of ['PATCH', 'TRACE', 'PROPFIND']) {
    const answer = await raw(method, '/http-bucket/k')
    isError(t, answer, 'MethodNotAllowed', method)
    t.equal(answer.headers.allow, 'GET, HEAD, PUT, DELETE, OPTIONS')
  }
})

test('more operations at once than allowed wait, and then are told to slow down', async (t) => {
  const limits = { operationsMaximum: 1, queueMaximum: 1, waitMillisecondsMaximum: 30_000 }
  const narrow = await startInThread({ limits })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  const upload = openRaw(narrow.port)
  upload.send(head('PUT', '/narrow-bucket/k', [['content-length', String(LARGE.length)]], UNSIGNED, narrow.wire))
  await upload.push(LARGE.subarray(0, 5))
  await until(() => narrow.gate.active === 1)
  const waiting = narrow.raw('PUT', '/narrow-bucket/waiting', { body: LARGE })
  await until(() => narrow.gate.queued === 1)
  isError(t, await narrow.raw('GET', '/narrow-bucket/k'), 'SlowDown', 'one too many')
  isError(t, await narrow.raw('PUT', '/narrow-bucket/j', { body: LARGE }), 'SlowDown', 'and another')
  isError(t, await narrow.raw('GET', '/narrow-bucket/k', { sign: false }), 'AccessDenied', 'a stranger is told nothing')
  await upload.push(LARGE.subarray(5))
  await upload.until(/HTTP\/1\.1 200/)
  isDone(t, await waiting, 200, 'the one that waited')
  t.ok((await narrow.raw('GET', '/narrow-bucket/waiting')).body.equals(LARGE), 'its body was not lost while it waited')
  t.ok((await narrow.raw('GET', '/narrow-bucket/k')).body.equals(LARGE))
  isError(t, await narrow.raw('GET', '/narrow-bucket/j'), 'NoSuchKey', 'what was refused did not happen')
  upload.socket.destroy()
  t.match({ active: narrow.gate.active, queued: narrow.gate.queued }, { active: 0, queued: 0 })
  const refused = (await narrow.journal()).filter((entry) => entry.details.get('error') === 'slow-down')
  t.same(
    refused.map((entry) => `${entry.operation} ${entry.result}`),
    ['s3:GET failure', 's3:PUT failure'],
  )
})

test('whoever leaves the line gives the place back', async (t) => {
  const narrow = await startInThread({ limits: { operationsMaximum: 1, queueMaximum: 10 } })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  await narrow.raw('PUT', '/narrow-bucket/k', { body: LARGE })
  t.equal(narrow.gate.enter(narrow.gate.entryOf('somebody', false)), 'entered')
  const text = (method: string, ...lines: HeaderLine[]) =>
    head(method, '/narrow-bucket/k', lines, UNSIGNED, narrow.wire)
  const reader = openRaw(narrow.port).send(text('GET'))
  const writer = openRaw(narrow.port).send(`${text('PUT', ['content-length', '100000'])}x`)
  await until(() => narrow.gate.queued === 2)
  for (const client of [reader, writer]) client.socket.destroy()
  narrow.gate.leave(narrow.gate.entryOf('somebody', false))
  await until(() => narrow.gate.active === 0 && narrow.gate.queued === 0)
  t.ok((await narrow.raw('GET', '/narrow-bucket/k')).body.equals(LARGE), 'and what was there is there')
  t.same(narrow.failures, [])
})

test('a small body that is not there yet takes no place', async (t) => {
  const narrow = await startInThread({ limits: { operationsMaximum: 1, queueMaximum: 0 } })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  const text = head('PUT', '/narrow-bucket/k', [['content-length', '5']], UNSIGNED, narrow.wire)
  const slow = openRaw(narrow.port).send(`${text}he`)
  await until(() => narrow.listener.activeRequests() === 1)
  isDone(t, await narrow.raw('PUT', '/narrow-bucket/other', { body: Buffer.from('x') }), 200, 'others go on')
  t.equal(narrow.gate.active, 1, 'and the slow one counts as running')
  slow.send('llo')
  t.match(await slow.until(/\r\n\r\n/), /^HTTP\/1\.1 200/)
  t.equal((await narrow.raw('GET', '/narrow-bucket/k')).text, 'hello')
  slow.socket.destroy()
})

test('whoever waits too long is told to slow down', async (t) => {
  const limits = { operationsMaximum: 1, queueMaximum: 10, waitMillisecondsMaximum: 20 }
  const narrow = await startInThread({ limits })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  t.equal(narrow.gate.enter(narrow.gate.entryOf('somebody', false)), 'entered')
  const answers = await Promise.all([1, 2, 3].map(() => narrow.raw('GET', '/narrow-bucket?list-type=2')))
  for (const answer of answers) isError(t, answer, 'SlowDown', 'waited in vain')
  narrow.gate.leave(narrow.gate.entryOf('somebody', false))
  isDone(t, await narrow.raw('GET', '/narrow-bucket?list-type=2'), 200, 'there is room again')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  await until(() => server.gate.active === 0)
  isDone(t, await raw('GET', '/http-bucket/kept'), 200, 'it still serves')
})
