/**
 * What every request of the management plane has in common: ids, paths, queries, methods, and answers to HEAD.
 * Proves: API-OBJ-03, EVT-AUD-07, LIM-VAL-05.
 */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import tap, { test } from 'tap'
import { discardBody } from '../../../planes/exchange/exchange.ts'
import type { HttpRequest } from '../../../planes/http/exchange.ts'
import { bearsToken, isSameSecret } from '../../../planes/management/access/bearer-token.ts'
import { createManagementHandler, type ManagementOptions } from '../../../planes/management/management-handler.ts'
import { withoutBody } from '../../../planes/management/responses.ts'
import type { ManagementServices } from '../../../planes/management/services.ts'
import { findRoute } from '../../../planes/management/routing/router.ts'
import { bearer } from '../../support/api-client.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
await api.get('POST', '/buckets', { name: 'request-bucket' })

/** The parts of a path that have names, as they were sent. */
function parts(path: string): string[] {
  return Object.values(findRoute('GET', path).sent)
}

test('names in paths are split first and decoded then', async (t) => {
  t.same(parts('/api/v1/buckets/b%2Fc/quota'), ['b%2Fc'])
  t.same(parts('/api/v1/buckets/b/object/a//b/'), ['b', 'a//b/'])
  t.same(parts('/api/v1/buckets/b/object//'), ['b', '/'])
  t.same(parts('/api/v1/buckets/quota/quota'), ['quota'])
})

test('HEAD lets go of what its body would have been read from', async (t) => {
  let closed = 0
  const source = { length: 7, next: () => undefined, close: () => void (closed += 1) }
  t.match(withoutBody({ status: 200, headers: [], body: source }), { status: 200, contentLength: 7 })
  t.equal(closed, 1)
  discardBody({ status: 200, headers: [], body: 'text' })
  discardBody({ status: 200, headers: [], body: Buffer.from('bytes') })
  discardBody({ status: 204, headers: [] })
  await api.send('PUT', '/api/v1/buckets/request-bucket/object/large', { raw: Buffer.alloc(200_000, 'x') })
  const head = await api.send('HEAD', '/api/v1/buckets/request-bucket/object-content/large')
  t.equal(head.status, 200)
  t.equal(head.headers['content-length'], '200000')
})

test('a download counts as a request until its last byte has left', async (t) => {
  const bytes = 64 * 1024 ** 2
  await api.send('PUT', '/api/v1/buckets/request-bucket/object/huge', { raw: Buffer.alloc(bytes) })
  const headers = { authorization: bearer(SYSTEM_TOKEN) }
  const sent = get(`${server.apiEndpoint}/api/v1/buckets/request-bucket/object-content/huge`, { headers, agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  t.equal(server.apiGate.active, 1, 'the reader has taken nothing yet')
  let received = 0
  for await (const piece of response) received += (piece as Buffer).length
  t.equal(received, bytes)
  const cut = get(`${server.apiEndpoint}/api/v1/buckets/request-bucket/object-content/huge`, { headers, agent: false })
  const [begun] = (await once(cut, 'response')) as [IncomingMessage]
  begun.destroy()
  // The server hears of it in its own time, and never when it does not; the runner then ends the wait.
  while (server.apiGate.active > 0) await setTimeout(5)
  t.equal(server.apiGate.active, 0)
})

test('the log knows routes by their pattern, and no name of a bucket or key', async (t) => {
  await api.send('GET', '/api/v1/buckets/canary-bucket/object/canary-key?version_id=canary')
  t.match(server.exchanges.at(-1), { route: '/api/v1/buckets/{bucket}/object/{key}', method: 'GET', status: 404 })
  t.notMatch(JSON.stringify(server.exchanges), /canary/)
})

test('secrets are compared whatever their lengths', async (t) => {
  for (const [sent, expected, same] of [
    ['a', 'a', true],
    ['é\u0000', 'é\u0000', true],
    ['a'.repeat(100_000), 'a'.repeat(100_000), true],
    ['', 'a', false],
    ['a', 'aa', false],
    ['a', 'A', false],
    ['a'.repeat(100_000), 'a', false],
  ] as const) {
    t.equal(isSameSecret(sent, expected), same)
    t.equal(isSameSecret(expected, sent), same)
  }
  t.equal(bearsToken('Bearer ', ''), false, 'nothing is no token')
  t.equal(bearsToken(undefined, ''), false)
  t.equal(bearsToken('Bearer a', 'a'), true)
})

/** Of requests that need no other services, and that nothing authenticates. */
function handlerOf(
  services: Partial<ManagementServices>,
  options: Omit<ManagementOptions, 'services' | 'authenticator'>,
) {
  const some: Partial<ManagementOptions> = { ...options, services: services as ManagementServices }
  return createManagementHandler(some as ManagementOptions)
}

test('a scrape is logged as one: with the token, and with another', async (t) => {
  const observed: unknown[] = []
  const services: Partial<ManagementServices> = { metrics: () => [] }
  const handler = handlerOf(services, {
    gate: server.apiGate,
    scrapeToken: 'scraper',
    observe: ({ principal }) => observed.push(principal),
  })
  for (const token of ['scraper', 'other']) {
    const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined)
    const request: Partial<HttpRequest> = {
      method: 'GET',
      path: '/metrics',
      query: '',
      header,
      remoteAddress: '127.0.0.1',
    }
    await handler(request as HttpRequest)
  }
  t.same(observed, ['management:scrape-token', 'management:unauthenticated'])
})

test('a handler that is not there is a fault of the server', async (t) => {
  const observed: unknown[] = []
  const services: Partial<ManagementServices> = {
    ready: () => {
      throw new Error('canary')
    },
  }
  const handler = handlerOf(services, {
    gate: server.apiGate,
    scrapeToken: undefined,
    observe: ({ error }) => observed.push(error),
  })
  const request: Partial<HttpRequest> = {
    method: 'GET',
    path: '/ready',
    query: '',
    header: () => undefined,
    remoteAddress: '127.0.0.1',
  }
  const { status, body } = await handler(request as HttpRequest)
  t.equal(status, 500)
  t.notMatch(body, /canary/)
  t.match(observed, [{ message: 'canary' }])
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
