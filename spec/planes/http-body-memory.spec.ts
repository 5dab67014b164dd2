/** How much of a body may wait in memory. A sender cannot be made to outrun the machine, so the chunks are made here. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'tap'
import { ClientGoneError } from '../../planes/http/exchange.ts'
import {
  IncomingBody,
  QUEUED_BYTES_MAXIMUM,
  type Throttle,
  WAITING_BYTES_MAXIMUM,
} from '../../planes/http/requests/request-body.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { signal } from '../support/waiting.ts'

const CHUNK_BYTES = 512 * 1024
const CHUNKS_TO_OVERFLOW = WAITING_BYTES_MAXIMUM / CHUNK_BYTES + 2

class Socket implements Throttle {
  paused = false
  cuts = 0

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  cut(): void {
    this.cuts += 1
  }
}

/** A chunk as the library gives it: its memory is gone when the callback returns. */
function receive(body: IncomingBody, bytes: Buffer, last = false): void {
  const chunk = new Uint8Array(bytes).buffer
  body.receive(Buffer.from(chunk), last, false)
  structuredClone(chunk, { transfer: [chunk] })
}

function chunks(count: number): Buffer[] {
  const all = sampleBytes(count * CHUNK_BYTES)
  return Array.from({ length: count }, (_, index) => all.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES))
}

/** Lets promises that are resolved be noticed, and then one turn of the event loop pass. */
async function turn(): Promise<void> {
  await Promise.resolve()
  await Promise.resolve()
  await nextTurn()
}

test('what waits too long for a sink is taken at once, in order', async (t) => {
  const socket = new Socket()
  const sent = chunks(CHUNKS_TO_OVERFLOW + 3)
  const body = new IncomingBody(socket, sent.length * CHUNK_BYTES)
  const settled = signal()
  const taken: Buffer[] = []
  const by: string[] = []
  const piped = body.pipe(
    (chunk) => {
      taken.push(Buffer.from(chunk))
      by.push('sink')
      return settled.given
    },
    (chunk) => {
      taken.push(Buffer.from(chunk))
      by.push('now')
    },
  )
  for (const [index, bytes] of sent.entries()) receive(body, bytes, index === sent.length - 1)
  t.equal(by.filter((name) => name === 'sink').length, 1, 'the sink is called once while at work')
  t.equal(taken.length, CHUNKS_TO_OVERFLOW, 'all that waited, and the chunk that was too much')
  t.ok(socket.paused)
  settled.give()
  await piped
  t.ok(Buffer.concat(taken).equals(Buffer.concat(sent)))
  t.equal(socket.cuts, 0)
})

test('a chunk that cannot be taken ends the reader, after the sink', async (t) => {
  const body = new IncomingBody(new Socket(), undefined)
  const settled = signal()
  const order: string[] = []
  const piped = body
    .pipe(
      () => settled.given.then(() => void order.push('sink settled')),
      () => {
        throw new Error('disk full')
      },
    )
    .catch((error: Error) => order.push(error.message))
  for (const bytes of chunks(CHUNKS_TO_OVERFLOW)) receive(body, bytes)
  receive(body, Buffer.from('dropped'), true)
  settled.give()
  await piped
  t.strictSame(order, ['sink settled', 'disk full'])
})

test('a body that nobody takes is bounded by a pause, and then by the end of the connection', async (t) => {
  const socket = new Socket()
  const body = new IncomingBody(socket, 1_000_000_000)
  const [bytes = Buffer.alloc(0)] = chunks(1)
  receive(body, bytes.subarray(0, QUEUED_BYTES_MAXIMUM))
  t.notOk(socket.paused)
  receive(body, bytes.subarray(0, 1))
  t.ok(socket.paused)
  for (let count = 0; count < 255; count++) receive(body, bytes)
  t.equal(socket.cuts, 0)
  receive(body, bytes)
  t.equal(socket.cuts, 1)
  body.abandon()
  await t.rejects(body.readAll(1_000_000_000), ClientGoneError)
})

test('long uploads run again one at a time, and only when little waits', async (t) => {
  const [first = Buffer.alloc(0)] = chunks(1)
  const uploads = Array.from({ length: 3 }, () => {
    const socket = new Socket()
    const body = new IncomingBody(socket, 1_000_000_000)
    const sinks: (() => void)[] = []
    const piped = body.pipe(() => new Promise((resolve) => sinks.push(resolve)))
    piped.catch(() => {})
    receive(body, first)
    return { socket, body, sinks }
  })
  const [one, two, three] = uploads
  if (one === undefined || two === undefined || three === undefined) return
  const paused = (): boolean[] => uploads.map(({ socket }) => socket.paused)
  t.strictSame(paused(), [true, true, true])
  for (const { sinks } of uploads) sinks[0]?.()
  await turn()
  t.strictSame(paused(), [false, true, true])
  // The first brings a burst: the second has to wait until its sinks have taken it.
  for (let count = 0; count < 20; count++) receive(one.body, first)
  await turn()
  await turn()
  t.strictSame(paused(), [true, true, true])
  one.body.abandon()
  await turn()
  t.strictSame(paused(), [true, false, true], 'what was waiting is dropped with its client')
  three.body.abandon()
  three.socket.pause()
  await turn()
  t.strictSame(paused(), [true, false, true], 'who is gone gets no turn')
  two.body.abandon()
})

test('a sender that is ahead waits for its turn after each chunk', async (t) => {
  const [first = Buffer.alloc(0)] = chunks(1)
  const uploads = Array.from({ length: 2 }, () => {
    const socket = new Socket()
    const body = new IncomingBody(socket, 2 * CHUNK_BYTES + 1)
    return { socket, body, piped: body.pipe(() => {}) }
  })
  const paused = (): boolean[] => uploads.map(({ socket }) => socket.paused)
  for (const { body } of uploads) receive(body, first.subarray(0, 1))
  t.strictSame(paused(), [false, false], 'a slow sender never waits')
  for (const { body } of uploads) receive(body, first)
  t.strictSame(paused(), [true, true])
  await turn()
  t.strictSame(paused(), [false, true])
  await turn()
  t.strictSame(paused(), [false, false])
  for (const { body } of uploads) receive(body, first, true)
  t.strictSame(paused(), [false, false], 'nothing comes after the end')
  await Promise.all(uploads.map(({ piped }) => piped))
})
