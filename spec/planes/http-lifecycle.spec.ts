/**
 * Connections from their first answer to their end.
 * Proves: API-PRO-09.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import type { HttpResponse } from '../../planes/http/exchange.ts'
import { sharesPorts } from '../../planes/http/http-driver.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import { listen, serve } from './http-server.ts'
import { freePort } from '../support/free-port.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { signal, sleep, until } from '../support/waiting.ts'

const OK: HttpResponse = { status: 200, headers: [], body: 'done' }

test('a port that cannot be had is named with the reason', async (t) => {
  const alone = await serve(t, () => OK, { exclusive: true })
  const again = { host: '127.0.0.1', port: alone.port, handler: () => OK }
  const inUse = `Cannot listen on 127.0.0.1:${alone.port}: the port is in use`
  await t.rejects(listen({ ...again, exclusive: true }), { message: inUse })
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  await t.rejects(listen({ ...again, port }), { message: `Cannot listen on 127.0.0.1:${port}: the port is in use` })
  await t.rejects(listen({ ...again, host: '192.0.2.1', port: 0 }), { message: /^Cannot listen on 192\.0\.2\.1:0: .+/ })
})

test('threads share a port, take the bound on heads from the main thread, and end cleanly', async (t) => {
  const file = new URL('http-worker.js', import.meta.url)
  const port = await freePort()
  const start = async (name: string): Promise<Worker> => {
    const worker = new Worker(file, { workerData: { name, port } })
    t.teardown(() => worker.postMessage('close'))
    await once(worker, 'message')
    return worker
  }
  if (!sharesPorts(HTTP_DRIVER, process.versions.node)) {
    await start('first')
    await t.rejects(listen({ host: '127.0.0.1', port, handler: () => OK }), /the port is in use/, 'before Node 22.12')
    return
  }
  const workers = [await start('first'), await start('second')]
  const names = new Set<string>()
  for (let tries = 0; names.size < 2 && tries < 200; tries++) {
    const received = await openRaw(port)
      .send(head('GET /', `X-A: ${'a'.repeat(15_000)}`))
      .untilClosed()
    names.add(received.split('\r\n\r\n')[1] ?? received)
  }
  t.strictSame([...names].sort(), ['first', 'second'])
  for (const worker of workers) {
    worker.postMessage('close')
    t.strictSame(await once(worker, 'exit'), [0])
  }
  const refused = openRaw(port)
  await refused.closed
  t.equal(refused.failure, 'ECONNREFUSED')
})

test('closing lets requests under way end, and accepts no more', async (t) => {
  const released = signal()
  const bytes = sampleBytes(5_000_000)
  const server = await serve(t, async ({ path }) => {
    if (path === '/bytes') return { status: 200, headers: [], body: bytes }
    await released.given
    return OK
  })
  const [waiting, idle, reading] = [openRaw(server.port), openRaw(server.port), openRaw(server.port)]
  reading.socket.pause()
  waiting.send(head('GET /'))
  reading.send(head('GET /bytes'))
  await until(() => server.activeRequests() === 2)
  const closed = server.close(10_000)
  t.equal(server.close(0), closed, 'the second call joins the first')
  const refused = openRaw(server.port)
  await refused.closed
  t.equal(refused.failure, 'ECONNREFUSED')
  idle.send(head('GET /'))
  await until(() => server.activeRequests() === 3)
  released.give()
  t.match(await waiting.untilClosed(), /^HTTP\/1\.1 200 OK\r\n(?:[^]+\r\n)?Connection: close\r\n[^]*\r\n\r\ndone$/)
  t.match(await idle.untilClosed(), /Connection: close\r\n[^]*done$/, 'open connections are served to the end')
  t.equal(server.activeRequests(), 1)
  reading.socket.resume()
  await closed
  t.ok((await reading.untilClosed()).endsWith(bytes.toString('latin1')))
})

test('closing cuts off what does not end in time', async (t) => {
  let aborted = 0
  let closes = 0
  const body = { length: 10, next: () => new Promise<Buffer>(() => {}), close: () => closes++ }
  const server = await serve(t, (request) => {
    request.onAborted(() => {
      aborted += 1
    })
    return request.path === '/body' ? { status: 200, headers: [], body } : new Promise<HttpResponse>(() => {})
  })
  const clients = ['/', '/body'].map((path) => openRaw(server.port).send(head(`GET ${path}`)))
  await until(() => server.activeRequests() === 2)
  await server.close(30)
  await Promise.all(clients.map(({ closed }) => closed))
  t.equal(aborted, 2)
  t.equal(closes, 0, 'a source is not closed while it is at work')
})

test('S25 connections beyond the bound are closed, those within go on, and a free place is given again', async (t) => {
  const refused: string[] = []
  const listener = await serve(t, () => OK, {
    connectionsMaximum: 3,
    onConnectionRefused: (reason) => refused.push(reason),
  })
  const sockets = Array.from({ length: 10 }, () => connect(listener.port, '127.0.0.1'))
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  let closed = 0
  for (const socket of sockets) socket.on('error', () => undefined).on('close', () => (closed += 1))
  for (const socket of sockets) socket.resume()
  await until(() => closed === 7)
  t.equal(refused.length, 7, 'each is counted')
  const others = refused.filter((reason) => reason !== 'silent' && reason !== 'share')
  t.same(others, [], 'none had sent a request')
  const kept = sockets.filter((socket) => !socket.destroyed)
  const [talking, leaving] = kept
  if (talking === undefined || leaving === undefined) throw new Error('two are kept')
  talking.write(head('GET /'))
  t.match(String(await once(talking, 'data')), /^HTTP\/1\.1 200 OK/)
  leaving.destroy()
  const fetched = async () => (await fetch(`http://127.0.0.1:${listener.port}/`).catch(() => undefined))?.status
  let status: number | undefined
  while (status === undefined) status = await fetched()
  t.equal(status, 200)
})

test('a connection that finds every place taken by one that has sent a request is closed and counted', async (t) => {
  const refused: string[] = []
  const onConnectionRefused = (reason: string) => refused.push(reason)
  const listener = await serve(t, () => OK, { connectionsMaximum: 2, onConnectionRefused })
  const open = (localAddress: string) => connect({ port: listener.port, host: '127.0.0.1', localAddress })
  const sockets = ['127.0.0.2', '127.0.0.3'].map(open)
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  for (const socket of sockets) {
    socket.write(head('GET /'))
    t.match(await answer(socket), /^HTTP\/1\.1 200 OK/)
  }
  const late = open('127.0.0.4').on('error', () => undefined)
  await new Promise((closed) => late.once('close', closed).resume())
  t.same(refused, ['full'])
})

async function answer(socket: Socket): Promise<string> {
  return String(await once(socket, 'data'))
}

test('silent connections make room for others, first those of the address that has most', async (t) => {
  const listener = await serve(t, () => OK, { connectionsMaximum: 8 })
  const sockets: Socket[] = []
  const open = (localAddress: string): Socket => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined).resume()
    sockets.push(socket)
    return socket
  }
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  const [talking, silent] = [open('127.0.0.1'), open('127.0.0.1')]
  talking.write(head('GET /'))
  t.match(await answer(talking), /^HTTP\/1\.1 200 OK/)
  let closed = 0
  for (let count = 0; count < 50; count += 1) open('127.0.0.2').on('close', () => (closed += 1))
  await until(() => closed >= 44)
  const late = open('127.0.0.3')
  late.write(head('GET /'))
  t.match(await answer(late), /^HTTP\/1\.1 200 OK/, 'whoever comes now is let in')
  for (const socket of [talking, silent, late]) {
    socket.write(head('GET /'))
    t.match(await answer(socket), /^HTTP\/1\.1 200 OK/, 'and those of other addresses still are')
  }
})

const ANSWER = { status: 403, headers: [], body: 'refused early' } as const

test('an early answer arrives also when the client closes and its body comes with the head', async (t) => {
  for (const [what, handler] of [
    ['at once', () => ANSWER],
    ['in the next turn', () => Promise.resolve(ANSWER)],
    ['later', () => sleep(5).then(() => ANSWER)],
  ] as const) {
    const server = await serve(t, handler)
    for (const bytes of [1, 1000, 100_000, 1_000_000]) {
      const request = head('PUT /a', `Content-Length: ${bytes}`, 'Connection: close')
      const together = await openRaw(server.port)
        .send(request + 'x'.repeat(bytes))
        .untilClosed()
      t.match(together, /^HTTP\/1\.1 403 Forbidden\r\n[^]*refused early/, `${what}: ${bytes} bytes behind the head`)
      const apart = openRaw(server.port).send(request)
      await sleep(0)
      apart.send('x'.repeat(bytes))
      t.match(
        await apart.untilClosed(),
        /^HTTP\/1\.1 403 Forbidden\r\n[^]*refused early/,
        `${what}: ${bytes} bytes apart`,
      )
    }
    t.same(server.errors, [])
  }
})
