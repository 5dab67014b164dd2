import * as http from 'node:http'
import { test } from 'tap'
import { BodyTooLargeError, ClientGoneError, type HttpRequest, type HttpResponse } from '../../planes/http/exchange.ts'
import { peerText } from '../../planes/http/node/node-connections.ts'
import { peerAddress } from '../../planes/http/uws/peer-address.ts'
import { QUEUED_BYTES_MAXIMUM } from '../../planes/http/requests/request-body.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { signal, sleep, until } from '../support/waiting.ts'

const EMPTY: HttpResponse = { status: 200, headers: [] }

/** Puts a body with node:http and gives the answer's text. */
function put(port: number, body: Buffer, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ port, host: '127.0.0.1', method: 'PUT', headers }, (response) => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (data: string) => {
        text += data
      })
      response.on('end', () => resolve(text))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** How the peer of a socket with this address is named. */
function named(bytes: number[]): string {
  const response = { getRemoteAddress: () => Uint8Array.from(bytes).buffer }
  return peerAddress(response as unknown as Parameters<typeof peerAddress>[0])
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0)
}

/** 'done', or what the promise was rejected with. */
function outcome(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: Error) => (error.name === 'Error' ? error.message : error.name),
  )
}

test('a handler sees the head as it was sent', async (t) => {
  const seen: HttpRequest[] = []
  const server = await serve(t, (request) => {
    seen.push(request)
    return EMPTY
  })
  const client = openRaw(server.port)
  const target = '//a/../%2F/./+;=#b%zz'
  // Node knows methods by name, and those are in capitals.
  const method = HTTP_DRIVER === 'uws' ? 'gEt' : 'GET'
  client.send(
    head(`${method} ${target}?x=%2f&x=2&y`, 'X-One: 1', 'X-TWO:  two words ', 'x-one: 3', 'Connection: close'),
  )
  t.match(await client.untilClosed(), /^HTTP\/1\.1 200 OK\r\n/)
  const [first] = seen
  t.equal(first?.method, method)
  t.equal(first?.path, target)
  t.equal(first?.query, 'x=%2f&x=2&y')
  t.strictSame(first?.headers, [
    ['host', 'localhost'],
    ['x-one', '1'],
    ['x-two', 'two words'],
    ['x-one', '3'],
    ['connection', 'close'],
  ])
  t.equal(first?.header('x-one'), '1,3')
  t.equal(first?.header('x-two'), 'two words')
  t.equal(first?.header('x-three'), undefined)
  t.equal(first?.remoteAddress, '127.0.0.1')
  t.equal(first?.contentLength, undefined)
  t.strictSame(await first?.body.readAll(0), Buffer.alloc(0))
  await first?.body.pipe(() => {
    t.fail('no chunk can come')
  })
})

test('peers are named in their short text form', async (t) => {
  t.equal(named([192, 0, 2, 255]), '192.0.2.255')
  t.equal(named([...zeros(10), 255, 255, 10, 1, 2, 3]), '10.1.2.3')
  t.equal(named([...zeros(15), 1]), '::1')
  t.equal(named([0x20, 1, 0xd, 0xb8, ...zeros(11), 1]), '2001:db8::1')
  t.equal(named([0x20, 1, 0xd, 0xb8, ...zeros(11), 1]), '2001:db8::1', 'known the second time')
  t.equal(named([]), '')
  for (const [text, name] of [
    ['192.0.2.255', '192.0.2.255'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    [undefined, ''],
  ] as const)
    t.equal(peerText(text), name, 'as Node names it')
})

test('a body is whole however late it is asked for', async (t) => {
  const sent = sampleBytes(5_000_000)
  const server = await serve(t, async (request) => {
    await sleep(20)
    const body = await request.body.readAll(sent.length)
    t.equal(body.buffer.byteLength, sent.length, 'memory of its own')
    return { ...EMPTY, body: body.equals(sent) ? 'same' : `differs, ${body.length} bytes` }
  })
  t.equal(await put(server.port, sent, { 'content-length': String(sent.length) }), 'same')
  t.equal(await put(server.port, sent, { 'content-length': String(sent.length), expect: '100-continue' }), 'same')
  t.equal(await put(server.port, sent, { 'transfer-encoding': 'chunked' }), 'same')
})

test('a body that nobody reads yet is held back at the sender', async (t) => {
  const sent = sampleBytes(48_000_000)
  const released = signal()
  const server = await serve(t, async (request) => {
    await released.given
    const body = await request.body.readAll(sent.length)
    return { ...EMPTY, body: body.equals(sent) ? 'same' : 'differs' }
  })
  const client = openRaw(server.port)
  client.send(head('PUT /a', `Content-Length: ${sent.length}`))
  const pushed = client.push(sent)
  let written = -1
  while (client.socket.bytesWritten !== written) {
    written = client.socket.bytesWritten
    await sleep(50)
  }
  t.equal(await Promise.race([pushed.then(() => 'all went'), sleep(100)]), undefined)
  released.give()
  t.match(await client.until(/same|differs/), /same/)
  t.ok(QUEUED_BYTES_MAXIMUM < sent.length)
})

test('a slow sink gets every chunk in order, one at a time', async (t) => {
  const sent = sampleBytes(3_000_000)
  const server = await serve(t, async (request) => {
    const pieces: Buffer[] = []
    let atWork = 0
    await request.body.pipe(async (chunk) => {
      atWork += 1
      if (atWork !== 1) t.fail('the sink was called while at work')
      pieces.push(Buffer.from(chunk))
      await sleep(1)
      atWork -= 1
    })
    return { ...EMPTY, body: Buffer.concat(pieces).equals(sent) ? 'same' : 'differs' }
  })
  t.equal(await put(server.port, sent), 'same')
  t.equal(await put(server.port, sent, { 'transfer-encoding': 'chunked' }), 'same')
})

test('bodies that are too long, taken twice or refused by their sink end in an error', async (t) => {
  const reads: Record<string, (request: HttpRequest) => Promise<string>> = {
    '/long': ({ body }) => outcome(body.readAll(9)),
    '/exact': ({ body }) => outcome(body.readAll(10)),
    '/twice': async ({ body }) => `${await outcome(body.readAll(10))}, ${await outcome(body.readAll(10))}`,
    '/thrown': ({ body }) =>
      outcome(
        body.pipe(() => {
          throw new Error('sink threw')
        }),
      ),
    '/rejected': ({ body }) => outcome(body.pipe(() => Promise.reject(new Error('sink rejected')))),
  }
  const server = await serve(t, async (request) => ({ ...EMPTY, body: (await reads[request.path]?.(request)) ?? '?' }))
  const client = openRaw(server.port)
  const answer = async (path: string): Promise<string> => {
    client.received = ''
    client.send(`${head(`PUT ${path}`, 'Content-Length: 10')}0123456789`)
    return (await client.until(/\r\n\r\n.+/)).split('\r\n\r\n')[1] ?? ''
  }
  t.equal(await answer('/exact'), 'done')
  t.equal(await answer('/long'), BodyTooLargeError.name)
  t.equal(await answer('/twice'), 'done, The request body was already taken')
  t.equal(await answer('/thrown'), 'sink threw')
  t.equal(await answer('/rejected'), 'sink rejected')
  t.equal(client.failure, undefined, 'the connection stayed in step throughout')
  const chunked = openRaw(server.port)
  chunked.send(`${head('PUT /long', 'Transfer-Encoding: chunked')}a\r\n0123456789\r\n0\r\n\r\n`)
  t.match(await chunked.untilClosed(), /Connection: close\r\n[^]*BodyTooLargeError/)
})

test('a client that leaves is noticed by the handler and by the reader of the body', async (t) => {
  const noticed: string[] = []
  const ended = signal()
  const server = await serve(t, async (request) => {
    request.onAborted(() => noticed.push('first'))
    request.onAborted(() => {
      throw new Error('listener threw')
    })
    request.onAborted(() => noticed.push('second'))
    const failure: unknown = await request.body.readAll(100).catch((error: unknown) => error)
    if (failure instanceof ClientGoneError) noticed.push(failure.name)
    request.onAborted(() => noticed.push('late'))
    ended.give()
    return EMPTY
  })
  const client = openRaw(server.port)
  client.send(`${head('PUT /a', 'Content-Length: 10')}012`)
  await until(() => server.activeRequests() > 0)
  client.socket.destroy()
  await ended.given
  await sleep(5)
  t.strictSame(noticed, ['first', 'second', 'ClientGoneError', 'late'])
  t.strictSame(
    server.errors.map((error) => error.message),
    ['listener threw'],
  )
  t.equal(server.activeRequests(), 0)
})

test('a sink at work is waited for before its reader hears that the connection has gone', async (t) => {
  const order: string[] = []
  const ended = signal()
  const server = await serve(t, async (request) => {
    const settled = signal()
    request.onAborted(() => {
      order.push('gone')
      setTimeout(settled.give, 10)
    })
    const sink = async (): Promise<void> => {
      order.push('sink began')
      await settled.given
      order.push('sink ended')
    }
    await request.body.pipe(sink).catch((error: Error) => order.push(error.name))
    ended.give()
    return EMPTY
  })
  const client = openRaw(server.port)
  client.send(`${head('PUT /a', 'Content-Length: 10')}012`)
  await until(() => order.length > 0)
  // Not by the client's leaving: the socket is paused behind the sink, and tells nothing until it runs again.
  await server.close(0)
  await ended.given
  t.strictSame(order, ['sink began', 'gone', 'sink ended', 'ServerStoppingError'])
})
