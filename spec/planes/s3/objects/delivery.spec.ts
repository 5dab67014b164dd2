/** What a listing and a stored header may say to a client. */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { STORED_HEADERS } from '../../../../planes/s3/request/metadata.ts'
import { write } from '../../../support/commands.ts'
import { listPage, PREFIX_MARK } from '../../../support/model/list-model.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { type WireAnswer } from '../../../support/wire-client.ts'
import { createBucket, put, remove, setVersioning } from '../../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server

const HTML = '<script>alert(1)</script>'
/** Characters that no header value may hold, as they are in a query. */
const CONTROLS = ['%0D%0A', '%0A', '%0D', '%00', '%01', '%08', '%0B', '%1F', '%7F', '%C2%80', '%C2%85', '%C2%9F']

await createBucket(server, 'delivery')
await setVersioning(server, 'delivery', 'enabled')

function isSafe(answer: WireAnswer): boolean {
  return answer.headers['x-content-type-options'] === 'nosniff'
}

test('S20: no answer about an object lets its type be guessed', async (t) => {
  const version = await put(server, 'delivery/page', HTML, [['content-type', 'text/html']])
  const bare = await put(server, 'delivery/bare', HTML)
  await put(server, 'delivery/large', sampleBytes(200_000))
  await put(server, 'delivery/empty', '')
  const etag = String((await raw('HEAD', '/delivery/page')).headers.etag)
  const reads: [name: string, target: string, status: number, headers?: HeaderLine[]][] = [
    ['small', '/delivery/page', 200],
    ['without a type', `/delivery/bare?versionId=${bare}`, 200],
    ['large', '/delivery/large', 200],
    ['empty', '/delivery/empty', 200],
    ['a version', `/delivery/page?versionId=${version}`, 200],
    ['a range', '/delivery/large', 206, [['range', 'bytes=5-9']]],
    ['a part', '/delivery/page?partNumber=1', 206],
    ['unchanged', '/delivery/page', 304, [['if-none-match', etag]]],
    ['with overrides', '/delivery/page?response-content-type=text%2Fhtml', 200],
  ]
  for (const [name, target, status, headers = []] of reads) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await raw(method, target, { headers })
      t.equal(answer.status, status, `${method} ${name}`)
      t.ok(isSafe(answer), `${method} ${name}: nosniff`)
    }
  }
  const url = wire.presigned('GET', '/delivery/page')
  t.ok(isSafe(await raw('GET', url, { sign: false })), 'a link')
})

test('S20: nothing that is stored or asked for takes nosniff away', async (t) => {
  const headers: HeaderLine[] = [['x-amz-meta-x-content-type-options', 'sniff']]
  await put(server, 'delivery/stored', HTML, headers)
  const answer = await raw('GET', '/delivery/stored?response-x-content-type-options=sniff')
  t.equal(answer.headers['x-content-type-options'], 'nosniff')
  t.equal(answer.headers['x-amz-meta-x-content-type-options'], 'sniff', 'metadata stays in its own names')
  const named = await raw('PUT', '/delivery/named', { body: 'x', headers: [['x-content-type-options', 'sniff']] })
  isDone(t, named, 200, 'a header that is not stored')
  t.equal((await raw('GET', '/delivery/named')).headers['x-content-type-options'], 'nosniff')
})

test('an error that names what was asked for is XML, and no page', async (t) => {
  await remove(server, 'delivery/gone')
  for (const target of [
    '/delivery/%3Cscript%3E',
    '/%3Cscript%3E/k',
    '/delivery/gone',
    '/delivery/page?versionId=%3Cb%3E',
  ]) {
    const answer = await raw('GET', target)
    t.equal(answer.headers['content-type'], 'application/xml', target)
    t.notOk(answer.text.includes('<script>'), target)
    t.ok(isSafe(answer), target)
  }
})

test('S22: an override with a control character is refused, and so is one that nobody signed', async (t) => {
  for (const name of STORED_HEADERS.keys()) {
    for (const control of CONTROLS) {
      for (const value of [`a${control}b`, `a${control}Set-Cookie:%20b=c`, control]) {
        const target = `/delivery/page?response-${name}=${value}`
        const answer = await raw('GET', target)
        if (answer.status !== 400) t.fail(`${target}: ${answer.status}`)
        if (answer.headers['set-cookie'] !== undefined) t.fail(`${target} set a cookie`)
      }
    }
    isDone(t, await raw('GET', `/delivery/page?response-${name}=plain`), 200, name)
    isError(
      t,
      await raw('GET', `/delivery/page?response-${name}=x`, { sign: false }),
      'AccessDenied',
      `${name} unsigned`,
    )
    const url = wire.presigned('GET', '/delivery/page')
    const added = await raw('GET', `${url}&response-${name}=x`, { sign: false })
    isError(t, added, 'SignatureDoesNotMatch', `${name} added to a link`)
  }
  const url = wire.presigned('GET', '/delivery/page', { query: [['response-content-type', 'a\r\nset-cookie: b=c']] })
  isError(t, await raw('GET', url, { sign: false }), 'InvalidArgument', 'a link that was made with one')
})

test('S22: what a write says in headers or in its link holds no control character', async (t) => {
  for (const name of STORED_HEADERS.keys()) {
    for (const value of ['a\u0080b', 'a\u009fb']) {
      isError(t, await raw('PUT', '/delivery/k', { headers: [[name, value]] }), 'InvalidArgument', name)
    }
  }
  for (const control of CONTROLS) {
    const value = decodeURIComponent(`a${control}b`)
    for (const name of ['x-amz-meta-a', 'X-Amz-Meta-B']) {
      const url = wire.presigned('PUT', '/delivery/k', { query: [[name, value]] })
      isError(t, await raw('PUT', url, { sign: false, body: 'x' }), 'InvalidArgument', `${name} ${control}`)
    }
    const copy = wire.presigned('PUT', '/delivery/k', {
      headers: [['x-amz-copy-source', 'delivery/page']],
      query: [
        ['x-amz-metadata-directive', 'REPLACE'],
        ['x-amz-meta-a', value],
      ],
    })
    const headers: HeaderLine[] = [['x-amz-copy-source', 'delivery/page']]
    isError(t, await raw('PUT', copy, { sign: false, headers }), 'InvalidArgument', `copy ${control}`)
    const name = `x-amz-meta-a${decodeURIComponent(control)}b`
    const named = wire.presigned('PUT', '/delivery/k', { query: [[name, 'v']] })
    isError(t, await raw('PUT', named, { sign: false, body: 'x' }), 'InvalidArgument', `a name with ${control}`)
  }
  isError(t, await raw('GET', '/delivery/k'), 'NoSuchKey', 'nothing was written')
})

test('S22: what is in the journal all the same does not come out as a header of its own', async (t) => {
  const stored = [
    { headers: ['content-type', 'text/plain\r\nset-cookie: a=b'], metadata: [] },
    { headers: ['content-disposition', 'x\u0000y'], metadata: [] },
    { headers: [], metadata: ['a', 'x\r\nset-cookie: a=b'] },
    { headers: [], metadata: ['a: x\r\nset-cookie', 'a=b'] },
  ]
  for (const [index, described] of stored.entries()) {
    const key = `forged-${index}`
    await server.store.client.execute({ ...write('delivery', key, Buffer.from('bytes')), ...described })
    for (const method of ['GET', 'HEAD']) {
      const answer = await raw(method, `/delivery/${key}`)
      t.equal(answer.headers['set-cookie'], undefined, `${method} ${key}`)
      t.equal(answer.status, 200, `${method} ${key}: the object can still be read`)
      t.notMatch(answer.headers['content-disposition'], /x/)
      if (method === 'GET') t.equal(answer.text, 'bytes')
    }
  }
})

test('a prefix comes once over all pages, also when its keys change in between', async (t) => {
  await createBucket(server, 'moving-bucket')
  for (const key of ['a/1', 'a/2', 'b/1', 'c']) await put(server, `moving-bucket/${key}`, '')
  const first = await listPage(server, 'moving-bucket', { delimiter: '/', maxKeys: 1 })
  t.same(first.entries, [`a/${PREFIX_MARK}`])
  await raw('PUT', '/moving-bucket/a%2F3')
  await raw('DELETE', '/moving-bucket/b/1')
  const rest = await listPage(server, 'moving-bucket', { delimiter: '/', token: first.next })
  t.same(rest.entries, ['c'])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
