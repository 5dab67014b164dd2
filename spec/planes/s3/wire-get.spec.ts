import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const Bucket = 'get-bucket'
const ETAG = '"5eb63bbbe01eeed093cb22bb8f5acdc3"'
const OTHER_ETAG = '"00000000000000000000000000000000"'
const BLOCK_BYTES = 65_536

await raw('PUT', `/${Bucket}`)
const text: HeaderLine[] = [
  ['content-type', 'text/plain'],
  ['cache-control', 'no-store'],
  ['x-amz-meta-a', 'b'],
]
await raw('PUT', `/${Bucket}/text`, { body: 'hello world', headers: text })
await raw('PUT', `/${Bucket}/empty`)
const large = sampleBytes(10 * BLOCK_BYTES + 4321)
await raw('PUT', `/${Bucket}/large`, { body: large })

function get(key: string, headers: readonly HeaderLine[], method = 'GET') {
  return raw(method, `/${Bucket}/${key}`, { unsignedHeaders: headers })
}

test('ranges', async (t) => {
  const cases: [range: string, contentRange: string, body: string][] = [
    ['bytes=4-7', 'bytes 4-7/11', 'o wo'],
    ['bytes=0-0', 'bytes 0-0/11', 'h'],
    ['bytes=10-10', 'bytes 10-10/11', 'd'],
    ['bytes=4-', 'bytes 4-10/11', 'o world'],
    ['bytes=4-99', 'bytes 4-10/11', 'o world'],
    ['bytes=-7', 'bytes 4-10/11', 'o world'],
    ['bytes=-99', 'bytes 0-10/11', 'hello world'],
    ['BYTES=4-7', 'bytes 4-7/11', 'o wo'],
    [`bytes=1-${'9'.repeat(400)}`, 'bytes 1-10/11', 'ello world'],
  ]
  for (const [range, contentRange, body] of cases) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get('text', [['range', range]], method)
      isDone(t, answer, 206, `${method} ${range}`)
      t.equal(answer.text, method === 'GET' ? body : '')
      const length = String(body.length)
      t.match(answer.headers, { 'content-range': contentRange, 'content-length': length, etag: ETAG })
    }
  }
  for (const range of [
    'bytes=7-4',
    'items=0-1',
    'bytes=a-b',
    'bytes=0-1,3-4',
    'bytes=',
    'bytes=-',
    '0-1',
    'bytes=1 - 2',
  ]) {
    const answer = await get('text', [['range', range]])
    isDone(t, answer, 200, `${range} is ignored`)
    t.equal(answer.text, 'hello world')
    t.equal(answer.headers['content-range'], undefined)
  }
  const outside = ['bytes=11-', 'bytes=40-50', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]
  for (const range of outside) {
    const answer = await get('text', [['range', range]])
    isError(t, answer, 'InvalidRange', range)
    t.equal(answer.headers['content-range'], 'bytes */11')
    t.equal(firstElement(answer.text, 'ActualObjectSize'), '11')
    t.equal(firstElement(answer.text, 'RangeRequested'), range)
  }
  t.equal((await get('text', [['range', 'bytes=11-']], 'HEAD')).status, 416)
  for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) {
    isError(t, await get('empty', [['range', range]]), 'InvalidRange', `${range} of nothing`)
  }
})

test('any range of an object of many blocks', async (t) => {
  const edges = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 8 * BLOCK_BYTES, large.length - 1]
  const place = fc.oneof(fc.constantFrom(...edges), fc.nat(large.length - 1))
  await fc.assert(
    fc.asyncProperty(place, place, async (one, other) => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)]
      const answer = await get('large', [['range', `bytes=${first}-${last}`]])
      return answer.status === 206 && answer.body.equals(large.subarray(first, last + 1))
    }),
    { numRuns: 60 },
  )
  t.ok((await get('large', [])).body.equals(large))
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'large', Range: 'bytes=100000-' }))
  t.equal(got.ContentRange, `bytes 100000-${large.length - 1}/${large.length}`)
  t.ok(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(large.subarray(100_000)))
})

type ConditionCase = [expected: 200 | 206 | 304 | 412, headers: [string, string][]]

/** @param modified Last-Modified of the object */
function conditionCases(modified: string): ConditionCase[] {
  const at = (seconds: number) => new Date(Date.parse(modified) + seconds * 1000).toUTCString()
  const before = at(-60)
  return [
    [200, [['if-match', ETAG]]],
    [200, [['if-match', '*']]],
    [200, [['if-match', ETAG.slice(1, -1)]]],
    [200, [['if-match', `${OTHER_ETAG}, ${ETAG}`]]],
    [412, [['if-match', OTHER_ETAG]]],
    [412, [['if-match', `W/${ETAG}`]]],
    [200, [['if-none-match', OTHER_ETAG]]],
    [304, [['if-none-match', ETAG]]],
    [304, [['if-none-match', `W/${ETAG}`]]],
    [304, [['if-none-match', '*']]],
    [304, [['if-none-match', `${OTHER_ETAG}, ${ETAG}`]]],
    [200, [['if-unmodified-since', modified]]],
    [412, [['if-unmodified-since', before]]],
    [200, [['if-unmodified-since', 'yesterday']]],
    [304, [['if-modified-since', modified]]],
    [200, [['if-modified-since', before]]],
    [200, [['if-modified-since', 'yesterday']]],
    [200, [['if-modified-since', at(86_400)]]],
    [
      200,
      [
        ['if-match', ETAG],
        ['if-unmodified-since', before],
      ],
    ],
    [
      412,
      [
        ['if-match', OTHER_ETAG],
        ['if-unmodified-since', modified],
      ],
    ],
    [
      304,
      [
        ['if-none-match', ETAG],
        ['if-modified-since', before],
      ],
    ],
    [
      200,
      [
        ['if-none-match', OTHER_ETAG],
        ['if-modified-since', modified],
      ],
    ],
    [
      412,
      [
        ['if-match', OTHER_ETAG],
        ['if-none-match', ETAG],
      ],
    ],
    [
      304,
      [
        ['if-match', ETAG],
        ['if-none-match', ETAG],
      ],
    ],
    [
      412,
      [
        ['if-unmodified-since', before],
        ['if-none-match', ETAG],
      ],
    ],
    [
      304,
      [
        ['if-none-match', ETAG],
        ['range', 'bytes=99-'],
      ],
    ],
    [
      412,
      [
        ['if-match', OTHER_ETAG],
        ['range', 'bytes=0-1'],
      ],
    ],
    [
      206,
      [
        ['if-match', ETAG],
        ['range', 'bytes=0-1'],
      ],
    ],
  ]
}

test('conditions, in the order of RFC 9110', async (t) => {
  const { headers } = await raw('HEAD', `/${Bucket}/text`)
  const modified = String(headers['last-modified'])
  const cases = conditionCases(modified)
  for (const [expected, conditions] of cases) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get('text', conditions, method)
      t.equal(answer.status, expected, `${method} ${JSON.stringify(conditions)}`)
      if (expected !== 412) t.match(answer.headers, { etag: ETAG, 'last-modified': modified })
      if (expected === 304) t.equal(answer.body.length, 0)
      if (expected === 412 && method === 'GET') isError(t, answer, 'PreconditionFailed', 'the document')
    }
  }
  const named = await get('text', [['if-match', OTHER_ETAG]])
  t.equal(firstElement(named.text, 'Condition'), 'If-Match')
  isError(t, await get('missing', [['if-none-match', '*']]), 'NoSuchKey', 'a missing key is 404 whatever the condition')
  const call = s3.send(new GetObjectCommand({ Bucket, Key: 'text', IfNoneMatch: ETAG }))
  t.match(await call.catch((error: unknown) => error), { $metadata: { httpStatusCode: 304 } })
})

test('a head has the headers of a get, and no body', async (t) => {
  for (const key of ['text', 'empty', 'large']) {
    const got = await get(key, [])
    const head = await get(key, [], 'HEAD')
    isDone(t, head, 200, key)
    t.equal(head.body.length, 0)
    const { date: _date, 'x-amz-request-id': id, ...headers } = head.headers
    t.match(got.headers, headers)
    t.not(got.headers['x-amz-request-id'], id)
  }
  t.match((await get('text', [], 'HEAD')).headers, {
    'content-type': 'text/plain',
    'cache-control': 'no-store',
    'x-amz-meta-a': 'b',
    'accept-ranges': 'bytes',
    'content-length': '11',
  })
  t.equal((await get('missing', [], 'HEAD')).status, 404)
  t.equal(await errorName(s3.send(new HeadObjectCommand({ Bucket, Key: 'missing' }))), 'NotFound')
  t.equal(await errorName(s3.send(new GetObjectCommand({ Bucket, Key: 'missing' }))), 'NoSuchKey')
})

test('a signed request may replace response headers', async (t) => {
  const overrides = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-language', 'mi'],
    ['expires', 'Thu, 01 Dec 2033 16:00:00 GMT'],
    ['cache-control', 'max-age=5'],
    ['content-disposition', 'attachment; filename="ä + b.txt"'],
    ['content-encoding', 'gzip'],
  ] as const
  const query = overrides.map(([name, value]) => `response-${name}=${encodeURIComponent(value)}`).join('&')
  const whole = await raw('GET', `/${Bucket}/text?${query}`)
  isDone(t, whole, 200, 'whole')
  const part = await raw('GET', `/${Bucket}/text?${query}`, { headers: [['range', 'bytes=1-2']] })
  isDone(t, part, 206, 'part')
  for (const { headers } of [whole, part]) {
    for (const [name, value] of overrides) t.equal(Buffer.from(String(headers[name]), 'latin1').toString(), value)
    t.equal(headers['x-amz-meta-a'], 'b')
  }
  for (const value of ['a%0D%0Aset-cookie:%20b', 'a%0Ab', 'a%00b']) {
    const answer = await raw('GET', `/${Bucket}/text?response-content-type=${value}`)
    isError(t, answer, 'InvalidArgument', value)
    t.equal(answer.headers['set-cookie'], undefined)
  }
  isError(t, await raw('GET', `/${Bucket}/text?response-content-type=a`, { sign: false }), 'AccessDenied', 'unsigned')
})

test('versions of a bucket without versioning', async (t) => {
  isDone(t, await raw('GET', `/${Bucket}/text?versionId=null`), 200, 'null is the object')
  isError(t, await raw('GET', `/${Bucket}/text?versionId=abc`), 'NoSuchVersion', 'another')
  isError(t, await raw('GET', `/${Bucket}/text?versionId=a%20b`), 'InvalidArgument', 'no version id')
  isError(t, await raw('GET', `/${Bucket}/text?versionId=`), 'InvalidArgument', 'an empty one')
  const part = await raw('GET', `/${Bucket}/text?partNumber=1`)
  isDone(t, part, 206, 'the object is its only part')
  t.same([part.text, part.headers['content-range']], ['hello world', 'bytes 0-10/11'])
  isError(t, await raw('GET', `/${Bucket}/text?partNumber=2`), 'InvalidPart', 'there is no second part')
  isError(t, await raw('GET', `/${Bucket}/text?partNumber=0`), 'InvalidArgument', 'no part number')
})

test('what was read stays whole while it is written over', async (t) => {
  const bodies = [sampleBytes(3 * BLOCK_BYTES, 1), sampleBytes(5 * BLOCK_BYTES, 2), sampleBytes(100, 3)]
  const Key = 'contended'
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: bodies[0] ?? '' }))
  const writes = Array.from({ length: 12 }, (_, index) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: bodies[index % 3] ?? '' })),
  )
  const reads = Array.from({ length: 36 }, () => raw('GET', `/${Bucket}/${Key}`))
  await Promise.all(writes)
  for (const answer of await Promise.all(reads)) {
    isDone(t, answer, 200, 'read')
    t.ok(bodies.some((body) => body.equals(answer.body)))
  }
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
