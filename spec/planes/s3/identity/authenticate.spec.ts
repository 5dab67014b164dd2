/** Proves: AUT-S3P-01. */
import { createHmac } from 'node:crypto'
import { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import type { Identity } from '../../../../planes/s3/signing/identity.ts'
import {
  canonicalText,
  deriveSigningKey,
  SigningKey,
  stringToSign,
} from '../../../../planes/s3/signing/signature-v4.ts'
import { SigningKeyCache } from '../../../../planes/s3/signing/signing-key-cache.ts'
import type { QueryParameter } from '../../../../planes/s3/request/query-parameters.ts'
import { presign, requestTarget, signHeaders } from '../../../support/signing.ts'
import { authenticate, CREDENTIAL, EMPTY_SHA256, HOST_H, NOW, presigned, replaced, signed, without } from './signing.ts'
import { refusal, refusalCode, wireRequest } from '../wire-request.ts'

// The host and scope of the published examples.
const HOST = 'examplebucket.s3.amazonaws.com'

const SCOPE = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'

test('the published examples of header signatures', async (t) => {
  const common: HeaderLine[] = [
    ['host', HOST],
    ['x-amz-content-sha256', EMPTY_SHA256],
    ['x-amz-date', '20130524T000000Z'],
  ]
  const names = 'host;x-amz-content-sha256;x-amz-date'
  const examples = [
    {
      request: 'GET /test.txt',
      headers: [...common, ['range', 'bytes=0-9']] as HeaderLine[],
      signedHeaders: 'host;range;x-amz-content-sha256;x-amz-date',
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      request: 'PUT /test$file.text',
      headers: [
        ['host', HOST],
        ['date', 'Fri, 24 May 2013 00:00:00 GMT'],
        ['x-amz-date', '20130524T000000Z'],
        ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
        ['x-amz-content-sha256', '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072'],
      ] as HeaderLine[],
      signedHeaders: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
    {
      request: 'GET /?lifecycle',
      headers: common,
      signedHeaders: names,
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      request: 'GET /?max-keys=2&prefix=J',
      headers: common,
      signedHeaders: names,
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ]
  for (const { request, headers, signedHeaders, signature } of examples) {
    const [method = '', rawTarget = ''] = request.split(' ')
    const claim = `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=${signedHeaders},Signature=`
    const identity = authenticate(method, rawTarget, [...headers, ['authorization', claim + signature]])
    t.match(identity, { principal: CREDENTIAL.principal, mode: 'header' }, request)
    const wrong = signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    const code = refusalCode(() => authenticate(method, rawTarget, [...headers, ['authorization', claim + wrong]]))
    t.equal(code, 'SignatureDoesNotMatch', request)
  }
})

test('the signer of the specs makes the published signatures of headers', (t) => {
  const options = { ...CREDENTIAL, host: HOST, region: 'us-east-1', now: NOW, payloadHash: EMPTY_SHA256, method: 'GET' }
  for (const [request, signature] of [
    [
      { path: '/test.txt', headers: [['range', 'bytes=0-9']] },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [{ path: '/', query: [['lifecycle', '']] }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    [
      {
        path: '/',
        query: [
          ['max-keys', '2'],
          ['prefix', 'J'],
        ],
      },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ] as const) {
    const lines = signHeaders({ ...options, ...request })
    t.ok(lines.at(-1)?.[1].endsWith(`,Signature=${signature}`), JSON.stringify(request))
  }
  t.end()
})

test('the published example of a presigned URL', async (t) => {
  const url = presign({
    ...CREDENTIAL,
    method: 'GET',
    endpoint: `https://${HOST}`,
    path: '/test.txt',
    region: 'us-east-1',
    expiresSeconds: 86_400,
    now: NOW,
  })
  const signature = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  t.ok(url.endsWith(`&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`), url)
  const identity = authenticate('GET', url.slice(`https://${HOST}`.length), [['host', HOST]])
  t.match(identity, { mode: 'presigned', payload: { kind: 'unsigned' } })
})

test('presigning for an endpoint', async (t) => {
  const common = { ...CREDENTIAL, method: 'GET', path: '/b/a b', region: 'r', expiresSeconds: 1, now: NOW }
  for (const [endpoint, host] of [
    ['http://127.0.0.1:7600', '127.0.0.1:7600'],
    ['http://127.0.0.1:7600/', '127.0.0.1:7600'],
    ['http://Example:80', 'example'],
    ['https://example:443', 'example'],
    ['https://example:80', 'example:80'],
    ['http://[::1]:7600', '[::1]:7600'],
  ] as const) {
    const url = presign({ ...common, endpoint })
    const rawTarget = url.slice(url.indexOf('/b/'))
    t.match(rawTarget, /^\/b\/a%20b\?X-Amz-Algorithm=/)
    t.ok(authenticate('GET', rawTarget, [['host', host]]), endpoint)
  }
  for (const endpoint of ['127.0.0.1:7600', 'http://', 'http://h/path', 'ftp://h', 'http://u@h']) {
    t.throws(() => presign({ ...common, endpoint }), TypeError, endpoint)
  }
})

test('what is signed is recognized in every spelling', async (t) => {
  const query: QueryParameter[] = [
    ['prefix', 'a b+c/é'],
    ['acl', ''],
    ['x', '2'],
    ['x', '1'],
  ]
  const headers: HeaderLine[] = [
    ['x-amz-meta-blanks', 'a   b\t c'],
    ['x-amz-meta-utf8', 'naïve 😀 x'],
    ['x-amz-meta-empty', ''],
  ]
  const path = "/b/a/../b//+é'*~ \u0000%2F"
  const lines = signed({ path, query, headers })
  t.ok(authenticate('PUT', requestTarget(path, query), lines))
  const spelled = requestTarget(path, query.toReversed()).replaceAll('%C3', '%c3').replace('a%20b', 'a+b')
  t.ok(authenticate('PUT', spelled, lines), 'order, case of hex digits, + for a blank')
  const folded = replaced(lines, 'x-amz-meta-blanks', 'a b c')
  t.ok(authenticate('PUT', requestTarget(path, query), folded), 'runs of blanks')
  const spaced = lines.map(([name, value]): HeaderLine => [name, value.replaceAll(/,(?=Sig)/g, ' , ')])
  t.ok(authenticate('PUT', requestTarget(path, query), spaced), 'blanks around commas')
  t.match(authenticate('PUT', '/b/k', signed({ payloadHash: EMPTY_SHA256.toUpperCase() })), {
    payload: { kind: 'sha256', hex: EMPTY_SHA256 },
  })
})

test('the Date header is the time of signing when there is no x-amz-date', async (t) => {
  for (const date of ['Fri, 24 May 2013 00:00:00 GMT', '20130524T000000Z', 'Friday, 24-May-13 00:00:00 GMT']) {
    const headers: HeaderLine[] = [
      ['host', 'h'],
      ['date', date],
      ['x-amz-content-sha256', EMPTY_SHA256],
    ]
    const { request, target } = wireRequest('GET', '/b/k', headers)
    const scope = { date: '20130524', region: 'us-east-1' }
    const signedNames = ['date', 'host', 'x-amz-content-sha256']
    const canonical = canonicalText({
      method: 'GET',
      path: target.canonicalPath,
      query: '',
      signedNames,
      signedHeaders: signedNames.join(';'),
      header: (name) => request.header(name),
      payloadHash: EMPTY_SHA256,
    })
    const key = deriveSigningKey(CREDENTIAL.secretKey, scope)
    const hex = key.sign(stringToSign('20130524T000000Z', scope, canonical))
    const claim = `AWS4-HMAC-SHA256 Credential=${SCOPE}, SignedHeaders=${signedNames.join(';')}, Signature=${hex}`
    t.ok(authenticate('GET', '/b/k', [...headers, ['authorization', claim]]), date)
  }
  for (const date of ['', 'yesterday', '20130524T000000', '20130230T000000Z', '20130524T250000Z']) {
    const lines = replaced(signed(), 'x-amz-date', date)
    t.equal(
      refusalCode(() => authenticate('PUT', '/b/k', lines)),
      'AccessDenied',
      date,
    )
    const dateless = [...without(signed(), 'x-amz-date'), ['date', date] as const]
    t.equal(
      refusalCode(() => authenticate('PUT', '/b/k', dateless)),
      'AccessDenied',
      date,
    )
  }
})

const claimed = (names: readonly string[]): HeaderLine[] => {
  const claim = `AWS4-HMAC-SHA256 Credential=${SCOPE}, SignedHeaders=${names.join(';')}, Signature=${'0'.repeat(64)}`
  return [...without(signed(), 'authorization'), ['authorization', claim]]
}
const codeOf = (lines: HeaderLine[], query = '') => refusalCode(() => authenticate('PUT', `/b/k${query}`, lines))
const parameters = (count: number) => `?${Array.from({ length: count }, (_, index) => `p${index}=1`).join('&')}`

test('signed names and parameters are bounded before anybody knows who asks', async (t) => {
  const names = Array.from({ length: 97 }, (_, index) => `a${index}`)
  const own = ['host', 'x-amz-content-sha256', 'x-amz-date']
  t.equal(codeOf(claimed([...names, ...own])), 'SignatureDoesNotMatch', '100 names')
  t.equal(codeOf(claimed([...names, ...own, 'b'])), 'AuthorizationHeaderMalformed', '101 names')
  t.equal(codeOf(claimed(own), parameters(100)), 'SignatureDoesNotMatch', '100 parameters')
  t.equal(codeOf(claimed(own), parameters(101)), 'InvalidArgument', '101 parameters')
})

test('any change to a signed request breaks it', async (t) => {
  const query: QueryParameter[] = [['partNumber', '1']]
  const headers: HeaderLine[] = [
    ['content-type', 'text/plain'],
    ['x-amz-meta-a', '1'],
  ]
  const header = signed({ query, headers })
  const line = presigned({ query, headers })
  const sent = [...HOST_H, ...headers]
  const changes: [what: string, act: () => Identity | undefined][] = [
    ['method', () => authenticate('GET', '/b/k?partNumber=1', header)],
    ['path', () => authenticate('PUT', '/b/K?partNumber=1', header)],
    ['path slash', () => authenticate('PUT', '/b/k/?partNumber=1', header)],
    ['query value', () => authenticate('PUT', '/b/k?partNumber=2', header)],
    ['query added', () => authenticate('PUT', '/b/k?partNumber=1&a', header)],
    ['query removed', () => authenticate('PUT', '/b/k', header)],
    ['host', () => authenticate('PUT', '/b/k?partNumber=1', replaced(header, 'host', 'h:7601'))],
    ['header', () => authenticate('PUT', '/b/k?partNumber=1', replaced(header, 'content-type', 'text/html'))],
    ['header gone', () => authenticate('PUT', '/b/k?partNumber=1', without(header, 'x-amz-meta-a'))],
    ['header twice', () => authenticate('PUT', '/b/k?partNumber=1', [...header, ['x-amz-meta-a', '2']])],
    ['payload', () => authenticate('PUT', '/b/k?partNumber=1', replaced(header, 'x-amz-content-sha256', EMPTY_SHA256))],
    ['date', () => authenticate('PUT', '/b/k?partNumber=1', replaced(header, 'x-amz-date', '20130524T000001Z'))],
    ['presigned method', () => authenticate('GET', line, sent)],
    ['presigned path', () => authenticate('PUT', line.replace('/b/k', '/b/%6B2'), sent)],
    ['presigned query', () => authenticate('PUT', line.replace('partNumber=1', 'partNumber=2'), sent)],
    ['presigned added', () => authenticate('PUT', `${line}&response-content-type=text/html`, sent)],
    ['presigned expiry', () => authenticate('PUT', line.replace('Expires=60', 'Expires=600'), sent)],
    ['presigned date', () => authenticate('PUT', line.replace('T000000Z', 'T000001Z'), sent)],
    ['presigned header', () => authenticate('PUT', line, replaced(sent, 'x-amz-meta-a', '2'))],
    ['presigned host', () => authenticate('PUT', line, replaced(sent, 'host', 'i'))],
  ]
  t.ok(authenticate('PUT', '/b/k?partNumber=1', header))
  t.ok(authenticate('PUT', line, sent))
  for (const [what, act] of changes) t.equal(refusalCode(act), 'SignatureDoesNotMatch', what)
})

test('no secret and nothing of the calculation stands in an error', async (t) => {
  const wrong = signed({ secretKey: 'another secret' })
  for (const lines of [wrong, signed({ accessKey: 'NOBODY' })]) {
    const error = refusal(() => authenticate('PUT', '/b/k', lines))
    const shown = JSON.stringify([error.message, error.details, error.headers])
    t.equal(error.status, 403)
    t.notMatch(shown, /StringToSign|CanonicalRequest|secret|wJalr|[0-9a-f]{64}/)
  }
  t.equal(
    refusalCode(() => authenticate('PUT', '/b/k', signed({ accessKey: 'NOBODY' }))),
    'InvalidAccessKeyId',
  )
  const foreign = refusal(() => authenticate('GET', '/', [['authorization', 'Bearer hunter2']]))
  t.equal(foreign.code, 'InvalidArgument')
  t.notMatch(JSON.stringify([foreign.message, foreign.details]), /hunter2/)
})

test('signatures are those of the HMAC of the platform, for any key and text', async (t) => {
  for (const keyLength of [0, 1, 32, 64]) {
    const bytes = Buffer.alloc(keyLength, 0xc3)
    const key = new SigningKey(bytes)
    for (const text of ['', 'text', 'ключ', 'é'.repeat(512), 'x'.repeat(1024), 'x'.repeat(1025), '😀'.repeat(5000)]) {
      t.equal(key.sign(text), createHmac('sha256', bytes).update(text).digest('hex'), `${keyLength}, ${text.length}`)
    }
  }
})

test('a cached signing key is not used with another secret', async (t) => {
  const cache = new SigningKeyCache(2)
  const scope = { date: '20130524', region: 'r' }
  const first = cache.get('K', 'one', scope)
  t.equal(cache.get('K', 'one', scope), first, 'cached')
  t.not(cache.get('K', 'two', scope).sign('text'), first.sign('text'))
  t.equal(cache.get('K', 'one', scope).sign('text'), first.sign('text'))
  t.not(cache.get('K', 'one', { ...scope, region: 'other' }).sign('text'), first.sign('text'))
  t.not(cache.get('K', 'one', { ...scope, date: '20130525' }).sign('text'), first.sign('text'))
  cache.get('L', 'one', scope)
  cache.get('K', 'one', scope)
  const kept = cache.get('K', 'one', scope)
  cache.get('M', 'one', scope)
  t.equal(cache.size, 2, 'bounded')
  t.equal(cache.get('K', 'one', scope), kept, 'the one unused for longest has left')
})
