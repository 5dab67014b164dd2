/** The driver in memory answers as the one over sockets: both are before the same handler, and are sent the same requests. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { listen } from '../../../planes/http/listen.ts'
import type { ListenOptions } from '../../../planes/http/listener.ts'
import { ApiClient, bearer } from '../../support/api-client.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { Random } from '../../support/random.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { realGround } from '../../support/server-ground.ts'
import { WireClient, type WireAnswer } from '../../support/wire-client.ts'
import { MemoryNetwork } from './memory-network.ts'
import { worldClients, worldManagementClient } from './world-clients.ts'

type Sent = readonly [method: string, target: string, body?: Buffer | string, headers?: readonly HeaderLine[]]

const LARGE = sampleBytes(300_000, 1)
const DIGEST = createHash('md5').update('other').digest('base64')

/** Each can be sent twice, and then is answered the same. */
const REQUESTS: readonly Sent[] = [
  ['PUT', '/bucket'],
  ['PUT', '/bucket/small', 'small', [['x-amz-meta-note', 'ü, and more']]],
  ['PUT', '/bucket/large', LARGE],
  ['PUT', '/bucket/empty', ''],
  ['PUT', '/bucket/wrong', 'not so', [['content-md5', DIGEST]]],
  ['GET', '/bucket/small'],
  ['GET', '/bucket/large'],
  ['GET', '/bucket/large', '', [['range', 'bytes=100-65635']]],
  ['GET', '/bucket/large', '', [['range', 'bytes=900000-']]],
  ['GET', '/bucket/empty'],
  ['HEAD', '/bucket/large'],
  ['HEAD', '/bucket/missing'],
  ['GET', '/bucket/missing'],
  ['GET', '/bucket/small', '', [['if-none-match', '*']]],
  ['GET', '/bucket?list-type=2&max-keys=2'],
  ['GET', '/bucket?versions'],
  ['GET', '/'],
  ['GET', '/nowhere?uploads'],
  ['DELETE', '/bucket/nothing'],
  ['POST', '/bucket?delete', '<Delete><Object><Key>nothing</Key></Object></Delete>'],
  ['POST', '/bucket?delete', 'not a document'],
  ['POST', '/bucket/small'],
  ['GET', '/bucket/a%zz'],
]

const API_REQUESTS: readonly Sent[] = [
  ['GET', '/api/v1/buckets'],
  ['GET', '/api/v1/nowhere'],
  ['POST', '/api/v1/buckets', '{"name":'],
  ['GET', '/api/v1/buckets/bucket'],
]

/** Headers that each connection, or each answer, has of its own. */
const OWN = ['date', 'connection', 'keep-alive', 'x-amz-request-id', 'x-request-id', 'x-amz-id-2', 'transfer-encoding']

function comparable({ status, headers, body, complete }: WireAnswer) {
  const named = Object.entries(headers as IncomingHttpHeaders).filter(([name]) => !OWN.includes(name))
  const text = body.toString('latin1').replace(/<(RequestId|HostId)>[^<]*|"request_id":"[^"]*"/g, '')
  return { status, headers: Object.fromEntries(named.toSorted()), complete, body: text }
}

test('both drivers answer the same to the same requests', async (t) => {
  const network = new MemoryNetwork(new Random(7))
  const real = realGround()
  let port = 1
  const ground = {
    ...real,
    listen: async (options: Omit<ListenOptions, 'driver'>) => {
      network.listen(options, port)
      port += 1
      return listen({ driver: 'node', ...options })
    },
  }
  const server = await startManaged({ ground })
  t.teardown(() => server.stop())
  const memory = worldClients(network, 1)
  // The host of both is the same, so that signatures are.
  for (const [method, target, body = '', headers = []] of REQUESTS) {
    const options = { body, headers }
    const overSocket = comparable(await server.raw(method, target, options))
    t.same(comparable(await memory.raw(method, target, options)), overSocket, `${method} ${target}`)
  }
  const signedIn = ApiClient.over(worldManagementClient(network, 2), bearer(SYSTEM_TOKEN))
  for (const [method, target, raw = ''] of API_REQUESTS) {
    const [one, other] = [await server.api.send(method, target, { raw }), await signedIn.send(method, target, { raw })]
    const [expected, found] = [one, other].map((answer) => comparable({ ...answer, complete: true }))
    t.same(found, expected, `${method} ${target}`)
  }
  const unsigned = new WireClient({ endpoint: server.endpoint, accessKey: '', secretKey: '' })
  t.teardown(() => unsigned.close())
  const headless: readonly HeaderLine[] = [
    ['host', 'a'],
    ['content-length', '1'],
    ['transfer-encoding', 'chunked'],
  ]
  const refused = await memory.wire.exchange('GET', '/bucket', headless, Buffer.alloc(0))
  t.equal(refused.status, 400, 'a head that two readers may read differently reaches no handler')
})

test('a client that reads nothing more is cut off, and one that left is noticed', async (t) => {
  const network = new MemoryNetwork(new Random(7))
  const real = realGround()
  let port = 1
  const ground = {
    ...real,
    listen: async (options: Omit<ListenOptions, 'driver'>) => {
      network.listen({ ...options, stallTimeoutMilliseconds: 40 }, port)
      port += 1
      return real.listen(options)
    },
  }
  const server = await startManaged({ ground })
  t.teardown(() => server.stop())
  const memory = worldClients(network, 1)
  await memory.raw('PUT', '/bucket')
  t.equal((await memory.raw('PUT', '/bucket/large', { body: LARGE })).status, 200)
  network.next = { readTurns: undefined }
  const stalled = await memory.raw('GET', '/bucket/large')
  t.equal(stalled.status, 200)
  t.equal(stalled.complete, false)
  network.next = { cut: { share: 0.5, turns: 0 } }
  await t.rejects(memory.raw('PUT', '/bucket/half', { body: LARGE }), { name: 'NoAnswerError' })
  t.equal((await memory.raw('GET', '/bucket/half')).status, 404)
  // The place of the last answer goes back in a turn of its own.
  while (server.gate.active > 0) await new Promise(setImmediate)
  t.equal(server.gate.queued, 0, 'no place is kept')
  t.same(server.failures, [])
})
