import { hash } from 'node:crypto'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement, type RawRequest, type WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server
const DAY_MILLISECONDS = 86_400_000
const UNSIGNED = { payloadHash: 'UNSIGNED-PAYLOAD' }

await raw('PUT', '/auth-bucket')
await raw('PUT', '/auth-bucket/k', { body: 'bytes' })

/** Sends a request that is signed for `options` and then changed. */
async function changed(
  method: string,
  target: string,
  options: RawRequest,
  change: (line: HeaderLine) => HeaderLine | undefined,
): Promise<WireAnswer> {
  const lines = wire.headersOf(method, target, options).map(change)
  const headers = lines.filter((line): line is HeaderLine => line !== undefined)
  const body = Buffer.from(options.body ?? '')
  if (body.length > 0) headers.push(['content-length', String(body.length)])
  return wire.exchange(method, target, headers, body)
}

function withHeader(name: string, value: string | undefined): (line: HeaderLine) => HeaderLine | undefined {
  return (line) => {
    if (line[0] !== name) return line
    return value === undefined ? undefined : [name, value]
  }
}

function inAuthorization(from: RegExp, to: string): (line: HeaderLine) => HeaderLine {
  return ([name, value]) => [name, name === 'authorization' ? value.replace(from, to) : value]
}

test('a request without a signature is told nothing', async (t) => {
  const targets: [method: string, target: string][] = [
    ['GET', '/'],
    ['GET', '/auth-bucket/k'],
    ['GET', '/auth-bucket?list-type=2'],
    ['GET', '/no-such-bucket/k'],
    ['PUT', '/auth-bucket/new'],
    ['DELETE', '/auth-bucket/k'],
    ['DELETE', '/auth-bucket'],
    ['PATCH', '/auth-bucket/k'],
  ]
  for (const [method, target] of targets) {
    isError(t, await raw(method, target, { sign: false }), 'AccessDenied', `${method} ${target}`)
  }
  t.equal((await raw('HEAD', '/auth-bucket/k', { sign: false })).status, 403)
  // What this server does not do, it does for nobody: that much may be known, and not what there is.
  for (const target of ['/auth-bucket?acl', '/no-such-bucket?acl']) {
    const answer = await raw('GET', target, { sign: false })
    isError(t, answer, 'NotImplemented', target)
    t.equal(firstElement(answer.text, 'Message'), 'GetBucketAcl is not supported by this server.')
  }
  isError(t, await raw('PUT', '/auth-bucket/new', { sign: false, body: 'x'.repeat(100_000) }), 'AccessDenied', 'body')
  isDone(t, await raw('GET', '/auth-bucket/k'), 200, 'nothing was deleted')
})

test('refusals of a signature in the header', async (t) => {
  const target = '/auth-bucket/k'
  const elsewhere = new S3Client({
    endpoint: server.endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: 'not the secret' },
  })
  t.equal(await errorName(elsewhere.send(new ListBucketsCommand({}))), 'SignatureDoesNotMatch')
  elsewhere.destroy()
  const wrongSecret = await raw('GET', target, { sign: { secretKey: 'wrong' } })
  isError(t, wrongSecret, 'SignatureDoesNotMatch', 'another secret')
  t.notMatch(wrongSecret.text, server.secretKey)
  isError(t, await raw('GET', target, { sign: { accessKey: 'NOBODY' } }), 'InvalidAccessKeyId', 'unknown key')
  // A minute to either side of the bound: time goes on between the signature and the look at it.
  for (const offset of [-960_000, 960_000, -DAY_MILLISECONDS]) {
    const skewed = await raw('GET', target, { sign: { now: Date.now() + offset } })
    isError(t, skewed, 'RequestTimeTooSkewed', `${offset} ms`)
    t.equal(firstElement(skewed.text, 'MaxAllowedSkewMilliseconds'), '900000')
    t.match(skewed.text, /<RequestTime>\d{8}T\d{6}Z<\/RequestTime><ServerTime>/)
  }
  for (const offset of [-840_000, 840_000]) {
    isDone(t, await raw('GET', target, { sign: { now: Date.now() + offset } }), 200, `${offset} ms`)
  }
  isDone(t, await raw('GET', target, { sign: { region: 'any region' } }), 200, 'any region')

  const cases: [
    name: string,
    code: Parameters<typeof isError>[2],
    change: (line: HeaderLine) => HeaderLine | undefined,
  ][] = [
    ['signature', 'SignatureDoesNotMatch', inAuthorization(/Signature=..../, 'Signature=0000')],
    [
      'upper case',
      'SignatureDoesNotMatch',
      ([name, value]) => [
        name,
        name === 'authorization' ? value.replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase()) : value,
      ],
    ],
    ['service', 'AuthorizationHeaderMalformed', inAuthorization(/\/s3\//, '/sqs/')],
    ['terminator', 'AuthorizationHeaderMalformed', inAuthorization(/aws4_request/, 'aws5_request')],
    ['day', 'AuthorizationHeaderMalformed', inAuthorization(/\/\d{8}\//, '/20000101/')],
    ['no credential', 'AuthorizationHeaderMalformed', inAuthorization(/Credential=[^,]+,/, '')],
    ['no signed headers', 'AuthorizationHeaderMalformed', inAuthorization(/SignedHeaders=[^,]+,/, '')],
    ['nothing behind the name', 'AuthorizationHeaderMalformed', withHeader('authorization', 'AWS4-HMAC-SHA256')],
    ['SigV2', 'InvalidRequest', withHeader('authorization', 'AWS KEY:c2lnbmF0dXJl')],
    ['SigV4A', 'InvalidRequest', inAuthorization(/AWS4-HMAC-SHA256/, 'AWS4-ECDSA-P256-SHA256')],
    ['basic', 'InvalidArgument', withHeader('authorization', 'Basic c2VjcmV0OnNlY3JldA==')],
    ['no date', 'AccessDenied', withHeader('x-amz-date', undefined)],
    ['no payload hash', 'InvalidRequest', withHeader('x-amz-content-sha256', undefined)],
    ['payload hash', 'InvalidArgument', withHeader('x-amz-content-sha256', 'anything')],
    ['empty', 'AccessDenied', withHeader('authorization', '')],
  ]
  for (const [name, code, change] of cases) isError(t, await changed('GET', target, {}, change), code, name)
})

test('everything that steers a request is signed', async (t) => {
  const target = '/auth-bucket/k?list-type=2'
  const listed = wire.headersOf('GET', '/auth-bucket?list-type=2')
  isError(
    t,
    await wire.exchange('GET', '/auth-bucket?list-type=2&prefix=a', listed, Buffer.alloc(0)),
    'SignatureDoesNotMatch',
    'query',
  )
  isError(t, await wire.exchange('GET', '/auth-bucket', listed, Buffer.alloc(0)), 'SignatureDoesNotMatch', 'less query')
  isError(t, await wire.exchange('GET', target, listed, Buffer.alloc(0)), 'SignatureDoesNotMatch', 'path')
  isError(
    t,
    await wire.exchange('DELETE', '/auth-bucket?list-type=2', listed, Buffer.alloc(0)),
    'SignatureDoesNotMatch',
    'method',
  )
  isError(
    t,
    await changed('GET', '/auth-bucket/k', {}, withHeader('host', 'elsewhere')),
    'SignatureDoesNotMatch',
    'host',
  )

  const put = { body: 'new bytes', headers: [['x-amz-meta-a', '1']] as HeaderLine[] }
  isError(
    t,
    await changed('PUT', '/auth-bucket/new', put, withHeader('x-amz-meta-a', '2')),
    'SignatureDoesNotMatch',
    'header',
  )
  const smuggled = await raw('PUT', '/auth-bucket/new', {
    ...put,
    unsignedHeaders: [['x-amz-copy-source', 'auth-bucket/k']],
  })
  isError(t, smuggled, 'AccessDenied', 'unsigned x-amz header')
  t.equal(firstElement(smuggled.text, 'HeadersNotSigned'), 'x-amz-copy-source')
  const acl = await raw('PUT', '/auth-bucket/new', { ...put, unsignedHeaders: [['x-amz-acl', 'private']] })
  isError(t, acl, 'AccessDenied', 'also a harmless one')
  const claim = { payloadHash: hash('sha256', 'other bytes', 'hex') }
  const mismatch = await raw('PUT', '/auth-bucket/new', { body: 'new bytes', sign: claim })
  isError(t, mismatch, 'XAmzContentSHA256Mismatch', 'the body')
  t.equal(firstElement(mismatch.text, 'S3ComputedContentSHA256'), hash('sha256', 'new bytes', 'hex'))
  const large = 'l'.repeat(100_000)
  isError(
    t,
    await raw('PUT', '/auth-bucket/new', { body: large, sign: claim }),
    'XAmzContentSHA256Mismatch',
    'a large body',
  )
  isError(t, await raw('GET', '/auth-bucket/new'), 'NoSuchKey', 'nothing was stored')
  isDone(t, await raw('PUT', '/auth-bucket/unsigned', { body: 'x', sign: UNSIGNED }), 200, 'a body may be unsigned')
})

test('session tokens and two signatures at once are refused', async (t) => {
  const token: HeaderLine[] = [['x-amz-security-token', 'token']]
  isError(t, await raw('GET', '/auth-bucket/k', { headers: token }), 'NotImplemented', 'session token')
  const presigned = wire.presigned('GET', '/auth-bucket/k')
  isError(t, await raw('GET', presigned), 'InvalidArgument', 'header and query')
  isError(
    t,
    await raw('GET', '/auth-bucket/k?AWSAccessKeyId=a&Signature=b&Expires=1', { sign: false }),
    'InvalidRequest',
    'SigV2',
  )
  const inQuery = wire.presigned('GET', '/auth-bucket/k', { query: [['X-Amz-Security-Token', 't']] })
  isError(t, await raw('GET', inQuery, { sign: false }), 'NotImplemented', 'session token in the query')
})

test('one reading of the path', async (t) => {
  const plus = await raw('PUT', '/auth-bucket/a+b%2Bc', { body: 'plus' })
  isDone(t, plus, 200, 'plus and escaped plus are the same')
  t.equal((await raw('GET', '/auth-bucket/a%2Bb+c')).text, 'plus')
  const lower = await raw('GET', '/auth-bucket/%c3%bc')
  isError(t, lower, 'NoSuchKey', 'lower-case escapes are signed in upper case')
  t.equal(firstElement(lower.text, 'Key'), 'ü')
  const bad: [target: string, code: 'InvalidURI' | 'BadRequest'][] = [
    ['/auth-bucket/%zz', 'InvalidURI'],
    ['/auth-bucket/%ff', 'InvalidURI'],
    ['/auth-bucket/%', 'InvalidURI'],
    ['/auth-bucket/%c3', 'InvalidURI'],
    ['/auth-bucket/%ed%a0%80', 'InvalidURI'],
    ['/auth%2Fbucket/k', 'InvalidURI'],
    ['//auth-bucket/k', 'InvalidURI'],
    ['/auth-bucket/k?prefix=%zz', 'InvalidURI'],
  ]
  for (const [target, code] of bad) isError(t, await raw('GET', target, { sign: false }), code, target)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
