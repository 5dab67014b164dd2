/** A sender on the same machine may be as fast as the thread that reads, and must not keep it from others. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import type { HttpRequest, HttpResponse } from '../../planes/http/exchange.ts'
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
  readonly #started = new Set<HttpRequest>()
  readonly #uploads: number
  #turn = 0
  #reading = true

  constructor(uploads: number) {
    this.#uploads = uploads
    this.#countTurns()
  }

  readonly handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const hash = createHash('md5')
    await request.body.pipe((chunk) => {
      hash.update(chunk)
      this.largestChunk = Math.max(this.largestChunk, chunk.length)
      this.#started.add(request)
      // The first chunks of all may come in one turn.
      if (this.#started.size === this.#uploads) this.#turn += chunk.length
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
    const reader = new Reader(1)
    const tls = secure ? filesIn(t.testdir(), selfSignedCertificate()) : undefined
    const { port } = await serve(t, reader.handle, { tls })
    await send({ port, secure, connections: 1, bytes: 128 * MEBIBYTE })
    reader.stop()
    t.ok(reader.largestChunk < FULL_READ_BYTES, `a chunk had ${reader.largestChunk} bytes`)
    const turnBytes = secure && HTTP_DRIVER === 'node' ? NODE_TURN_BYTES : FULL_READ_BYTES
    t.ok(reader.largestTurn <= turnBytes, `a turn had ${reader.largestTurn} bytes`)
  })
}

test('many fast senders take turns: they bring hardly more in a turn than one', async (t) => {
  const connections = 8
  const reader = new Reader(connections)
  const { port } = await serve(t, reader.handle)
  await send({ port, secure: false, connections, bytes: 16 * MEBIBYTE })
  reader.stop()
  t.ok(reader.largestTurn < 2 * FULL_READ_BYTES, `a turn had ${reader.largestTurn} bytes`)
})

test('a port that this process does not listen on is an error', async (t) => {
  const port = await freePort()
  t.throws(() => boundReceiveBuffers(port), { message: `No socket of this process listens on port ${port}` })
})
