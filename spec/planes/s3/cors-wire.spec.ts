/** CORS on the wire: the configuration and preflights. */
import { rmSync } from 'node:fs'
import { DeleteBucketCorsCommand, GetBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startInThread, temporaryDirectory } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { elements, type WireAnswer } from '../../support/wire-client.ts'
import {
  APP,
  APP_RULE,
  OPEN_RULE,
  OPEN,
  asking,
  configuration,
  corsOf,
  granted,
  isDenied,
  makeCorsBuckets,
} from './cors-answers.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw, wire } = server
await makeCorsBuckets(server)

function preflight(target: string, headers: readonly HeaderLine[]): Promise<WireAnswer> {
  return raw('OPTIONS', target, { sign: false, headers })
}

test('a configuration is put, given back, replaced and removed', async (t) => {
  await raw('PUT', '/put-bucket')
  isError(t, await raw('GET', '/put-bucket?cors'), 'NoSuchCORSConfiguration', 'none')
  isDone(t, await raw('DELETE', '/put-bucket?cors'), 204, 'there was none')
  const put = await raw('PUT', '/put-bucket?cors', { body: configuration(APP_RULE) })
  isDone(t, put, 200, 'put')
  t.equal(put.body.length, 0)
  const got = await raw('GET', '/put-bucket?cors')
  isDone(t, got, 200, 'get')
  t.equal(got.headers['content-type'], 'application/xml')
  t.same(elements(got.text, 'AllowedOrigin'), [APP, 'https://*.app.example'])
  isDone(t, await raw('PUT', '/put-bucket?cors', { body: got.text }), 200, 'what was given back can be put')
  isDone(t, await raw('PUT', '/put-bucket?cors', { body: configuration(OPEN_RULE) }), 200, 'replaced')
  t.same(elements((await raw('GET', '/put-bucket?cors')).text, 'AllowedOrigin'), ['*'])
  isDone(t, await preflight('/put-bucket', asking('x', 'GET')), 200, 'it holds at once')
  isDone(t, await raw('DELETE', '/put-bucket?cors'), 204, 'removed')
  isError(t, await raw('GET', '/put-bucket?cors'), 'NoSuchCORSConfiguration', 'removed')
  isDenied(t, await preflight('/put-bucket', asking('x', 'GET')), 'removed')
  isDone(t, await raw('PUT', '/put-bucket?cors', { body: configuration(OPEN_RULE) }), 200, 'once more')
  isDone(t, await raw('DELETE', '/put-bucket'), 204, 'bucket')
  isDone(t, await raw('PUT', '/put-bucket'), 200, 'a bucket of the same name')
  isDenied(t, await preflight('/put-bucket', asking('x', 'GET')), 'is another bucket')
})

test('the SDK puts, gets and deletes it', async (t) => {
  const Bucket = 'sdk-bucket'
  await raw('PUT', `/${Bucket}`)
  const rule = {
    ID: 'r',
    AllowedOrigins: ['http://localhost:3000', '*'],
    AllowedMethods: ['PUT', 'GET'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag'],
    MaxAgeSeconds: 0,
  }
  const CORSConfiguration = { CORSRules: [rule, { AllowedOrigins: ['https://b'], AllowedMethods: ['HEAD'] }] }
  await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }))
  t.same((await s3.send(new GetBucketCorsCommand({ Bucket }))).CORSRules, CORSConfiguration.CORSRules)
  await s3.send(new DeleteBucketCorsCommand({ Bucket }))
  t.equal(await errorName(s3.send(new GetBucketCorsCommand({ Bucket }))), 'NoSuchCORSConfiguration')
})

test('configurations that are refused change nothing', async (t) => {
  const before = (await raw('GET', '/cors-bucket?cors')).text
  const refused = [
    ['MalformedXML', ''],
    ['MalformedXML', configuration()],
    ['MalformedXML', configuration('<AllowedMethod>GET</AllowedMethod>')],
    ['InvalidRequest', configuration('<AllowedOrigin>*</AllowedOrigin><AllowedMethod>PATCH</AllowedMethod>')],
    ['InvalidRequest', configuration(`<AllowedOrigin>h://a&#13;&#10;x: y</AllowedOrigin>${OPEN_RULE}`)],
    ['InvalidRequest', configuration(`${OPEN_RULE}<ExposeHeader>a&#10;set-cookie</ExposeHeader>`)],
    ['InvalidRequest', configuration(`${OPEN_RULE}<AllowedHeader>a&#13;b</AllowedHeader>`)],
    ['InvalidRequest', configuration(...Array.from({ length: 101 }, () => OPEN_RULE))],
    ['MaxMessageLengthExceeded', configuration(OPEN_RULE) + ' '.repeat(1024 ** 2)],
  ] as const
  for (const [code, body] of refused)
    isError(t, await raw('PUT', '/cors-bucket?cors', { body }), code, body.slice(0, 99))
  const headers: HeaderLine[] = [['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA==']]
  const body = configuration(OPEN_RULE)
  isError(t, await raw('PUT', '/cors-bucket?cors', { body, headers }), 'BadDigest', 'another body')
  isError(t, await raw('PUT', '/cors-bucket?cors', { body, sign: false }), 'AccessDenied', 'a stranger')
  t.equal((await raw('GET', '/cors-bucket?cors')).text, before)
  for (const method of ['GET', 'PUT', 'DELETE'])
    isError(t, await raw(method, '/no-such-bucket?cors', { body: '' }), 'NoSuchBucket', method)
  isError(t, await raw('GET', '/cors-bucket/k?cors'), 'MethodNotAllowed', 'an object has none')
})

test('preflights that a rule fits', async (t) => {
  const fitting: [headers: HeaderLine[], expected: Record<string, unknown>][] = [
    [asking(APP, 'PUT'), granted(APP)],
    [
      asking(APP, 'PUT', 'Content-Type,x-amz-date, X-Amz-Date'),
      { ...granted(APP), 'access-control-allow-headers': 'content-type, x-amz-date' },
    ],
    [asking('https://b.app.example', 'GET'), granted('https://b.app.example')],
    [asking('https://else.example', 'GET'), OPEN],
    [asking('null', 'GET'), OPEN],
  ]
  for (const [headers, expected] of fitting) {
    for (const target of ['/cors-bucket', '/cors-bucket/', '/cors-bucket/k', '/cors-bucket/missing/%00']) {
      const answer = await preflight(target, headers)
      isDone(t, answer, 200, `${target} ${headers.join(' ')}`)
      t.same(corsOf(answer), expected)
      t.equal(answer.body.length, 0)
      t.equal(answer.headers['content-length'], '0')
    }
  }
})

test('preflights that no rule fits', async (t) => {
  const strange: HeaderLine[][] = [
    asking('https://else.example', 'PUT'),
    asking('https://else.example', 'GET', 'x-amz-date'),
    asking(APP, 'DELETE'),
    asking(APP, 'get'),
    asking(APP, 'PUT', 'authorization'),
    asking(`${APP}.evil`, 'PUT'),
    asking('https://APP.example', 'PUT'),
    asking('null', 'PUT'),
    asking(`${APP}, ${APP}`, 'GET'),
    [['origin', APP], ...asking(APP, 'PUT')],
  ]
  for (const headers of strange) isDenied(t, await preflight('/cors-bucket/k', headers), headers.join(' '))
  for (const headers of [[], asking(APP, 'PUT').slice(0, 1), asking(APP, 'PUT').slice(1), asking('', 'PUT')]) {
    const answer = await preflight('/cors-bucket/k', headers)
    isError(t, answer, 'BadRequest', headers.join(' '))
    t.same(corsOf(answer), {})
  }
  isDenied(t, await preflight('/plain-bucket/k', asking(APP, 'GET')), 'nothing is allowed by default')
  isError(t, await preflight('/%zz', asking(APP, 'GET')), 'InvalidURI', 'no path')
  const service = await preflight('/', asking(APP, 'GET'))
  isError(t, service, 'AccessDenied', 'the service has no preflights')
  t.same(corsOf(service), {})
  isError(t, await raw('OPTIONS', '/', { headers: asking(APP, 'GET') }), 'MethodNotAllowed', 'nor has it for root')
})

/** Everything in an answer that could tell two buckets apart. */
function identifying(answer: WireAnswer, bucket: string): unknown {
  const { date: _date, 'x-amz-request-id': id, ...headers } = answer.headers
  const text = answer.text.replaceAll(bucket, '{bucket}').replaceAll(String(id), '{id}')
  return { status: answer.status, headers, text }
}

test('a bucket that does not exist is one without a configuration', async (t) => {
  const cases = [asking(APP, 'GET'), asking(APP, 'PUT', 'content-type'), [], asking('', 'GET')]
  for (const headers of cases) {
    for (const rest of ['', '/k', '?cors', '?versionId=%zz']) {
      const plain = await preflight(`/plain-bucket${rest}`, headers)
      const missing = await preflight(`/other-bucket${rest}`, headers)
      t.same(identifying(plain, 'plain-bucket'), identifying(missing, 'other-bucket'), `${rest} ${headers.join(' ')}`)
      t.ok(plain.status === 400 || plain.status === 403)
    }
  }
  for (const target of ['/Not-A-Bucket/k', `/${'b'.repeat(3000)}`, '/%00'])
    isDenied(t, await preflight(target, asking(APP, 'GET')), target.slice(0, 20))
  const virtual: HeaderLine[] = [['host', 'plain-bucket.example'], ...asking(APP, 'GET')]
  const answer = await wire.exchange('OPTIONS', '/k', virtual, Buffer.alloc(0))
  isDenied(t, answer, 'a host with the name of a bucket tells nothing either')
})

test('neither a query nor a signature changes a preflight', async (t) => {
  const headers = asking(APP, 'PUT', 'content-type')
  const expected = corsOf(await preflight('/cors-bucket/k', headers))
  const url = wire.presigned('PUT', '/cors-bucket/k')
  const stale = wire.presigned('PUT', '/cors-bucket/k', { now: 0 })
  const targets = [url, stale, url.replace(/Signature=.*/, 'Signature=0'), '/cors-bucket/k?acl&uploads&X-Amz-Date=%zz']
  for (const target of targets) {
    const answer = await preflight(target, headers)
    isDone(t, answer, 200, target)
    t.same(corsOf(answer), expected)
  }
  for (const sign of [{}, { secretKey: 'wrong' }, { accessKey: 'NOBODY' }, { now: 0 }]) {
    const answer = await raw('OPTIONS', '/cors-bucket/k', { sign, headers })
    isDone(t, answer, 200, `signed ${JSON.stringify(sign)}`)
    t.same(corsOf(answer), expected)
    isDenied(t, await raw('OPTIONS', '/plain-bucket/k', { sign, headers }), `denied ${JSON.stringify(sign)}`)
  }
  const put = await raw('PUT', url, { sign: false, headers: [['origin', APP]], body: 'by URL' })
  isDone(t, put, 200, 'the request that was asked for')
  t.same(corsOf(put), granted(APP))
})

test('a preflight has one record, a place in the line, and is counted', async (t) => {
  const outcomes: [target: string, method: string, result: string, status: number, api: string][] = [
    ['/cors-bucket/k', 'PUT', 'success', 200, 'PreflightObject'],
    ['/cors-bucket', 'GET', 'success', 200, 'PreflightBucket'],
    ['/plain-bucket/k', 'PUT', 'denied', 403, 'PreflightObject'],
    ['/no-such-bucket', '', 'failure', 400, 'PreflightBucket'],
  ]
  for (const [target, method, result, status, api] of outcomes) {
    for (const sign of [false, {}] as const) {
      const { headers } = await raw('OPTIONS', target, { sign, headers: asking(APP, method) })
      const id = headers['x-amz-request-id']
      const records = (await server.journal()).filter((entry) => entry.requestId === id)
      const resource = `bucket:${target.slice(1)}`
      const common = { principal: 'anonymous', credentialId: undefined, sourceAddress: '127.0.0.1', changes: [] }
      t.match(records, [{ ...common, operation: 's3:OPTIONS', resource, result, intent: undefined }])
      t.equal(records.length, 1)
      t.equal(records[0]?.details.get('api'), api)
      t.equal(records[0]?.details.get('status'), status)
      const finished = server.finished.find((request) => request.requestId === id)
      t.match(finished, { method: 'OPTIONS', status, operation: { name: api } })
    }
  }
  const narrow = await startInThread({ limits: { operationsMaximum: 1, queueMaximum: 1 } })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  await narrow.raw('PUT', '/narrow-bucket?cors', { body: configuration(APP_RULE) })
  t.equal(narrow.gate.enter(), 'entered')
  const ask = () => narrow.raw('OPTIONS', '/narrow-bucket/k', { sign: false, headers: asking(APP, 'PUT') })
  const both = [ask(), ask()]
  const refused = await Promise.race(both)
  isError(t, refused, 'SlowDown', 'one waits, the other is one too many')
  t.same(corsOf(refused), {})
  const denied = await narrow.raw('OPTIONS', '/narrow-bucket/k', { sign: false, headers: asking(APP, 'DELETE') })
  isError(t, denied, 'SlowDown', 'also one that no rule fits')
  const read = await narrow.raw('GET', '/narrow-bucket/k', { unsignedHeaders: [['origin', APP]] })
  isError(t, read, 'SlowDown', 'a read')
  t.same(corsOf(read), granted(APP))
  narrow.gate.leave()
  t.same((await Promise.all(both)).map((answer) => answer.status).toSorted(), [200, 503])
  t.equal(narrow.gate.active, 0)
})

test('after a restart, and without the projections, the answers are the same', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
  const told: unknown[] = []
  for (const round of ['new', 'restarted', 'replayed']) {
    const store = await startInThread({ dataDirectory })
    const send = store.raw
    if (round === 'new') {
      for (const bucket of ['kept-bucket', 'removed-bucket']) {
        isDone(t, await send('PUT', `/${bucket}`), 200, bucket)
        isDone(t, await send('PUT', `/${bucket}?cors`, { body: configuration(APP_RULE, OPEN_RULE) }), 200, bucket)
      }
      isDone(t, await send('DELETE', '/removed-bucket?cors'), 204, 'removed')
    }
    isError(t, await send('GET', '/removed-bucket?cors'), 'NoSuchCORSConfiguration', round)
    const ask = (bucket: string) => send('OPTIONS', `/${bucket}/k`, { sign: false, headers: asking(APP, 'PUT') })
    isDenied(t, await ask('removed-bucket'), round)
    const allowed = await ask('kept-bucket')
    t.same(corsOf(allowed), granted(APP), round)
    told.push((await send('GET', '/kept-bucket?cors')).text)
    await store.stop()
    if (round === 'restarted') rmSync(store.paths.projections, { recursive: true })
  }
  t.match(told[0], '<ID>app</ID>')
  t.same(told, [told[0], told[0], told[0]])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
