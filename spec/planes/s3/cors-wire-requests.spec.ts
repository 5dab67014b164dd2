/** CORS on the wire: the headers of requests that are no preflights. */
import tap, { test } from 'tap'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone } from '../../support/wire-assertions.ts'
import { firstElement, type RawRequest, type WireAnswer } from '../../support/wire-client.ts'
import { APP, OPEN, OPEN_RULE, configuration, corsOf, granted, makeCorsBuckets } from './cors-answers.ts'

const server = await startInThread({ inlineBytesMaximum: 1000 })
tap.teardown(() => server.stop())
const { raw, wire } = server
await makeCorsBuckets(server)

/** A signed request as a page of an origin sends it. */
function from(origin: string, method: string, target: string, options: RawRequest = {}): Promise<WireAnswer> {
  return raw(method, target, { ...options, unsignedHeaders: [['origin', origin], ...(options.unsignedHeaders ?? [])] })
}

function range(bytes: string): RawRequest {
  return { unsignedHeaders: [['range', `bytes=${bytes}`]] }
}

test('real requests have the headers of their rule on whatever the answer is', async (t) => {
  const large = sampleBytes(300_000)
  await raw('PUT', '/cors-bucket/large', { body: large })
  const answers: [status: number, answer: WireAnswer][] = [
    [200, await from(APP, 'PUT', '/cors-bucket/p', { body: 'small' })],
    [200, await from(APP, 'PUT', '/cors-bucket/p', { body: large })],
    [200, await from(APP, 'GET', '/cors-bucket/k')],
    [200, await from(APP, 'GET', '/cors-bucket/large')],
    [200, await from(APP, 'HEAD', '/cors-bucket/large')],
    [206, await from(APP, 'GET', '/cors-bucket/k', range('1-2'))],
    [206, await from(APP, 'GET', '/cors-bucket/large', range('70000-200000'))],
    [416, await from(APP, 'GET', '/cors-bucket/k', range('100-'))],
    [304, await from(APP, 'GET', '/cors-bucket/k', { unsignedHeaders: [['if-none-match', '*']] })],
    [412, await from(APP, 'GET', '/cors-bucket/k', { unsignedHeaders: [['if-match', '"x"']] })],
    [200, await from(APP, 'GET', '/cors-bucket?list-type=2')],
    [200, await from(APP, 'HEAD', '/cors-bucket')],
    [404, await from(APP, 'GET', '/cors-bucket/missing')],
    [404, await from(APP, 'HEAD', '/cors-bucket/missing')],
    [501, await from(APP, 'GET', '/cors-bucket?acl')],
    [405, await from(APP, 'POST', '/cors-bucket/k')],
    [400, await from(APP, 'PUT', '/cors-bucket/p', { headers: [['content-md5', 'x']] })],
    [403, await from(APP, 'GET', '/cors-bucket/k', { sign: false })],
    [403, await from(APP, 'GET', '/cors-bucket/k', { sign: { secretKey: 'wrong' } })],
    [403, await from(APP, 'PUT', '/cors-bucket/p', { sign: { now: 0 }, body: 'x' })],
    [400, await from(APP, 'GET', '/cors-bucket/k', { sign: false, headers: [['authorization', 'Basic eA==']] })],
    [200, await from(APP, 'GET', wire.presigned('GET', '/cors-bucket/k'), { sign: false })],
    [403, await from(APP, 'GET', wire.presigned('GET', '/cors-bucket/k', { now: 0 }), { sign: false })],
  ]
  for (const [status, answer] of answers) {
    t.equal(answer.status, status, answer.text.slice(0, 200))
    t.same(corsOf(answer), granted(APP), `${status}`)
    t.ok(answer.complete)
  }
  t.ok((await from(APP, 'GET', '/cors-bucket/large')).body.equals(large))
  t.same(corsOf(await from('https://c.app.example', 'PUT', '/cors-bucket/p')), granted('https://c.app.example'))
  t.same(corsOf(await from('https://else.example', 'GET', '/cors-bucket/k')), OPEN)
})

test('an upload in parts has them at every step', async (t) => {
  const path = '/cors-bucket/parts'
  const created = await from(APP, 'POST', `${path}?uploads`)
  isDone(t, created, 200, 'create')
  const id = firstElement(created.text, 'UploadId') ?? ''
  const part = await from(APP, 'PUT', `${path}?partNumber=1&uploadId=${id}`, { body: sampleBytes(5000) })
  isDone(t, part, 200, 'part')
  const list = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`
  const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
  const steps = [
    created,
    part,
    await from(APP, 'GET', `${path}?uploadId=${id}`),
    await from(APP, 'POST', `${path}?uploadId=${id}`, { body: '<CompleteMultipartUpload/>' }),
    await from(APP, 'POST', `${path}?uploadId=${id}`, { body }),
    await from(APP, 'GET', path),
    await from(APP, 'PUT', `${path}?partNumber=2&uploadId=${id}`, { body: 'late' }),
  ]
  t.same(
    steps.map((step) => step.status),
    [200, 200, 200, 400, 200, 200, 404],
  )
  for (const step of steps) t.same(corsOf(step), granted(APP))
})

test('real requests without a rule are served as ever, and have no such header', async (t) => {
  const without: [status: number, answer: WireAnswer][] = [
    [200, await raw('GET', '/cors-bucket/k')],
    [200, await from(APP, 'PUT', '/plain-bucket/k', { body: 'x' })],
    [200, await from(APP, 'GET', '/plain-bucket/k')],
    [403, await from(APP, 'GET', '/plain-bucket/k', { sign: false })],
    [404, await from(APP, 'GET', '/no-such-bucket/k')],
    [200, await from(APP, 'GET', '/')],
    [200, await from('https://else.example', 'PUT', '/cors-bucket/else', { body: 'x' })],
    [204, await from(APP, 'DELETE', '/cors-bucket/else')],
    [200, await from('', 'GET', '/cors-bucket/k')],
    [200, await from('a b', 'GET', '/cors-bucket/k')],
    [200, await raw('GET', '/cors-bucket/k', { unsignedHeaders: [APP, APP].map((text) => ['origin', text]) })],
    [400, await from(APP, 'GET', '/cors-bucket/%zz', { sign: false })],
  ]
  for (const [status, answer] of without) {
    t.equal(answer.status, status, answer.text.slice(0, 200))
    t.same(corsOf(answer), {})
  }
})

test('a request is judged by the configuration that it meets', async (t) => {
  await raw('PUT', '/meets-bucket')
  const body = configuration(`${OPEN_RULE}<AllowedMethod>DELETE</AllowedMethod><AllowedMethod>PUT</AllowedMethod>`)
  t.same(corsOf(await from(APP, 'PUT', '/meets-bucket?cors', { body })), {})
  const every = { ...OPEN, 'access-control-allow-methods': 'GET, DELETE, PUT' }
  t.same(corsOf(await from(APP, 'DELETE', '/meets-bucket?cors')), every)
  t.same(corsOf(await from(APP, 'DELETE', '/meets-bucket?cors')), {})
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
