/**
 * How long signatures hold, and what is refused only after them.
 * Proves: DO-NOT-14.
 */
import { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { recognize } from '../../../../planes/s3/recognize-operation.ts'
import { refuseUnsupportedHeaders } from '../../../../planes/s3/unsupported-headers.ts'
import { authenticate, HOST_H, NOW, presigned, signed } from './signing.ts'
import { detail, refusal, refusalCode, STRICT, wireRequest } from '../wire-request.ts'

const MINUTE = 60_000

function put(headers: readonly HeaderLine[], now = NOW): string | undefined {
  return refusalCode(() => authenticate('PUT', '/b/k', headers, now))
}

function putPresigned(rawTarget: string, now = NOW, headers: readonly HeaderLine[] = HOST_H): string | undefined {
  return refusalCode(() => authenticate('PUT', rawTarget, headers, now))
}

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
  for (const expires of ['1.5', '1e3', '', 'x', '0x10', '9'.repeat(21), '0', '-1', '604801', '9'.repeat(20)]) {
    t.equal(withExpires(expires), 'AuthorizationQueryParametersError', expires)
  }
})

/** The two steps of the plane that follow one another: who asks, and whether they ask for what is done here. */
function admission(rawTarget: string, headers: readonly HeaderLine[]): string | undefined {
  return refusalCode(() => {
    authenticate('PUT', rawTarget, headers)
    const { request, target } = wireRequest('PUT', rawTarget, headers)
    refuseUnsupportedHeaders(request, target, recognize('PUT', target, request), STRICT)
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
