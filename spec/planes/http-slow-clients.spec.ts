/**
 * Clients that are silent for longer than the library's own patience of about twelve seconds. All of them wait at the
 * same time, so that the file takes little longer than one of them.
 */
import { type Test, test } from 'tap'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../planes/http/exchange.ts'
import type { HttpListener } from '../../planes/http/listener.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { sleep, until } from '../support/waiting.ts'

const SILENCE_MILLISECONDS = 14_500

const BYTES = sampleBytes(24_000_000)

const verdict = (body: Buffer): HttpResponse => ({
  status: 200,
  headers: [],
  body: BYTES.subarray(0, body.length).equals(body) ? `same ${body.length}` : 'differs',
})

const HANDLERS: Record<string, (request: HttpRequest) => HttpResponse | Promise<HttpResponse>> = {
  '/read': async ({ body }) => verdict(await body.readAll(BYTES.length)),
  '/read-late': async ({ body }) => {
    await sleep(SILENCE_MILLISECONDS)
    return verdict(await body.readAll(BYTES.length))
  },
  '/slow-sink': async ({ body }) => {
    let first = true
    const pieces: Buffer[] = []
    await body.pipe(async (chunk) => {
      pieces.push(Buffer.from(chunk))
      if (first) await sleep(SILENCE_MILLISECONDS)
      first = false
    })
    return verdict(Buffer.concat(pieces))
  },
  '/late': async () => {
    await sleep(SILENCE_MILLISECONDS)
    return { status: 200, headers: [], body: 'late' }
  },
  '/download': () => ({ status: 200, headers: [], body: BYTES }),
  '/slow-source': () => {
    let pieces = 0
    return {
      status: 200,
      headers: [],
      body: {
        length: 20,
        next: async () => {
          if (pieces++ > 0) await sleep(SILENCE_MILLISECONDS)
          return BYTES.subarray(0, 10)
        },
        close: () => {},
      },
    }
  },
}

/** A listener whose guard looks at its exchanges when told to, and never by the clock. */
async function serveWatched(t: Test, handler: HttpHandler): Promise<{ server: HttpListener; look: () => void }> {
  const original = globalThis.setInterval
  const looks: (() => void)[] = []
  globalThis.setInterval = ((callback: () => void) => {
    looks.push(callback)
    return original(() => {}, 1_000_000)
  }) as typeof setInterval
  try {
    return { server: await serve(t, handler), look: () => looks[0]?.() }
  } finally {
    globalThis.setInterval = original
  }
}

// Comes first: the library goes wrong here only in a thread where no socket was ever paused.
test('a look at an upload does not make the library deaf', async (t) => {
  const { server, look } = await serveWatched(t, async ({ body }) => verdict(await body.readAll(BYTES.length)))
  const client = openRaw(server.port)
  client.send(head('PUT /', `Content-Length: ${BYTES.length}`))
  for (let start = 0; start < BYTES.length; start += 4_000_000) {
    await client.push(BYTES.subarray(start, start + 4_000_000))
    look()
  }
  t.match(await client.until(/same|differs/), /same/)
  client.socket.destroy()
})

test('silence shorter than the stall timeout ends nothing', async (t) => {
  const server = await serve(t, (request) => HANDLERS[request.path]?.(request) ?? { status: 404, headers: [] })
  const uploaded = async (path: string, length: number, before: number): Promise<string> => {
    const client = openRaw(server.port)
    client.send(head(`PUT ${path}`, `Content-Length: ${length}`))
    await client.push(BYTES.subarray(0, before))
    if (before < length) {
      await sleep(SILENCE_MILLISECONDS)
      await client.push(BYTES.subarray(before, length))
    }
    const received = await client.until(/same|differs/)
    client.socket.destroy()
    return received.split('\r\n\r\n')[1] ?? client.failure ?? received
  }
  const dribbled = async (): Promise<string> => {
    const client = openRaw(server.port)
    client.send(head('PUT /read', 'Content-Length: 30'))
    for (let index = 0; index < 30; index++) {
      await client.push(BYTES.subarray(index, index + 1))
      await sleep(SILENCE_MILLISECONDS / 30)
    }
    return (await client.until(/same|differs/)).split('\r\n\r\n')[1] ?? ''
  }
  const downloaded = async (path: string, silence: number): Promise<string> => {
    const client = openRaw(server.port)
    client.socket.pause()
    client.send(head(`GET ${path}`, 'Connection: close'))
    await sleep(silence)
    client.socket.resume()
    return (await client.untilClosed()).split('\r\n\r\n').slice(1).join('\r\n\r\n')
  }
  const unheard = async (): Promise<string> =>
    openRaw(server.port).send('GET /late HTTP/1.1\r\nA: \0\r\n').untilClosed()
  const [upload, dribble, late, sink, download, source, response, malformed] = await Promise.all([
    uploaded('/read', 1000, 500),
    dribbled(),
    uploaded('/read-late', BYTES.length, BYTES.length),
    uploaded('/slow-sink', 5_000_000, 5_000_000),
    downloaded('/download', SILENCE_MILLISECONDS),
    downloaded('/slow-source', 0),
    downloaded('/late', 0),
    unheard(),
  ])
  t.equal(upload, 'same 1000', 'an upload that pauses')
  t.equal(dribble, 'same 30', 'an upload of two bytes a second')
  t.equal(late, `same ${BYTES.length}`, 'a handler that waits before it reads')
  t.equal(sink, 'same 5000000', 'a sink that takes its time')
  t.ok(download === BYTES.toString('latin1'), 'a download that pauses')
  t.equal(source.length, 20, 'a source that takes its time')
  t.equal(response, 'late', 'a handler that takes its time')
  if (HTTP_DRIVER === 'uws') t.equal(malformed, '', 'a head that the library cannot read is dropped without an answer')
  else t.match(malformed, /^HTTP\/1\.1 400 /, 'a head that Node cannot read is refused')
  t.strictSame(server.errors, [])
})

test('silence beyond the stall timeout ends the exchange', async (t) => {
  let aborted = 0
  const options = { stallTimeoutMilliseconds: 200 }
  const server = await serve(
    t,
    (request) => {
      request.onAborted(() => {
        aborted += 1
      })
      return HANDLERS[request.path]?.(request) ?? { status: 404, headers: [] }
    },
    options,
  )
  const uploading = openRaw(server.port).send(`${head('PUT /read', 'Content-Length: 10')}abc`)
  const unread = openRaw(server.port).send(head('GET /download'))
  unread.socket.pause()
  t.equal(await uploading.untilClosed(), '')
  await until(() => aborted === 2)
  unread.socket.resume()
  const received = await unread.untilClosed()
  t.ok(received.length > 0 && received.length < BYTES.length, 'the download was cut short')
  t.equal(server.activeRequests(), 0)
})

test('a reader that is slow but steady outlives the stall timeout many times over', async (t) => {
  const options = { stallTimeoutMilliseconds: 400 }
  const server = await serve(t, () => ({ status: 200, headers: [], body: BYTES }), options)
  const client = openRaw(server.port)
  client.send(head('GET /', 'Connection: close'))
  let reads = 0
  client.socket.on('data', () => {
    if (++reads % 40 !== 0) return
    client.socket.pause()
    setTimeout(() => client.socket.resume(), 150)
  })
  t.ok((await client.untilClosed()).endsWith(BYTES.toString('latin1')))
})

test('a look at a stalled download does not make it miss that the reader is back', async (t) => {
  const { server, look } = await serveWatched(t, () => ({ status: 200, headers: [], body: BYTES }))
  const client = openRaw(server.port)
  client.socket.pause()
  client.send(head('GET /', 'Connection: close'))
  await until(() => server.activeRequests() > 0)
  look()
  look()
  client.socket.resume()
  t.ok((await client.untilClosed()).endsWith(BYTES.toString('latin1')), 'though nobody looks again')
})
