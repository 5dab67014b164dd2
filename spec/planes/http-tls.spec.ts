import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import { connect, type SecureVersion } from 'node:tls'
import { test } from 'tap'
import type { HttpRequest, HttpResponse } from '../../planes/http/exchange.ts'
import { TlsFilesError } from '../../planes/http/tls-files.ts'
import { listen, serve } from './http-server.ts'
import { head } from '../support/raw/request-text.ts'
import { openRaw, type RawClient } from '../support/raw/raw-client.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { signal, until } from '../support/waiting.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { filesIn, install, openTls, shownBy } from './tls-client.ts'

const OK: HttpResponse = { status: 200, headers: [], body: 'done' }
const [first, second] = [selfSignedCertificate({ name: 'first' }), selfSignedCertificate({ name: 'second' })]

test('bodies go both ways, and a request says how it came', async (t) => {
  const seen: boolean[] = []
  const bytes = sampleBytes(3_000_000)
  const handler = async ({ body, secure }: HttpRequest) => {
    seen.push(secure)
    return { ...OK, body: await body.readAll(bytes.length) }
  }
  const server = await serve(t, handler, { tls: filesIn(t.testdir(), first) })
  const received = await new Promise<Buffer>((resolve, reject) => {
    const to = { port: server.port, host: '127.0.0.1', method: 'PUT', ca: first.certificate, agent: false }
    const outgoing = https.request(to, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve(Buffer.concat(pieces)))
    })
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
  t.ok(received.equals(bytes))
  const plain = await serve(t, handler)
  await openRaw(plain.port).send(head('GET /', 'Connection: close')).untilClosed()
  t.strictSame(seen, [true, false])
  const mistaken = openRaw(server.port).send(head('GET /'))
  t.equal(await mistaken.untilClosed(), '', 'plain HTTP to a listener with TLS is cut')
})

test('TLS 1.2 takes only forward secrecy with authenticated encryption', async (t) => {
  const { port } = await serve(t, () => OK, { tls: filesIn(t.testdir(), selfSignedCertificate({ curve: 'rsa' })) })
  /** The cipher agreed on with a client that offers `ciphers`, or the reason that there is none. */
  const agreed = async (ciphers: string, version: SecureVersion): Promise<string> => {
    const to = { port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: version, maxVersion: version, ciphers }
    const socket = connect(to)
    t.teardown(() => socket.destroy())
    return once(socket, 'secureConnect').then(
      () => socket.getCipher().name,
      (error: Error & { code?: string }) => error.code ?? error.message,
    )
  }
  const taken = ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305']
  for (const name of taken) t.equal(await agreed(name, 'TLSv1.2'), name)
  const refused = ['AES128-SHA', 'AES256-SHA', 'AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'ECDHE-RSA-AES128-SHA']
  for (const name of refused)
    t.match(await agreed(name, 'TLSv1.2'), /HANDSHAKE_FAILURE|ECONNRESET/, `${name} is refused`)
  t.match(await agreed('TLS_AES_128_GCM_SHA256', 'TLSv1.3'), 'TLS_AES_128_GCM_SHA256')
})

test('files that cannot be used are refused with the file and the reason', async (t) => {
  const directory = t.testdir()
  const files = filesIn(directory, first)
  const { certificateFile, keyFile } = files
  const encrypted = createPrivateKey(first.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'p',
  })
  const exotic = selfSignedCertificate({ curve: 'secp256k1' })
  const half = first.certificate.slice(0, 200)
  const cases: readonly [name: string, certificate: string | undefined, key: string | undefined, reason: string][] = [
    ['no certificate file', undefined, first.key, `${certificateFile}: the file cannot be read: ENOENT`],
    ['no key file', first.certificate, undefined, `${keyFile}: the file cannot be read: ENOENT`],
    ['an empty file', '', first.key, `${certificateFile}: there is no certificate in the PEM form in it`],
    ['the two exchanged', first.key, first.certificate, `${certificateFile}: there is no certificate in the PEM form`],
    ['half a certificate', half, first.key, `${certificateFile}: certificate 1 of 1 cannot be used: `],
    ['half a chain', first.certificate + half, first.key, `${certificateFile}: certificate 2 of 2 cannot be used: `],
    ['a key that is none', first.certificate, 'none', `${keyFile}: the private key cannot be used: `],
    ['a key with a passphrase', first.certificate, String(encrypted), `${keyFile}: the private key has a passphrase`],
    [
      'the key of another',
      first.certificate,
      second.key,
      `${keyFile}: the key is not that of the first certificate in`,
    ],
    [
      'the wrong order',
      second.certificate + first.certificate,
      first.key,
      `${keyFile}: the key is not that of the first`,
    ],
    ['a curve that nobody uses', exotic.certificate, exotic.key, `${certificateFile} and ${keyFile}: the TLS library`],
  ]
  for (const [name, certificate, key, reason] of cases) {
    for (const [file, text] of [
      [certificateFile, certificate],
      [keyFile, key],
    ] as const) {
      if (text === undefined) rmSync(file)
      else writeFileSync(file, text)
    }
    const refused: unknown = await listen({ host: '127.0.0.1', port: 0, handler: () => OK, tls: files }).then(
      () => undefined,
      (error: unknown) => error,
    )
    t.ok(refused instanceof TlsFilesError, name)
    const { message } = refused as Error
    t.equal(message.slice(0, reason.length), reason, name)
    t.notOk(message.includes('PRIVATE KEY'), 'nothing of the key is shown')
  }
})

test('after a reload new connections get the new certificate, and those under way go on', async (t) => {
  const bytes = sampleBytes(20_000_000)
  const released = signal()
  const files = filesIn(t.testdir(), first)
  const server = await serve(
    t,
    async ({ method, body, remoteAddress }) => {
      if (method === 'GET') return { ...OK, body: remoteAddress }
      const received = await body.readAll(bytes.length)
      await released.given
      return { ...OK, body: received }
    },
    { tls: files, exclusive: true },
  )
  t.equal(server.reloadTls(), false, 'the files hold what is served already')
  const connections: RawClient[] = []
  for (const [name, pair] of [
    ['first', first],
    ['second', second],
    ['first', first],
    ['second', second],
  ] as const) {
    install(files, pair)
    t.equal(server.reloadTls(), connections.length > 0)
    const { client, shown } = await openTls(server.port)
    t.equal(shown, name)
    client.send(head('PUT /', `Content-Length: ${bytes.length}`))
    await client.push(bytes.subarray(0, 10_000_000))
    connections.push(client)
  }
  await until(() => server.activeRequests() === 4)
  await Promise.all(connections.map((client) => client.push(bytes.subarray(10_000_000))))
  released.give()
  for (const client of connections) {
    await until(() => client.received.length > bytes.length)
    t.ok(client.received.endsWith(bytes.toString('latin1')), 'both ways across reloads')
    client.received = ''
    t.match(await client.send(head('GET /')).until(/1$/), /127\.0\.0\.1$/, 'and again on the same connection')
  }
})

test('a reload of files that cannot be used changes nothing', async (t) => {
  const files = filesIn(t.testdir(), first)
  const server = await serve(t, () => OK, { tls: files })
  install(files, { certificate: second.certificate, key: first.key })
  t.throws(() => server.reloadTls(), { name: 'TlsFilesError', message: /the key is not that of/ })
  t.equal(await shownBy(server.port), 'first')
  install(files, selfSignedCertificate({ curve: 'secp256k1' }))
  t.throws(() => server.reloadTls(), { name: 'TlsFilesError', message: /the TLS library/ })
  t.equal(await shownBy(server.port), 'first')
  install(files, second)
  t.equal(server.reloadTls(), true)
  t.equal(await shownBy(server.port), 'second')
  rmSync(files.keyFile)
  t.throws(() => server.reloadTls(), { message: /ENOENT/ })
  t.equal(await shownBy(server.port), 'second')
  const plain = await serve(t, () => OK)
  t.equal(plain.reloadTls(), false)
})

test('no connection is lost to reloads, however many come', async (t) => {
  const files = filesIn(t.testdir(), first)
  const server = await serve(t, () => OK, { tls: files })
  const failures: unknown[] = []
  const shown = new Set<string>()
  const load = { reloads: 0 }
  const connecting = async (): Promise<void> => {
    while (load.reloads < 40) {
      try {
        const connection = await openTls(server.port)
        shown.add(connection.shown)
        const answer = await connection.client.send(head('GET /', 'Connection: close')).untilClosed()
        if (!answer.endsWith('done')) failures.push(answer)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  const clients = Array.from({ length: 8 }, connecting)
  for (; load.reloads < 40; load.reloads += 1) {
    install(files, load.reloads % 2 === 0 ? second : first)
    t.equal(server.reloadTls(), true)
    await shownBy(server.port)
  }
  await Promise.all(clients)
  t.strictSame(failures, [])
  t.strictSame([...shown].sort(), ['first', 'second'])
})

test('closing ends the connections of every certificate, in the same order as without', async (t) => {
  const files = filesIn(t.testdir(), first)
  const released = signal()
  const server = await serve(t, async () => released.given.then(() => OK), { tls: files })
  const before = await openTls(server.port)
  const idleBefore = await openTls(server.port)
  install(files, second)
  server.reloadTls()
  const after = await openTls(server.port)
  const idleAfter = await openTls(server.port)
  for (const { client } of [before, after]) client.send(head('GET /'))
  await until(() => server.activeRequests() === 2)
  const closed = server.close(10_000)
  install(files, first)
  t.equal(server.reloadTls(), false, 'nothing is reloaded for a listener that closes')
  await t.rejects(openTls(server.port), { code: 'ECONNREFUSED' })
  released.give()
  for (const { client } of [before, after]) {
    t.match(await client.untilClosed(), /Connection: close\r\n[^]*done$/, 'requests under way end')
  }
  await closed
  for (const { client } of [idleBefore, idleAfter]) t.equal(await client.untilClosed(), '')
})

test('closing ends also the handshakes that have not had their turn', async (t) => {
  const state = { closed: false, late: 0 }
  const handler = (): HttpResponse => {
    if (state.closed) state.late += 1
    return OK
  }
  const server = await serve(t, handler, { tls: filesIn(t.testdir(), first) })
  const begun = signal()
  const gone = Array.from({ length: 60 }, () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.on('secureConnect', () => {
      begun.give()
      socket.write(head('GET /'))
    })
    // What was answered before is read, or the end would not be seen.
    socket.on('error', () => {}).resume()
    return new Promise((resolve) => {
      socket.on('close', resolve)
    })
  })
  await begun.given
  await server.close(0)
  state.closed = true
  await Promise.all(gone)
  t.equal(state.late, 0, 'nobody is served by a listener that is closed')
})

test('S25 connections beyond the bound are closed before the handshake', async (t) => {
  const server = await serve(t, () => OK, { tls: filesIn(t.testdir(), first), connectionsMaximum: 2 })
  const kept = [await openTls(server.port), await openTls(server.port)]
  const talk = async (): Promise<void> => {
    for (const { client } of kept) {
      client.received = ''
      client.send(head('GET /'))
      await until(() => client.received.includes('done'))
    }
  }
  // Those that have sent a head keep their places.
  await talk()
  for (let turn = 0; turn < 20; turn += 1) await t.rejects(openTls(server.port))
  await talk()
  t.pass('those within go on')
})

test('an answer before the end of a long upload does not spoil the rest of the connection', async (t) => {
  const server = await serve(t, ({ path }) => ({ ...OK, body: `answer to ${path}\n` }), {
    tls: filesIn(t.testdir(), first),
  })
  const body = sampleBytes(1_000_000)
  const clients = await Promise.all(Array.from({ length: 4 }, async () => (await openTls(server.port)).client))
  for (let turn = 0; turn < 10; turn += 1) {
    const sendTo = async (client: RawClient): Promise<void> => {
      client.received = ''
      client.send(head(`PUT /${turn}`, `Content-Length: ${body.length}`))
      await client.push(body)
      await client.until(/answer to .*\n/)
    }
    await Promise.all(clients.map(sendTo))
    for (const { received } of clients) t.ok(received.endsWith(`answer to /${turn}\n`))
  }
})

test('a reader that is slow but steady is not taken for one that has gone', async (t) => {
  const bytes = sampleBytes(24_000_000)
  const server = await serve(t, () => ({ status: 200, headers: [], body: bytes }), {
    tls: filesIn(t.testdir(), first),
    stallTimeoutMilliseconds: 400,
  })
  const { client } = await openTls(server.port)
  client.send(head('GET /', 'Connection: close'))
  let reads = 0
  client.socket.on('data', () => {
    if (++reads % 160 !== 0) return
    client.socket.pause()
    setTimeout(() => client.socket.resume(), 150)
  })
  t.ok((await client.untilClosed()).endsWith(bytes.toString('latin1')))
})
