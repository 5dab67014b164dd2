/** Proves: EVT-AUD-04. */
import { test } from 'tap'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import { HEADER_BYTES_MAXIMUM, HEADER_LINES_MAXIMUM } from '../../planes/http/limits/header-limits.ts'
import { malformedRequestResponse as managementRefusal } from '../../planes/management/responses.ts'
import { malformedRequestResponse as s3Refusal } from '../../planes/s3/documents/error-response.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { serve } from './http-server.ts'
import { MALFORMED_REQUESTS } from './malformed-requests.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'

const CHUNKED = 'Transfer-Encoding: chunked'

/** Of longer ones the answer may be lost: the connection is reset when not all of them was read. */
const ANSWER_IS_CERTAIN_BYTES = 32_768

test('malformed requests are refused and their connections closed', async (t) => {
  let handled = 0
  let refused = 0
  const handler: HttpHandler = () => {
    handled += 1
    return { status: 200, headers: [] }
  }
  // Some announce more than they send, and are listened to for a while after the answer.
  const server = await serve(t, handler, { lingerMilliseconds: 50, stallTimeoutMilliseconds: 400 })
  await Promise.all(
    MALFORMED_REQUESTS.map(async ({ name, sent, answer }) => {
      if (typeof answer !== 'number' || sent.length > ANSWER_IS_CERTAIN_BYTES) return
      refused += 1
      const received = await openRaw(server.port).send(sent).untilClosed()
      t.ok(received.startsWith(`HTTP/1.1 ${answer} `), `${name}: ${received.slice(0, 40)}`)
      t.match(received, /^Connection: close\r$/im, name)
    }),
  )
  t.ok(refused > 50)
  t.equal(handled, 0)
  t.equal(server.activeRequests(), 0)
  const client = openRaw(server.port)
  const lines = Array.from({ length: HEADER_LINES_MAXIMUM - 1 }, () => `X-A: ${'a'.repeat(150)}`)
  t.match(
    await client.send(head('GET /', ...lines)).until(/\r\n\r\n/),
    /^HTTP\/1\.1 200 /,
    'up to the bounds all is well',
  )
  client.socket.destroy()
})

/** What both planes say of a refusal: the id in a header is that in the body. */
const PLANES = {
  s3: {
    refusal: s3Refusal,
    id: /^x-amz-request-id: (\S+)\r$/im,
    body: /<Error><Code>[^]*<RequestId>(.*)<\/RequestId>/,
  },
  management: {
    refusal: managementRefusal,
    id: /^x-request-id: (\S+)\r$/im,
    body: /"error":\{.*"request_id":"(.*)"\}/,
  },
}

test('a refusal has a request id and the body of its plane, but for what the library says by itself', async (t) => {
  const short = MALFORMED_REQUESTS.filter(
    ({ answer, sent }) => typeof answer === 'number' && sent.length <= ANSWER_IS_CERTAIN_BYTES,
  )
  t.equal(
    short.some((one) => one.isOfLibrary),
    HTTP_DRIVER === 'uws',
  )
  for (const [plane, { refusal, id, body }] of Object.entries(PLANES)) {
    const server = await serve(t, () => ({ status: 200, headers: [] }), {
      refusal,
      lingerMilliseconds: 50,
      stallTimeoutMilliseconds: 400,
    })
    await Promise.all(
      short.map(async ({ name, sent, isOfLibrary }) => {
        const received = await openRaw(server.port).send(sent).untilClosed()
        const what = `${plane}: ${name}: ${received.slice(0, 40)}`
        const [, inBody] = body.exec(received) ?? []
        t.equal(inBody === undefined, isOfLibrary, what)
        t.equal(id.exec(received)?.[1], inBody, what)
        t.ok(received.length < 1024, what)
      }),
    )
  }
})

test('a head at the bound is read, and one beyond it refused', async (t) => {
  const server = await serve(t, () => ({ status: 204, headers: [] }), { lingerMilliseconds: 50 })
  const empty = head('GET /', 'X-A: ').length
  for (const [bytes, status] of [
    [HEADER_BYTES_MAXIMUM - 1, 204],
    [HEADER_BYTES_MAXIMUM + 1, 431],
  ] as const) {
    const client = openRaw(server.port)
    const received = await client.send(head('GET /', `X-A: ${'a'.repeat(bytes - empty)}`)).until(/\r\n\r\n/)
    t.match(received, `HTTP/1.1 ${status} `, `${bytes}`)
    client.socket.destroy()
  }
})

test('a head that does not end is given up', async (t) => {
  const { port } = await serve(t, () => ({ status: 200, headers: [] }), { refusal: s3Refusal, lingerMilliseconds: 50 })
  const [nothing, half] = [openRaw(port), openRaw(port).send('GET / HTTP/1.1\r\nHost: localhost\r\n')]
  t.equal(await nothing.untilClosed(), '', 'who has sent nothing asks nothing')
  const received = await half.untilClosed()
  if (HTTP_DRIVER === 'uws') t.equal(received, '', 'the library calls nobody')
  else t.match(received, /^HTTP\/1\.1 408 [^]*x-amz-request-id: [^]*<Error><Code>BadRequest<\/Code>/)
})

test('a handler that fails is answered for in the words of its plane', async (t) => {
  for (const [plane, { refusal, id, body }] of Object.entries(PLANES)) {
    const server = await serve(t, () => Promise.reject(new Error('rejected')), { refusal })
    const received = await openRaw(server.port).send(head('GET /')).untilClosed()
    t.match(received, /^HTTP\/1\.1 500 [^]*INTERNAL_?ERROR/i, plane)
    t.ok(id.exec(received)?.[1], plane)
    t.equal(id.exec(received)?.[1], body.exec(received)?.[1], plane)
  }
})

test('the plane words the refusal', async (t) => {
  const server = await serve(t, () => ({ status: 200, headers: [] }), {
    refusal: (status, reason) => ({ status, headers: [['Content-Type', 'application/xml']], body: `<E>${reason}</E>` }),
  })
  const received = await openRaw(server.port).send(head('GET /', 'Host: other')).untilClosed()
  t.match(received, /^HTTP\/1\.1 400 [^]*application\/xml\r\n[^]*<E>The Host header is repeated\.<\/E>$/)
  const plain = await serve(t, () => ({ status: 200, headers: [] }))
  t.match(await openRaw(plain.port).send(head('GET /', 'Host: other')).untilClosed(), /text\/plain[^]*repeated\.\n$/)
  const broken = await serve(t, () => ({ status: 200, headers: [] }), {
    refusal: () => {
      throw new Error('no words')
    },
  })
  t.match(await openRaw(broken.port).send(head('GET /', 'Host: other')).untilClosed(), /^HTTP\/1\.1 500 /)
  t.equal(broken.errors[0]?.message, 'no words')
})

test('what follows a message of doubtful framing is never taken for a request', async (t) => {
  const paths: string[] = []
  const handler: HttpHandler = ({ path }) => {
    paths.push(path)
    return { status: 200, headers: [] }
  }
  const server = await serve(t, handler)
  const smuggled = head('GET /smuggled')
  const doubtful = [
    `${head('PUT /a', 'Content-Length: 3', `Content-Length: ${3 + smuggled.length}`)}abc${smuggled}`,
    // The library takes this size for 0x0badb, as if the extension were digits.
    `${head('PUT /b', CHUNKED)}0;a=b\r\n\r\n${'x'.repeat(0xbadb - 2)}\r\n0\r\n\r\n${smuggled}`,
    `${head('PUT /c', CHUNKED)}0\r\n\r\n${smuggled}`,
    `${head('GET /d\u007f')}${smuggled}`,
  ]
  for (const sent of doubtful) await openRaw(server.port).send(sent).untilClosed()
  t.notMatch(paths, /smuggled/)
  t.same(
    paths.filter((path) => path === '/smuggled'),
    [],
  )
  t.same(
    paths.filter((path) => path !== '/b'),
    ['/c'],
  )
})

test('an unread body of moderate length is discarded and the connection goes on', async (t) => {
  for (const later of [false, true]) {
    const server = await serve(t, ({ path }) => {
      const answer = { status: 200, headers: [], body: `answer to ${path}\n` }
      return later ? new Promise((resolve) => setTimeout(resolve, 20, answer)) : answer
    })
    const client = openRaw(server.port)
    const body = sampleBytes(1_000_000)
    for (const path of ['/1', '/2', '/3']) {
      client.received = ''
      client.send(head(`PUT ${path}`, `Content-Length: ${body.length}`))
      await client.push(body)
      t.equal((await client.until(/answer to .*\n/)).split('\r\n\r\n')[1], `answer to ${path}\n`)
    }
    t.equal(client.failure, undefined)
    client.socket.destroy()
  }
})

test('a client that is still sending a long body can read why it was refused', async (t) => {
  const body = sampleBytes(40_000_000)
  const heads = {
    declared: head('PUT /a', `Content-Length: ${body.length}`),
    chunked: `${head('PUT /a', CHUNKED)}${body.length.toString(16)}\r\n`,
    'declared, closing': head('PUT /a', `Content-Length: ${body.length}`, 'Connection: close'),
    HEAD: head('HEAD /a', `Content-Length: ${body.length}`),
  }
  for (const later of [false, true]) {
    const server = await serve(t, () => {
      const answer = { status: 403, headers: [], body: Buffer.from('no, not you') }
      return later ? new Promise((resolve) => setTimeout(resolve, 20, answer)) : answer
    })
    for (const [framing, sent] of Object.entries(heads)) {
      // Sends everything before it looks at the answer.
      const client = openRaw(server.port)
      client.socket.pause()
      client.send(sent)
      await client.push(body)
      if (framing === 'chunked') client.send('\r\n0\r\n\r\n')
      client.socket.resume()
      const received = await client.untilClosed()
      t.equal(client.failure, undefined, `${framing}: no reset`)
      t.match(received, /^HTTP\/1\.1 403 Forbidden\r\nDate: [^\r]{29}\r\n[^]*Connection: close\r\n/)
      if (framing === 'HEAD') t.match(received, /Content-Length: 11\r\nConnection: close\r\n\r\n$/)
      else t.equal(received.split('\r\n\r\n').slice(1).join('|'), 'b\r\nno, not you\r\n0|')
    }
    t.equal(server.activeRequests(), 0)
  }
})

test('a client that goes on sending after its refusal is cut off in the end', async (t) => {
  const server = await serve(t, () => ({ status: 403, headers: [] }), {
    lingerMilliseconds: 100,
    stallTimeoutMilliseconds: 400,
  })
  const client = openRaw(server.port)
  client.send(head('PUT /a', 'Content-Length: 5000000000'))
  const dribble = setInterval(() => client.send('x'), 20)
  t.match(await client.untilClosed(), /^HTTP\/1\.1 403 /)
  clearInterval(dribble)
})
