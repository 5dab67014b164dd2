import { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { recognize } from '../../../planes/s3/recognize-operation.ts'
import { refuseUnsupportedHeaders } from '../../../planes/s3/unsupported-headers.ts'
import { authenticate, EMPTY_SHA256, HOST_H, NOW, presigned, replaced, signed, without } from './signing.ts'
import { detail, refusal, refusalCode, wireRequest } from './wire-request.ts'

const MINUTE = 60_000

function put(headers: readonly HeaderLine[], now = NOW): string | undefined {
  return refusalCode(() => authenticate('PUT', '/b/k', headers, now))
}

function putPresigned(rawTarget: string, now = NOW, headers: readonly HeaderLine[] = HOST_H): string | undefined {
  return refusalCode(() => authenticate('PUT', rawTarget, headers, now))
}

/** A header signature whose claim is rewritten. */
function claimed(change: (claim: string) => string): HeaderLine[] {
  const lines = signed()
  const claim = lines.find(([name]) => name === 'authorization')?.[1] ?? ''
  return replaced(lines, 'authorization', change(claim))
}

test('anonymous requests', async (t) => {
  for (const rawTarget of ['/', '/b', '/b/k?acl', '/b/k?x-amz-acl=private', '/b/k?X-Amz-Expires=1']) {
    t.same(authenticate('GET', rawTarget, HOST_H), { kind: 'anonymous' }, rawTarget)
  }
  t.same(authenticate('GET', '/', [['authorization', '']]), { kind: 'anonymous' })
})

test('the window of a header signature', async (t) => {
  for (const minutes of [0, 15, -15]) t.equal(put(signed(), NOW + minutes * MINUTE), undefined)
  for (const milliseconds of [15 * MINUTE + 1, -15 * MINUTE - 1]) {
    const error = refusal(() => authenticate('PUT', '/b/k', signed(), NOW + milliseconds))
    t.equal(error.code, 'RequestTimeTooSkewed')
    t.equal(error.status, 403)
    t.equal(detail(error, 'RequestTime'), '20130524T000000Z')
    t.equal(detail(error, 'ServerTime'), new Date(NOW + milliseconds).toISOString())
    t.equal(detail(error, 'MaxAllowedSkewMilliseconds'), '900000')
  }
})

test('the window of a presigned URL', async (t) => {
  const line = presigned({ expiresSeconds: 60 })
  for (const milliseconds of [0, MINUTE, -15 * MINUTE]) t.equal(putPresigned(line, NOW + milliseconds), undefined)
  const expired = refusal(() => authenticate('PUT', line, HOST_H, NOW + MINUTE + 1))
  t.equal(expired.code, 'AccessDenied')
  t.equal(expired.message, 'Request has expired')
  t.equal(detail(expired, 'Expires'), '2013-05-24T00:01:00.000Z')
  t.ok(detail(expired, 'ServerTime'))
  t.equal(putPresigned(line, NOW - 15 * MINUTE - 1), 'AccessDenied')
  t.equal(putPresigned(presigned({ expiresSeconds: 604_800 }), NOW + 604_800_000), undefined)
  const withExpires = (expires: string) => putPresigned(line.replace('X-Amz-Expires=60', `X-Amz-Expires=${expires}`))
  for (const expires of ['1.5', '1e3', '', 'x', '0x10', '9'.repeat(21)]) {
    t.equal(withExpires(expires), 'AuthorizationQueryParametersError', expires)
  }
  for (const expires of ['0', '-1', '604801', '9'.repeat(20)]) t.equal(withExpires(expires), 'AccessDenied', expires)
})

test('malformed claims', async (t) => {
  const bends: [what: string, from: string | RegExp, to: string][] = [
    ['service', '/s3/', '/sts/'],
    ['terminator', 'aws4_request', 'aws3_request'],
    ['day', '/20130524/', '/20130525/'],
    ['region', '/us-east-1/', '//'],
    ['credential', /Credential=[^,&]*/, 'Credential=HAHAHA'],
    ['access key', 'AKIAIOSFODNN7EXAMPLE', ''],
    ['long', 'AKIAIOSFODNN7EXAMPLE', 'A'.repeat(250)],
    ['upper case', /SignedHeaders=host/, 'SignedHeaders=Host'],
    ['twice', /SignedHeaders=host/, 'SignedHeaders=host;host'],
    ['no names', /SignedHeaders=[^,&]*/, 'SignedHeaders='],
    ['no signature', /Signature=[^,&]*$/, 'Signature='],
  ]
  for (const [what, from, to] of bends) {
    t.equal(put(claimed((claim) => claim.replace(from, to))), 'AuthorizationHeaderMalformed', what)
    const encoded = typeof from === 'string' ? from.replaceAll('/', '%2F') : from
    const bent = presigned().replace(encoded, typeof from === 'string' ? to.replaceAll('/', '%2F') : to)
    t.equal(putPresigned(bent), 'AuthorizationQueryParametersError', what)
  }
  for (const name of ['Credential', 'SignedHeaders', 'Signature']) {
    const missing = claimed((claim) => claim.replace(new RegExp(`${name}=[^,]*,?`), ''))
    t.equal(put(missing), 'AuthorizationHeaderMalformed', `${name} missing`)
    const twice = claimed((claim) => `${claim},${name}=x`)
    t.equal(put(twice), 'AuthorizationHeaderMalformed', `${name} twice`)
  }
  for (const name of ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature']) {
    const missing = presigned().replace(new RegExp(`X-Amz-${name}=[^&]*&?`), '')
    t.equal(putPresigned(missing), 'AuthorizationQueryParametersError', `${name} missing`)
    const twice = `${presigned()}&${/X-Amz-[A-Z][a-z]+/.exec(missing) && `X-Amz-${name}`}=x`
    t.equal(putPresigned(twice), 'InvalidArgument', `${name} twice`)
    const bothCases = `${presigned()}&x-amz-${name.toLowerCase()}=x`
    t.equal(putPresigned(bothCases), 'InvalidArgument', `${name} in both cases`)
  }
  for (const date of ['20130524', '20131324T000000Z', 'Fri, 24 May 2013 00:00:00 GMT']) {
    const bent = presigned().replace(/X-Amz-Date=[^&]*/, `X-Amz-Date=${encodeURIComponent(date)}`)
    t.equal(putPresigned(bent), 'AuthorizationQueryParametersError', date)
  }
})

test('other mechanisms, and two at once', async (t) => {
  const v2 = '/b/k?AWSAccessKeyId=K&Signature=s&Expires=1'
  t.equal(putPresigned(v2), 'InvalidRequest')
  t.match(refusal(() => authenticate('PUT', v2, HOST_H)).message, /Please use AWS4-HMAC-SHA256/)
  for (const claim of ['AWS K:c2ln', 'AWS', 'AWS4-ECDSA-P256-SHA256 Credential=a']) {
    t.equal(put([['authorization', claim]]), 'InvalidRequest', claim)
  }
  for (const claim of ['Basic YTpi', 'Bearer x', '\u0007', 'aws4-hmac-sha256 Credential=a']) {
    t.equal(put([['authorization', claim]]), 'InvalidArgument', claim)
  }
  t.equal(put([['authorization', 'AWS4-HMAC-SHA256']]), 'AuthorizationHeaderMalformed')
  t.equal(putPresigned(presigned(), NOW, signed()), 'InvalidArgument')
  t.equal(putPresigned('/b/k?X-Amz-Signature=x', NOW, signed()), 'InvalidArgument')
  t.equal(putPresigned(v2, NOW, signed()), 'InvalidArgument')
  const algorithm = presigned().replace('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256')
  t.equal(putPresigned(algorithm), 'AuthorizationQueryParametersError')
  const [authorization] = signed().filter(([name]) => name === 'authorization')
  t.ok(authorization)
  if (authorization) t.equal(put([...signed(), authorization]), 'AuthorizationHeaderMalformed', 'two headers')
})

test('headers that steer the request must be signed', async (t) => {
  const steering: HeaderLine = ['x-amz-copy-source', '/other/secret']
  for (const error of [
    refusal(() => authenticate('PUT', '/b/k', [...signed(), steering])),
    refusal(() => authenticate('PUT', presigned(), [...HOST_H, steering])),
  ]) {
    t.equal(error.code, 'AccessDenied')
    t.equal(detail(error, 'HeadersNotSigned'), 'x-amz-copy-source')
    t.match(error.message, /^There were headers present in the request which were not signed/)
  }
  const hostless = claimed((claim) => claim.replace('SignedHeaders=host;', 'SignedHeaders='))
  t.equal(
    detail(
      refusal(() => authenticate('PUT', '/b/k', hostless)),
      'HeadersNotSigned',
    ),
    'host',
  )
  const dateUnsigned = claimed((claim) => claim.replace(';x-amz-date,', ','))
  t.equal(put(dateUnsigned), 'AccessDenied')
  t.equal(put([...signed(), ['host', 'evil']]), 'InvalidRequest', 'two hosts')
  const free: HeaderLine[] = [
    ['content-type', 'a/b'],
    ['range', 'bytes=0-1'],
    ['expect', '100-continue'],
    ['if-match', 'x'],
    ['user-agent', 'y'],
  ]
  t.equal(put([...signed(), ...free]), undefined)
  t.equal(putPresigned(presigned(), NOW, [...HOST_H, ...free]), undefined)
})

test('a name in header and query must say one thing', async (t) => {
  const query = [['x-amz-meta-a', '1']] as const
  const same = presigned({ query, headers: [['x-amz-meta-a', '1']] })
  t.equal(putPresigned(same, NOW, [...HOST_H, ['x-amz-meta-a', '1']]), undefined)
  const other = presigned({ query, headers: [['x-amz-meta-a', '2']] })
  t.equal(putPresigned(other, NOW, [...HOST_H, ['x-amz-meta-a', '2']]), 'InvalidArgument')
  t.equal(putPresigned(`${presigned({ query })}&X-AMZ-Meta-A=2`), 'InvalidArgument')
  t.equal(putPresigned(presigned(), NOW, [...HOST_H, ['x-amz-date', '20130524T000001Z']]), 'InvalidArgument')
  const checksum = presigned({ query: [['x-amz-checksum-crc32', 'AAAAAA==']] })
  t.equal(putPresigned(checksum), undefined, 'the checksum of an empty body, from presigners')
})

test('payload hashes', async (t) => {
  t.match(authenticate('PUT', '/b/k', signed()), { payload: { kind: 'unsigned' } })
  const hash = authenticate('PUT', '/b/k', signed({ payloadHash: EMPTY_SHA256 }))
  t.match(hash, { mode: 'header', payload: { kind: 'sha256', hex: EMPTY_SHA256 } })
  const missing = refusal(() => authenticate('PUT', '/b/k', without(signed(), 'x-amz-content-sha256')))
  t.equal(missing.code, 'InvalidRequest')
  t.match(missing.message, /x-amz-content-sha256/)
  for (const payloadHash of ['', 'x', 'unsigned-payload', EMPTY_SHA256.slice(1), `${EMPTY_SHA256}0`, 'STREAMING-a b']) {
    t.equal(put(signed({ payloadHash })), 'InvalidArgument', payloadHash)
  }
  const twice: HeaderLine[] = [...signed(), ['x-amz-content-sha256', EMPTY_SHA256]]
  t.equal(put(twice), 'InvalidArgument')
  const inQuery = presigned({ query: [['X-Amz-Content-Sha256', EMPTY_SHA256]] })
  t.match(authenticate('PUT', inQuery, HOST_H), { payload: { kind: 'sha256', hex: EMPTY_SHA256 } })
  const header: HeaderLine = ['x-amz-content-sha256', EMPTY_SHA256]
  const inHeader = authenticate('PUT', presigned({ headers: [header] }), [...HOST_H, header])
  t.match(inHeader, { mode: 'presigned', payload: { kind: 'sha256' } })
})

/** The two steps of the plane that follow one another: who asks, and whether they ask for what is done here. */
function admission(rawTarget: string, headers: readonly HeaderLine[]): string | undefined {
  return refusalCode(() => {
    authenticate('PUT', rawTarget, headers)
    const { request, target } = wireRequest('PUT', rawTarget, headers)
    refuseUnsupportedHeaders(request, target, recognize('PUT', target, request))
  })
}

test('streaming modes and session tokens are refused, and only after the signature', async (t) => {
  const modes = [
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
  ]
  const token: HeaderLine[] = [['x-amz-security-token', 't']]
  for (const secretKey of [undefined, 'wrong']) {
    const expected = secretKey === undefined ? 'NotImplemented' : 'SignatureDoesNotMatch'
    const wrong = secretKey === undefined ? {} : { secretKey }
    for (const payloadHash of modes) {
      t.equal(admission('/b/k', signed({ payloadHash, ...wrong })), expected, payloadHash)
      t.equal(admission(presigned({ query: [['x-amz-content-sha256', payloadHash]], ...wrong }), HOST_H), expected)
    }
    t.equal(admission('/b/k', signed({ headers: token, ...wrong })), expected)
    t.equal(admission(presigned({ query: [['X-Amz-Security-Token', 't']], ...wrong }), HOST_H), expected)
  }
})
