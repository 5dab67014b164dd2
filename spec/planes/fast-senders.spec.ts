/** A sender on the same machine may be as fast as the thread that reads, and must not keep it from others. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import type { HttpRequest, HttpResponse } from '../../planes/http/exchange.ts'
import { IncomingBody, type Throttle } from '../../planes/http/requests/request-body.ts'
import { boundReceiveBuffers } from '../../planes/http/uws/receive-buffer.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { serve } from './http-server.ts'
import { freePort } from '../support/free-port.ts'
import type { Sending } from './sender-thread.ts'
import { filesIn } from './tls-client.ts'

const MEBIBYTE = 1024 ** 2
/** With a read of so many bytes the library reads again at once. */
const FULL_READ_BYTES = 512 * 1024
/** Node reads a socket so often in a turn, so much at a time; over TLS it hands over less at a time, and so all of it. */
const NODE_TURN_BYTES = 32 * 64 * 1024

/** Reads bodies, slower than they could come, and notes how much of them came in one turn of the event loop. */
class Reader {
  largestChunk = 0
  largestTurn = 0
  #turn = 0
  #reading = true

  constructor() {
    this.#countTurns()
  }

  readonly handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const hash = createHash('md5')
    await request.body.pipe((chunk) => {
      hash.update(chunk)
      this.largestChunk = Math.max(this.largestChunk, chunk.length)
      this.#turn += chunk.length
    })
    return { status: 200, headers: [] }
  }

  stop(): void {
    this.#reading = false
    this.#turnOver()
  }

  #turnOver(): void {
    this.largestTurn = Math.max(this.largestTurn, this.#turn)
    this.#turn = 0
  }

  #countTurns(): void {
    setImmediate(() => {
      this.#turnOver()
      if (this.#reading) this.#countTurns()
    })
  }
}

async function send(sending: Sending): Promise<void> {
  const sender = new Worker(new URL('./sender-thread.js', import.meta.url), { workerData: sending })
  const [code] = (await once(sender, 'exit')) as [number]
  if (code !== 0) throw new Error(`the sender ended with ${code}`)
}

for (const secure of [false, true]) {
  test(`one turn of the event loop reads little of one fast sender${secure ? ', over TLS' : ''}`, async (t) => {
    const reader = new Reader()
    const tls = secure ? filesIn(t.testdir(), selfSignedCertificate()) : undefined
    const { port } = await serve(t, reader.handle, { tls })
    await send({ port, secure, bytes: 128 * MEBIBYTE })
    reader.stop()
    t.ok(reader.largestChunk < FULL_READ_BYTES, `a chunk had ${reader.largestChunk} bytes`)
    const turnBytes = secure && HTTP_DRIVER === 'node' ? NODE_TURN_BYTES : FULL_READ_BYTES
    t.ok(reader.largestTurn <= turnBytes, `a turn had ${reader.largestTurn} bytes`)
  })
}

/** A sender whose bytes are there whenever its socket is read: kernels and other threads can be late, this one cannot. */
class FastSender implements Throttle {
  paused = false

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  cut(): void {}
}

test('many fast senders take turns: one turn of the event loop reads one of them', async (t) => {
  const chunk = Buffer.alloc(64 * 1024)
  const senders = Array.from({ length: 8 }, () => {
    const sender = new FastSender()
    const body = new IncomingBody(sender, 16 * MEBIBYTE)
    void body.pipe(() => undefined)
    return { sender, body, chunks: 0 }
  })
  const read = () => senders.filter(({ sender }) => !sender.paused)
  for (const { body } of senders) body.receive(chunk, false, false)
  t.same(read(), [], 'what brought a large chunk is not read before its turn')
  for (let turn = 0; turn < 3 * senders.length; turn += 1) {
    await nextTurn()
    t.equal(read().length, 1)
    for (const one of read()) {
      one.chunks += 1
      one.body.receive(chunk, false, false)
    }
  }
  t.ok(
    senders.every(({ chunks }) => chunks === 3),
    'each was read as often as the others',
  )
  for (const { body } of senders) body.receive(chunk, true, false)
})

test('a port that this process does not listen on is an error', async (t) => {
  const port = await freePort()
  t.throws(() => boundReceiveBuffers(port), { message: `No socket of this process listens on port ${port}` })
})
