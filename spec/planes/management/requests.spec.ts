/** What every request of the management plane has in common: ids, paths, queries, methods, and answers to HEAD. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import tap, { test } from 'tap'
import type { HttpRequest } from '../../../planes/http/exchange.ts'
import { bearsToken, isSameSecret } from '../../../planes/management/bearer-token.ts'
import { createManagementHandler } from '../../../planes/management/management-handler.ts'
import { discardBody, withoutBody } from '../../../planes/management/responses.ts'
import { routeTable } from '../../../planes/management/route-table.ts'
import { findRoute } from '../../../planes/management/router.ts'
import { bearer } from '../../support/api-client.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
const nobody = api.as(undefined)
await api.get('POST', '/buckets', { name: 'request-bucket' })

test('request ids', async (t) => {
  for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
    const { requestId } = await nobody.send('GET', '/health', { headers: [['x-request-id', id]] })
    t.equal(requestId, id)
    t.equal(server.exchanges.at(-1)?.requestId, id)
  }
  const seen = new Set<string>()
  for (const id of ['', 'x'.repeat(129), 'a b', 'a,b', '{}', '../x', '<a>']) {
    const { requestId, json } = await nobody.send('GET', '/none', { headers: [['x-request-id', id]] })
    t.match(requestId, /^[0-9a-f-]{36}$/, JSON.stringify(id))
    t.match(json, { error: { request_id: requestId } })
    seen.add(requestId)
  }
  t.equal(seen.size, 7, 'each is a new one')
  const sent = await api.send('GET', '/api/v1/buckets', { headers: [['x-request-id', 'told-by-the-client']] })
  t.equal(sent.status, 200)
  const records = (await server.journal()).filter(({ requestId }) => requestId === 'told-by-the-client')
  t.equal(records.length, 1, 'the audit record has the same')
})

test('whatever is not in the table does not exist', async (t) => {
  const paths = [
    '/',
    '/health/',
    '/Health',
    '//health',
    '/%68ealth',
    '/constructor',
    '/api/v1',
    '/api/v1/',
    '/api/v2/buckets',
  ]
  paths.push(
    '/api/v1/buckets/',
    '/api/v1//buckets',
    '/api/v1/buckets//quota',
    '/api/v1/buckets/b/object/',
    '/api/v1/shares//url',
  )
  paths.push('/api/v1/__proto__', '/api/v1/toString', '/api/v1/policies/p/bindings', '/api/v1/policies/p/bindings/a/b')
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, code } = await api.send(method, path)
      t.equal(status, 404, `${method} ${path}`)
      t.equal(code, 'NOT_FOUND')
      t.equal(server.exchanges.at(-1)?.route, undefined)
    }
  }
})

test('the methods of a path', async (t) => {
  for (const path of new Set(routeTable.map((route) => route.path))) {
    const methods = routeTable.filter((route) => route.path === path).map(({ method }) => method as string)
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const target = path.replaceAll(/\{\w+\}/g, 'x')
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { code, headers, status } = await nobody.send(method, target)
      const isAllowed = allowed.includes(method)
      t.equal(status === 405, !isAllowed, `${method} ${path}`)
      if (isAllowed || method === 'HEAD') continue
      t.equal(code, 'METHOD_NOT_ALLOWED')
      t.same(String(headers.allow).split(', ').toSorted(), allowed.toSorted())
    }
  }
})

/** The parts of a path that have names, as they were sent. */
function parts(path: string): string[] {
  return [...findRoute('GET', path).sent.values()]
}

test('names in paths are split first and decoded then', async (t) => {
  t.same(parts('/api/v1/buckets/b%2Fc/quota'), ['b%2Fc'])
  t.same(parts('/api/v1/buckets/b/object/a//b/'), ['b', 'a//b/'])
  t.same(parts('/api/v1/buckets/b/object//'), ['b', '/'])
  t.same(parts('/api/v1/buckets/quota/quota'), ['quota'])
  const put = await api.send('PUT', '/api/v1/buckets/request-bucket/object/a%2F%2e%2e/%C3%A9%00', { raw: 'x' })
  t.match(put.json, { key: 'a/../é\u0000' })
  for (const path of [
    '/api/v1/buckets/%zz',
    '/api/v1/buckets/%ff',
    '/api/v1/buckets/b/object/a%',
    '/api/v1/policies/%C3',
  ]) {
    const { code, message } = await api.send('GET', path)
    t.equal(code, 'INVALID_REQUEST', path)
    t.equal(message, 'path: cannot be decoded')
    t.equal((await nobody.send('GET', path)).status, 401, 'who may not ask is not told')
  }
})

test('queries hold what the route takes, once', async (t) => {
  const objects = '/api/v1/buckets/request-bucket/objects'
  const wrong: [query: string, message: string][] = [
    ['surprise=1', 'surprise: there is no such parameter'],
    ['Limit=1', 'Limit: there is no such parameter'],
    ['limit=1&limit=1', 'limit: is there twice'],
    ['limit=1&%6Cimit=2', 'limit: is there twice'],
    ['__proto__=1', '__proto__: there is no such parameter'],
    ['constructor', 'constructor: there is no such parameter'],
    ['=1', ': there is no such parameter'],
    ['prefix=%zz', 'query: cannot be decoded'],
    ['prefix=%ff', 'query: cannot be decoded'],
    ['limit=0', 'limit: must be a whole number from 1 to 1000'],
    ['limit=1001', 'limit: must be a whole number from 1 to 1000'],
    ['limit=', 'limit: must be a whole number from 1 to 1000'],
    ['limit=1e2', 'limit: must be a whole number from 1 to 1000'],
    [`${'q'.repeat(5000)}=1`, `${'q'.repeat(64)}: there is no such parameter`],
  ]
  for (const [query, message] of wrong) {
    const answer = await api.send('GET', `${objects}?${query}`)
    t.equal(answer.status, 400, query.slice(0, 40))
    t.equal(answer.message, message)
  }
  for (const query of ['', '&', '&&limit=1&', 'prefix=', 'prefix', 'prefix=a+b%20%C3%A9&limit=1']) {
    t.equal((await api.send('GET', `${objects}?${query}`)).status, 200, query)
  }
  t.equal((await nobody.send('GET', '/health?x=1')).code, 'INVALID_REQUEST')
  const changed = await api.send('DELETE', '/api/v1/buckets/request-bucket?force=true')
  t.equal(changed.message, 'force: there is no such parameter')
  t.ok(server.services.catalog.bucket('request-bucket'))
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

test('no answer is kept by a cache or taken for another kind', async (t) => {
  for (const [method, path] of [
    ['GET', '/health'],
    ['GET', '/none'],
    ['GET', '/api/v1/buckets'],
    ['GET', '/api/v1/buckets/request-bucket/object-content/large'],
    ['DELETE', '/api/v1/buckets/request-bucket/object/large'],
    ['DELETE', '/api/v1/buckets/request-bucket'],
  ] as const) {
    const { headers } = await api.send(method, path)
    t.equal(headers['cache-control'], 'no-store', path)
    t.equal(headers['x-content-type-options'], 'nosniff', path)
    t.notOk('server' in headers || 'x-powered-by' in headers || 'access-control-allow-origin' in headers)
  }
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

test('a handler that is not there is a fault of the server', async (t) => {
  const observed: unknown[] = []
  const handler = createManagementHandler({
    services: {
      ready: () => {
        throw new Error('canary')
      },
    } as never,
    authenticator: undefined as never,
    gate: server.apiGate,
    scrapeToken: undefined,
    observe: ({ error }) => observed.push(error),
  })
  const request: Partial<HttpRequest> = { method: 'GET', path: '/ready', query: '', header: () => undefined }
  const { status, body } = await handler(request as HttpRequest)
  t.equal(status, 500)
  t.notMatch(body, /canary/)
  t.match(observed, [{ message: 'canary' }])
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})
