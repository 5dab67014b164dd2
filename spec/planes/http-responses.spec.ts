import { get } from 'node:http'
import { test } from 'tap'
import type { BodySource, HeaderLine, HttpResponse } from '../../planes/http/exchange.ts'
import { serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { sleep, until } from '../support/waiting.ts'

/** A source of `pieces` that counts how often it is closed. */
class Pieces implements BodySource {
  closes = 0
  readonly length: number
  readonly #pieces: (Buffer | Error)[]
  readonly #immediate: boolean

  constructor(length: number, pieces: (Buffer | Error)[], immediate: boolean) {
    this.length = length
    this.#pieces = [...pieces]
    this.#immediate = immediate
  }

  next(): Promise<Buffer | undefined> | Buffer | undefined {
    const piece = this.#pieces.shift()
    if (this.#immediate) {
      if (piece instanceof Error) throw piece
      return piece
    }
    return sleep(1).then(() => {
      if (piece instanceof Error) throw piece
      return piece
    })
  }

  close(): void {
    this.closes += 1
  }
}

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

/** Fetches with node:http; the answer is read in one go, or slowly. */
function fetchBytes(port: number, path: string, slowly = false): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        if (!slowly || pieces.length % 100 !== 0) return
        response.pause()
        setTimeout(() => response.resume(), 5)
      })
      response.on('error', () => {})
      response.on('close', () => resolve(Buffer.concat(pieces)))
    }).on('error', reject)
  })
}

test('statuses and lengths are as RFC 9110 wants them, and the connection stays in step', async (t) => {
  const source = new Pieces(5, [Buffer.from('never')], true)
  const answers: Record<string, HttpResponse> = {
    'HEAD /big': { status: 200, headers: [['ETag', '"a"']], contentLength: 6_000_000_000 },
    'HEAD /none': { status: 404, headers: [] },
    'HEAD /body': { status: 200, headers: [], body: 'four' },
    'HEAD /source': { status: 200, headers: [], body: source },
    'GET /204': { status: 204, headers: [] },
    'GET /304': { status: 304, headers: [['ETag', '"b"']] },
    'GET /empty': { status: 200, headers: [] },
    'GET /text': { status: 507, headers: [], body: 'é' },
    'GET /bytes': { status: 206, headers: [], body: Buffer.from([0xff, 0x21]) },
    'GET /source': { status: 200, headers: [], body: new Pieces(0, [], true) },
  }
  const expected: Record<string, RegExp> = {
    'HEAD /big': /^HTTP\/1\.1 200 OK\r\nETag: "a"\r\nContent-Length: 6000000000\r\nDate: [^\r]+\r\n[^]*\r\n\r\n$/,
    'HEAD /none': /^HTTP\/1\.1 404 Not Found\r\nContent-Length: 0\r\n[^]*\r\n\r\n$/,
    'HEAD /body': /Content-Length: 4\r\n[^]*\r\n\r\n$/,
    'HEAD /source': /Content-Length: 5\r\n[^]*\r\n\r\n$/,
    'GET /204': /^HTTP\/1\.1 204 No Content\r\n(?![^]*Content-Length)[^]*\r\n\r\n$/,
    'GET /304': /^HTTP\/1\.1 304 Not Modified\r\nETag: "b"\r\n(?![^]*Content-Length)[^]*\r\n\r\n$/,
    'GET /empty': /Content-Length: 0\r\n(?:[^]+\r\n)?\r\n$/,
    'GET /text': /^HTTP\/1\.1 507 Insufficient Storage\r\n[^]*Content-Length: 2\r\n(?:[^]+\r\n)?\r\n\u00c3\u00a9$/,
    'GET /bytes': /^HTTP\/1\.1 206 Partial Content\r\n[^]*Content-Length: 2\r\n(?:[^]+\r\n)?\r\n\u00ff!$/,
    'GET /source': /Content-Length: 0\r\n(?:[^]+\r\n)?\r\n$/,
  }
  for (const later of [false, true]) {
    const server = await serve(t, ({ method, path }) => {
      const answer = answers[`${method} ${path}`] ?? { status: 418, headers: [] }
      return later ? sleep(1).then(() => answer) : answer
    })
    const client = openRaw(server.port)
    for (const [line, pattern] of Object.entries(expected)) {
      client.received = ''
      client.send(head(line))
      const received = await client.until(pattern)
      t.match(received, pattern, `${line}, ${later ? 'later' : 'at once'}`)
      t.equal(received.match(/^(?:Date|Content-Length):/gm)?.length ?? 0, /304|204/.test(line) ? 1 : 2)
    }
    client.socket.destroy()
  }
  t.equal(source.closes, 2, 'closed each time, though never asked for a piece')
})

test('a response that would break the protocol becomes a 500', async (t) => {
  const bad: Record<string, HeaderLine> = {
    'line break in a value': ['X-A', 'a\r\nSet-Cookie: b'],
    'line feed in a value': ['X-A', 'a\nb'],
    'NUL in a value': ['X-A', 'a\0b'],
    'DEL in a value': ['X-A', 'a\u007fb'],
    'half a surrogate pair': ['X-A', 'a\ud800b'],
    'line break in a name': ['X-A: b\r\nX-B', 'c'],
    'empty name': ['', 'c'],
    'own length': ['content-length', '3'],
    'own date': ['DATE', 'today'],
    'own framing': ['Transfer-Encoding', 'chunked'],
    'own connection': ['Connection', 'close'],
  }
  const source = new Pieces(3, [Buffer.from('abc')], true)
  const server = await serve(t, ({ path }) => {
    if (path === '/status') return { status: 99, headers: [], body: source }
    if (path === '/good') return { status: 200, headers: [['X-A', 'tab\tand é and 😀']], body: 'and é here' }
    const line = bad[decodeURIComponent(path.slice(1))]
    return { status: 200, headers: line === undefined ? [] : [line], body: 'split me' }
  })
  const client = openRaw(server.port)
  const answer = async (path: string): Promise<string> => {
    client.received = ''
    client.send(head(`GET ${path}`))
    return client.until(/\r\n\r\n/)
  }
  for (const what of Object.keys(bad)) {
    const received = await answer(`/${encodeURIComponent(what)}`)
    t.match(received, /^HTTP\/1\.1 500 Internal Server Error\r\n/, what)
    t.notMatch(received, /X-A|X-B|split/i, what)
  }
  t.match(await answer('/status'), /^HTTP\/1\.1 500 /)
  t.equal(source.closes, 1)
  t.equal(server.errors.length, Object.keys(bad).length + 1)
  await answer('/good')
  const good = Buffer.from(await client.until(/here$/), 'latin1').toString()
  t.match(good, /X-A: tab\tand é and 😀\r\n[^]*\r\n\r\nand é here$/)
})

test('exceptions of a handler are answered and reported', async (t) => {
  const server = await serve(t, ({ path }) => {
    if (path === '/throw') throw new Error('thrown')
    return Promise.reject(new Error('rejected'))
  })
  const client = openRaw(server.port)
  client.send(head('GET /throw'))
  t.match(await client.until(/Error\n$/), /^HTTP\/1\.1 500 [^]*Internal Server Error\n$/)
  client.received = ''
  client.send(head('GET /reject'))
  t.match(await client.until(/Error\n$/), /^HTTP\/1\.1 500 [^]*Internal Server Error\n$/)
  t.strictSame(
    server.errors.map((error) => error.message),
    ['thrown', 'rejected'],
  )
  t.equal(server.activeRequests(), 0)
})

test('a body is sent whole, however large, however slowly it is read', async (t) => {
  const bytes = sampleBytes(12_345_678)
  const sources: Pieces[] = []
  const server = await serve(t, ({ path }) => {
    if (path === '/buffer') return { status: 200, headers: [], body: bytes }
    if (path === '/string') return { status: 200, headers: [], body: 'é'.repeat(1_000_000) }
    const [size, immediate] = path === '/pieces' ? [70_001, false] : [50_000, true]
    const source = new Pieces(bytes.length, [Buffer.alloc(0), ...slices(bytes, size)], immediate)
    sources.push(source)
    return { status: 200, headers: [], body: source }
  })
  for (const path of ['/buffer', '/pieces', '/immediate']) {
    for (const slowly of [false, true]) {
      const received = await fetchBytes(server.port, path, slowly)
      t.ok(received.equals(bytes), `${path}, ${slowly ? 'slowly' : 'at once'}`)
    }
  }
  t.equal((await fetchBytes(server.port, '/string')).toString(), 'é'.repeat(1_000_000))
  t.strictSame(
    sources.map(({ closes }) => closes),
    [1, 1, 1, 1],
  )
  t.equal(server.activeRequests(), 0)
})

test('a source that fails, ends early or gives too much cuts the connection', async (t) => {
  const piece = Buffer.from('0123456789')
  const cases: [string, number, (Buffer | Error)[]][] = [
    ['disk broke', 30, [piece, new Error('disk broke')]],
    ['The body ended after 10 of 30 bytes', 30, [piece]],
    ['The body has more than 15 bytes', 15, [piece, piece]],
    ['failed first', 30, [new Error('failed first')]],
  ]
  for (const [message, length, pieces] of cases) {
    for (const immediate of [false, true]) {
      const source = new Pieces(length, pieces, immediate)
      const server = await serve(t, () => ({ status: 200, headers: [], body: source }))
      const client = openRaw(server.port)
      client.send(head('GET /a'))
      const received = await client.untilClosed()
      t.ok(!received.includes('0123456789012345'), 'never as many bytes as announced')
      t.strictSame(
        server.errors.map((error) => error.message),
        [message],
      )
      t.equal(source.closes, 1)
      t.equal(server.activeRequests(), 0)
    }
  }
})

test('a source is closed once when the client leaves, and not while it is at work', async (t) => {
  const order: string[] = []
  const pending: ((piece: Buffer) => void)[] = []
  const source: BodySource = {
    length: 100,
    next: () => {
      order.push('next')
      return new Promise((resolve) => pending.push(resolve))
    },
    close: () => order.push('close'),
  }
  const server = await serve(t, (request) => {
    request.onAborted(() => order.push('gone'))
    return { status: 200, headers: [], body: source }
  })
  const client = openRaw(server.port)
  client.send(head('GET /a'))
  await until(() => order.length > 0)
  client.socket.resetAndDestroy()
  await until(() => order.length > 1)
  t.equal(server.activeRequests(), 0)
  order.push('delivered')
  pending[0]?.(Buffer.alloc(10))
  await until(() => order.length > 3)
  t.strictSame(order, ['next', 'gone', 'delivered', 'close'])
  t.strictSame(server.errors, [])
})

test('a response made after the client left is dropped', async (t) => {
  const source = new Pieces(3, [Buffer.from('abc')], true)
  let gone = false
  const server = await serve(t, async (request) => {
    request.onAborted(() => {
      gone = true
    })
    await until(() => gone)
    return { status: 200, headers: [], body: source }
  })
  const client = openRaw(server.port)
  client.send(head('GET /a'))
  await until(() => server.activeRequests() > 0)
  client.socket.end()
  await until(() => server.activeRequests() === 0)
  t.equal(source.closes, 1)
  t.strictSame(server.errors, [])
})
