/** Bodies whose length is not known beforehand: they go out in chunks, at the reader's pace. */
import { get } from 'node:http'
import { test } from 'tap'
import type { HttpResponse } from 'uWebSockets.js'
import { ChunkedStream } from '../../planes/http/uws/chunked-stream.ts'
import type { BodySource } from '../../planes/http/exchange.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { sleep, until } from '../support/waiting.ts'

/** A source of unknown length that counts what it gives and how often it is closed. */
class Pieces implements BodySource {
  readonly length = undefined
  closes = 0
  givenBytes = 0
  readonly #pieces: Iterator<Buffer | Error>
  readonly #immediate: boolean

  constructor(pieces: Iterable<Buffer | Error>, immediate: boolean) {
    this.#pieces = pieces[Symbol.iterator]()
    this.#immediate = immediate
  }

  next(): Promise<Buffer | undefined> | Buffer | undefined {
    return this.#immediate ? this.#take() : sleep(1).then(() => this.#take())
  }

  close(): void {
    this.closes += 1
  }

  #take(): Buffer | undefined {
    const { value, done } = this.#pieces.next()
    if (done === true) return undefined
    if (value instanceof Error) throw value
    this.givenBytes += value.length
    return value
  }
}

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

/** The body of an answer in chunks, of which `text` is all that came; undefined when its last chunk is missing. */
function unchunked(text: string): string | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  let at = headEnd + 4
  let body = ''
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const length = Number.parseInt(text.slice(at, lineEnd), 16)
    if (Number.isNaN(length)) return undefined
    const start = lineEnd + 2
    if (length === 0) return text.startsWith('\r\n', start) ? body : undefined
    body += text.slice(start, start + length)
    at = start + length + 2
  }
}

interface Fetched {
  readonly body: Buffer
  /** Whether the answer came to its end. */
  readonly complete: boolean
}

function fetchBytes(port: number, path: string, pause: (pieces: number) => number): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        const milliseconds = pause(pieces.length)
        if (milliseconds === 0) return
        response.pause()
        setTimeout(() => response.resume(), milliseconds)
      })
      response.on('error', () => {})
      response.on('close', () => resolve({ body: Buffer.concat(pieces), complete: response.complete }))
    }).on('error', reject)
  })
}

test('a body of unknown length is sent whole, however slowly it is read', async (t) => {
  const bytes = sampleBytes(9_876_543)
  const sources: Pieces[] = []
  const server = await serve(t, ({ path }) => {
    const [size, immediate] = path === '/later' ? [170_001, false] : [50_000, true]
    const source = new Pieces([Buffer.alloc(0), ...slices(bytes, size)], immediate)
    sources.push(source)
    return { status: 200, headers: [], body: source }
  })
  for (const path of ['/later', '/immediate']) {
    for (const every of [1_000_000, 20]) {
      const { body, complete } = await fetchBytes(server.port, path, (pieces) => (pieces % every === 0 ? 5 : 0))
      t.ok(complete)
      t.ok(body.equals(bytes), `${path}, a pause after ${every} pieces`)
    }
  }
  t.strictSame(
    sources.map(({ closes }) => closes),
    [1, 1, 1, 1],
  )
  t.equal(server.activeRequests(), 0)
})

test('the framing is that of RFC 9112, and the connection stays in step', async (t) => {
  const sources: Pieces[] = []
  const server = await serve(t, ({ path }) => {
    const pieces = path === '/none' ? [] : [Buffer.from('one'), Buffer.alloc(0), Buffer.from('two\r\n0\r\n\r\n')]
    sources.push(new Pieces(pieces, path !== '/later'))
    return { status: 200, headers: [], body: sources.at(-1) as Pieces }
  })
  const client = openRaw(server.port)
  for (const path of ['/at-once', '/later', '/at-once']) {
    client.received = ''
    client.send(head(`GET ${path}`))
    const received = await client.until(/\r\n0\r\n\r\n\r\n0\r\n\r\n$/)
    t.match(received, /^HTTP\/1\.1 200 OK\r\n/)
    t.match(received, /\r\nTransfer-Encoding: chunked\r\n/)
    t.notMatch(received, /Content-Length/i)
    t.equal(unchunked(received), 'onetwo\r\n0\r\n\r\n')
  }
  client.received = ''
  client.send(head('GET /none'))
  const empty = await client.until(HTTP_DRIVER === 'uws' ? /\r\n\r\n$/ : /\r\n0\r\n\r\n$/)
  t.match(empty, /Content-Length: 0\r\n\r\n$|Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n$/, 'a body without a piece')
  client.received = ''
  client.send(head('HEAD /at-once'))
  const headOnly = await client.until(/\r\n\r\n/)
  t.match(headOnly, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
  t.notMatch(headOnly, /Content-Length|Transfer-Encoding/i)
  client.received = ''
  client.send(head('GET /at-once', 'Connection: close'))
  t.equal(unchunked(await client.until(/\r\n0\r\n\r\n\r\n0\r\n\r\n$/)), 'onetwo\r\n0\r\n\r\n')
  client.socket.destroy()
  t.ok(sources.every(({ closes }) => closes === 1))
  t.strictSame(server.errors, [])
})

test('a source that fails cuts the connection before the last chunk', async (t) => {
  const piece = Buffer.from('0123456789')
  for (const immediate of [false, true]) {
    for (const pieces of [[new Error('disk broke')], [piece, new Error('disk broke')]]) {
      const source = new Pieces(pieces, immediate)
      const server = await serve(t, () => ({ status: 200, headers: [], body: source }))
      const client = openRaw(server.port)
      client.send(head('GET /a'))
      const received = await client.untilClosed()
      t.equal(unchunked(received), undefined, 'the client cannot take it for whole')
      t.strictSame(
        server.errors.map((error) => error.message),
        ['disk broke'],
      )
      t.equal(source.closes, 1)
      t.equal(server.activeRequests(), 0)
    }
  }
})

/** Kernel buffers of both ends take some megabytes on the loopback interface. */
const BUFFERED_BYTES_MAXIMUM = 32 * 1024 * 1024

function* endless(piece: Buffer): Generator<Buffer> {
  for (;;) yield piece
}

test('a client that does not read gets no more than what the kernel holds, and is let go of when it leaves', async (t) => {
  const source = new Pieces(endless(Buffer.alloc(100_000, 'x')), true)
  const server = await serve(t, () => ({ status: 200, headers: [], body: source }))
  const client = openRaw(server.port)
  client.socket.pause()
  client.send(head('GET /a'))
  let before = -1
  while (before !== source.givenBytes) {
    before = source.givenBytes
    await sleep(200)
  }
  t.ok(before > 0)
  t.ok(before < BUFFERED_BYTES_MAXIMUM, `${before} bytes were asked for`)
  client.socket.resetAndDestroy()
  await until(() => source.closes > 0)
  t.equal(source.closes, 1)
  t.equal(server.activeRequests(), 0)
  t.strictSame(server.errors, [])
})

/** What the library does: it keeps what the kernel does not take, and tries to get rid of it when it is given more. */
class SlowKernel {
  held = 0
  most = 0
  writable: ((offset: number) => boolean) | undefined
  readonly #takesBytes: number

  constructor(takesBytes: number) {
    this.#takesBytes = takesBytes
  }

  write(piece: Buffer): boolean {
    this.held = Math.max(0, this.held - this.#takesBytes) + piece.length
    if (this.held <= this.#takesBytes) this.held = 0
    this.most = Math.max(this.most, this.held)
    return this.held === 0
  }

  onWritable(listener: (offset: number) => boolean): void {
    this.writable = listener
  }

  cork(work: () => void): void {
    work()
  }

  getWriteOffset(): number {
    return 0
  }
}

test('what the library holds for a slow reader does not grow', async (t) => {
  for (const takesBytes of [2000, 20_000]) {
    const kernel = new SlowKernel(takesBytes)
    const source = new Pieces(endless(Buffer.alloc(300_000, 'x')), true)
    const owner = { streamDone() {}, streamFailed() {}, report() {} }
    const stream = new ChunkedStream(kernel as unknown as HttpResponse, source, owner)
    stream.start()
    for (let events = 0; events < 10_000; events += 1) {
      if (events % 10 === 0) stream.retry()
      kernel.writable?.(0)
    }
    t.ok(kernel.most <= 64 * 1024, `${kernel.most} bytes`)
    t.ok(source.givenBytes > 10_000 * 1000, 'and what the kernel takes goes out')
    stream.abort()
    t.equal(source.closes, 1)
  }
})

test('a client that stops reading for too long is cut off', async (t) => {
  const source = new Pieces(endless(Buffer.alloc(100_000, 'x')), true)
  const server = await serve(t, () => ({ status: 200, headers: [], body: source }), { stallTimeoutMilliseconds: 300 })
  const client = openRaw(server.port)
  client.socket.pause()
  client.send(head('GET /a'))
  await until(() => source.closes > 0)
  t.equal(server.activeRequests(), 0)
  client.socket.destroy()
})

test('a source is not closed while it is at work', async (t) => {
  const order: string[] = []
  const pending: ((piece: Buffer) => void)[] = []
  const source: BodySource = {
    length: undefined,
    next: () => {
      order.push('next')
      return new Promise((resolve) => pending.push(resolve))
    },
    close: () => order.push('close'),
  }
  const server = await serve(t, () => ({ status: 200, headers: [], body: source }))
  const client = openRaw(server.port)
  client.send(head('GET /a'))
  await until(() => order.length > 0)
  client.socket.resetAndDestroy()
  await until(() => server.activeRequests() === 0)
  order.push('delivered')
  pending[0]?.(Buffer.alloc(10))
  await until(() => order.includes('close'))
  t.strictSame(order, ['next', 'delivered', 'close'])
})
