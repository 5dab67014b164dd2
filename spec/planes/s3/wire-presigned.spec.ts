import { hash } from 'node:crypto'
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement, type PresignRequest, type WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw, wire } = server
const DAY_MILLISECONDS = 86_400_000

await raw('PUT', '/signed-bucket')
await raw('PUT', '/signed-bucket/k', { body: 'bytes' })
await raw('PUT', '/signed-bucket/other', { body: 'other bytes' })

/** Sends a request that has its signature in the query, if anywhere. */
function send(method: string, target: string, body = ''): Promise<WireAnswer> {
  return raw(method, target, { sign: false, body })
}

function get(options: PresignRequest): Promise<WireAnswer> {
  return send('GET', wire.presigned('GET', '/signed-bucket/k', options))
}

test('put, get, head and delete by URL', async (t) => {
  const path = '/signed-bucket/pre signed+ü'
  isDone(t, await send('PUT', wire.presigned('PUT', path), 'presigned bytes'), 200, 'put')
  const got = await send('GET', wire.presigned('GET', path))
  isDone(t, got, 200, 'get')
  t.equal(got.text, 'presigned bytes')
  const head = await send('HEAD', wire.presigned('HEAD', path))
  isDone(t, head, 200, 'head')
  t.equal(head.headers['content-length'], '15')
  isDone(t, await send('DELETE', wire.presigned('DELETE', path)), 204, 'delete')
  isError(t, await send('GET', wire.presigned('GET', path)), 'NoSuchKey', 'gone')
})

test('the life of a presigned URL', async (t) => {
  const now = Date.now()
  const expired = await get({ now: now - 61_000, expiresSeconds: 60 })
  isError(t, expired, 'AccessDenied', 'expired')
  t.equal(firstElement(expired.text, 'Message'), 'Request has expired')
  t.match(expired.text, /<Expires>[^<]+Z<\/Expires><ServerTime>/)
  isError(t, await get({ now: now + 960_000 }), 'AccessDenied', 'not valid yet')
  isDone(t, await get({ now: now + 840_000 }), 200, 'a clock that is ahead')
  isDone(t, await get({ now: now - 6 * DAY_MILLISECONDS, expiresSeconds: 604_800 }), 200, 'seven days')
  for (const expiresSeconds of [604_801, 0, -1, Number.MAX_SAFE_INTEGER]) {
    isError(t, await get({ expiresSeconds }), 'AccessDenied', `expires ${expiresSeconds}`)
  }
  for (const expiresSeconds of [Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
    isError(t, await get({ expiresSeconds }), 'AuthorizationQueryParametersError', `expires ${expiresSeconds}`)
  }
})

test('a URL that is not what was signed', async (t) => {
  isError(t, await get({ secretKey: 'wrong' }), 'SignatureDoesNotMatch', 'another secret')
  isError(t, await get({ accessKey: 'NOBODY' }), 'InvalidAccessKeyId', 'unknown key')
  const url = wire.presigned('GET', '/signed-bucket/k')
  isError(t, await send('PUT', url, 'x'), 'SignatureDoesNotMatch', 'another method')
  isError(t, await send('GET', url.replace('/k?', '/other?')), 'SignatureDoesNotMatch', 'another key')
  isError(t, await send('GET', `${url}&response-content-type=text%2Fhtml`), 'SignatureDoesNotMatch', 'more query')
  isError(t, await send('GET', url.replace('Expires=60', 'Expires=61')), 'SignatureDoesNotMatch', 'longer life')
  isError(t, await send('GET', `${url}&X-Amz-Expires=60`), 'InvalidArgument', 'twice')
  isError(t, await send('GET', url.replace('%2Fs3%2F', '%2Fec2%2F')), 'AuthorizationQueryParametersError', 'service')
  for (const name of ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature']) {
    const without = url
      .replace(new RegExp(`[?]X-Amz-${name}=[^&]+&`), '?')
      .replace(new RegExp(`&X-Amz-${name}=[^&]+`), '')
    isError(t, await send('GET', without), 'AuthorizationQueryParametersError', `no ${name}`)
  }
  const headers: HeaderLine[] = [['x-amz-meta-a', 'b']]
  isError(t, await raw('GET', url, { sign: false, headers }), 'AccessDenied', 'an unsigned x-amz header beside it')
  isDone(t, await raw('GET', url, { sign: false, headers: [['range', 'bytes=0-0']] }), 206, 'a range may join it')
})

test('a presigned body with a digest', async (t) => {
  const headers: HeaderLine[] = [['x-amz-content-sha256', hash('sha256', 'signed body', 'hex')]]
  const target = wire.presigned('PUT', '/signed-bucket/claimed', { headers })
  const other = await raw('PUT', target, { sign: false, headers, body: 'other' })
  isError(t, other, 'XAmzContentSHA256Mismatch', 'another body')
  isDone(t, await raw('PUT', target, { sign: false, headers, body: 'signed body' }), 200, 'that body')
})

/** The presigner and the client spell the same types in two ways. */
type Presignable = Parameters<typeof getSignedUrl>[1]

async function relative(command: object): Promise<string> {
  const url = await getSignedUrl(s3, command as Presignable, { expiresIn: 60 })
  return url.slice(server.endpoint.length)
}

test('URLs of the SDK, which moves x-amz headers into the query', async (t) => {
  const object = { Bucket: 'signed-bucket', Key: 'sdk/ümlaut +%2F?&=.txt' }
  const put = new PutObjectCommand({ ...object, Metadata: { colour: 'blue' }, ACL: 'private' })
  isDone(t, await send('PUT', await relative(put), 'by URL'), 200, 'put')
  const head = await send('HEAD', await relative(new HeadObjectCommand(object)))
  t.equal(head.headers['x-amz-meta-colour'], 'blue')
  const got = await send('GET', await relative(new GetObjectCommand({ ...object, ResponseContentType: 'text/x-a' })))
  t.equal(got.text, 'by URL')
  t.equal(got.headers['content-type'], 'text/x-a')
  for (const refused of [{ ACL: 'public-read' }, { Tagging: 'a=b' }, { StorageClass: 'GLACIER' }] as const) {
    const target = await relative(new PutObjectCommand({ ...object, ...refused }))
    isError(t, await send('PUT', target, 'x'), 'NotImplemented', JSON.stringify(refused))
  }
  isDone(t, await send('DELETE', await relative(new DeleteObjectCommand(object))), 204, 'delete')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
