/**
 * Clients that are slow or say nothing at all, hundreds of them, while everybody else goes on: each is cut off in the
 * end, and none keeps anybody else from an answer (S25).
 */
import { basic } from '../../support/api-client.ts'
import { head } from '../../support/raw/request-text.ts'
import { openRaw, type RawClient } from '../../support/raw/raw-client.ts'
import { atMost, sleep } from '../../support/waiting.ts'
import { BUCKET, LARGE_BYTES } from './arena.ts'
import type { Assault } from './assault.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { signed } from './signed-requests.ts'

/** The library closes what is idle after ten to fourteen seconds, the server what is stalled after five. */
const END_MILLISECONDS = 60_000
const UNREAD_MILLISECONDS = 20_000
const DRIBBLE_MILLISECONDS = 1000
const IDLE = 150
const SLOW = 20
const READERS = 4
const FLOOD = 400

interface Client {
  readonly name: string
  readonly port: number
  /** Sent at once. */
  readonly first: string
  /** Sent again and again. */
  readonly piece?: string
}

/** Resolves when all of them are gone; the rest of the attack goes on meanwhile. */
export async function attackSlowly(assault: Assault): Promise<void> {
  const { ledger } = assault
  const clients = [...clientsOfS3(assault), ...clientsOfApi(assault)]
  ledger.tried('slow clients', clients.length)
  const readers = Array.from({ length: READERS }, () => readNothing(assault))
  await Promise.all([...clients.map((client) => stay(assault, client)), ...readers])
}

/** Many connections at once, each with one request. */
export async function floodConnections({ arena, ledger }: Assault): Promise<void> {
  for (const [plane, port] of [
    ['S3', arena.server.port],
    ['management', arena.apiPort],
  ] as const) {
    ledger.tried('connections at once', FLOOD)
    const clients = Array.from({ length: FLOOD }, () => openRaw(port).send(head('GET /flood/key')))
    for (const client of clients) {
      ledger.requests += 1
      ledger.connections += 1
      const received = (await atMost(END_MILLISECONDS, client.until(/\r\n\r\n/))) ?? ''
      if (!/^HTTP\/1\.1 40[34] /.test(received)) ledger.fault('wrong', `flood of ${plane}`, received.slice(0, 100))
      client.socket.destroy()
    }
  }
}

function times(count: number, client: Client): Client[] {
  return Array.from({ length: count }, (_, index) => ({ ...client, name: `${client.name} ${index + 1}` }))
}

function headsOf(plane: string, port: number): Client[] {
  return [
    ...times(IDLE, { name: `${plane} / nothing`, port, first: '' }),
    ...times(SLOW, { name: `${plane} / request line, bit by bit`, port, first: 'GET /', piece: 'a' }),
    ...times(SLOW, { name: `${plane} / header, bit by bit`, port, first: 'GET / HTTP/1.1\r\nHost: ', piece: 'a' }),
    ...times(SLOW, { name: `${plane} / headers, one by one`, port, first: 'GET / HTTP/1.1\r\n', piece: 'X-A: a\r\n' }),
    ...times(SLOW, { name: `${plane} / idle after an answer`, port, first: head('GET /slow/key') }),
  ]
}

function clientsOfS3({ arena }: Assault): Client[] {
  const { port } = arena.server
  const path = `/${BUCKET}/never-whole`
  const put = signed(arena, { name: 'slow', method: 'PUT', path, payloadHash: 'UNSIGNED-PAYLOAD' })
  const cors = signed(arena, { ...put, path: `/${BUCKET}`, query: [['cors', '']], payloadHash: 'UNSIGNED-PAYLOAD' })
  const begun = (length: number, { target, headers } = put): string =>
    `${requestBytes('PUT', target, [...headers, ['content-length', String(length)]], '')}begun`
  return [
    ...headsOf('S3', port),
    ...times(SLOW, { name: 'S3 / small body that stops', port, first: begun(1000) }),
    ...times(SLOW, { name: 'S3 / large body that stops', port, first: begun(10_000_000) }),
    ...times(SLOW, { name: 'S3 / document that stops', port, first: begun(1000, cors) }),
    ...times(SLOW, { name: 'S3 / body that nobody reads', port, first: head('PUT /a/b', 'Content-Length: 5') }),
  ]
}

function clientsOfApi({ arena }: Assault): Client[] {
  const port = arena.apiPort
  const { rootAccessKey, rootSecretKey } = arena.known
  const authorization = `Authorization: ${basic(rootAccessKey, rootSecretKey)}`
  const object = head('PUT /api/v1/buckets/attack-victim/object/never-whole', authorization, 'Content-Length: 1000')
  const document = head('POST /api/v1/buckets', authorization, 'Content-Length: 1000')
  return [
    ...headsOf('management', port),
    ...times(SLOW, { name: 'management / object that stops', port, first: `${object}begun` }),
    ...times(SLOW, { name: 'management / document that stops', port, first: `${document}{"name"` }),
  ]
}

async function stay({ ledger }: Assault, { name, port, first, piece }: Client): Promise<void> {
  ledger.connections += 1
  const client = openRaw(port)
  if (first !== '') client.send(first)
  const timer = setInterval(() => {
    if (piece !== undefined && client.socket.writable) client.send(piece)
  }, DRIBBLE_MILLISECONDS)
  const closed = await closedInTime(client)
  clearInterval(timer)
  client.socket.destroy()
  if (!closed) ledger.fault('wrong', `slow client / ${name}`, 'is not cut off', first)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(client.received)?.[1]
  if (status !== undefined && (status === '500' || status.startsWith('2'))) {
    ledger.fault('wrong', `slow client / ${name}`, `status ${status}`, first)
  }
}

function closedInTime(client: RawClient): Promise<boolean> {
  return atMost(
    END_MILLISECONDS,
    client.closed.then(() => true),
  ).then((closed) => closed === true)
}

/** Asks for a large object and does not read it. */
async function readNothing({ arena, ledger }: Assault): Promise<void> {
  const get = signed(arena, { name: 'slow', method: 'GET', path: `/${BUCKET}/large` })
  const client = openRaw(arena.server.port)
  client.socket.pause()
  client.send(requestBytes('GET', get.target, get.headers, ''))
  await sleep(UNREAD_MILLISECONDS)
  client.socket.resume()
  const closed = await closedInTime(client)
  client.socket.destroy()
  const { length } = client.received
  if (closed && length < LARGE_BYTES) return
  ledger.fault('wrong', 'slow client / reader that does not read', `got ${length} bytes, ${closed ? '' : 'not '}closed`)
}
