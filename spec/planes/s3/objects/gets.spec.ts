/** Proves: DO-CAP-08, RES-OBJ-05. */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server

const Bucket = 'get-bucket'
const BLOCK_BYTES = 65_536

await raw('PUT', `/${Bucket}`)
const large = sampleBytes(10 * BLOCK_BYTES + 4321)
await raw('PUT', `/${Bucket}/large`, { body: large })

function get(key: string, headers: readonly HeaderLine[], method = 'GET') {
  return raw(method, `/${Bucket}/${key}`, { unsignedHeaders: headers })
}

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

test('If-Range: a range of the version that the client has, and otherwise the whole', async (t) => {
  const Key = 'resumed'
  const first = (await raw('PUT', `/${Bucket}/${Key}`, { body: 'first version' })).headers.etag as string
  const range: HeaderLine = ['range', 'bytes=6-']
  const answers: [ifRange: string, status: number][] = [
    [first, 206],
    [`W/${first}`, 200],
    ['"0"', 200],
    ['*', 200],
    ['', 200],
    [`${new Date().toUTCString()}`, 200],
    [(await get(Key, [])).headers['last-modified'] as string, 200],
  ]
  for (const method of ['GET', 'HEAD']) {
    for (const [ifRange, status] of answers) {
      const answer = await get(Key, [range, ['if-range', ifRange]], method)
      t.equal(answer.status, status, `${method} ${ifRange}`)
      if (method === 'GET') t.equal(answer.text, status === 206 ? 'version' : 'first version')
    }
  }
  await raw('PUT', `/${Bucket}/${Key}`, { body: 'other version' })
  const answer = await get(Key, [range, ['if-range', first]])
  t.equal(answer.status, 200, 'the object was replaced')
  t.equal(answer.text, 'other version')
  t.equal(
    (
      await get(Key, [
        ['range', 'bytes=99-'],
        ['if-range', first],
      ])
    ).status,
    200,
    'its range counts for nothing',
  )
})

test('a 304 carries what a cache must keep', async (t) => {
  const stored: HeaderLine[] = [
    ['cache-control', 'max-age=60'],
    ['expires', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    ['content-type', 'text/plain'],
    ['content-language', 'en'],
    ['x-amz-meta-a', 'b'],
  ]
  const { headers } = await raw('PUT', `/${Bucket}/cached`, { body: 'x', headers: stored })
  for (const method of ['GET', 'HEAD']) {
    const answer = await get('cached', [['if-none-match', headers.etag as string]], method)
    t.equal(answer.status, 304)
    t.match(answer.headers, { 'cache-control': 'max-age=60', expires: stored[1]?.[1], etag: headers.etag })
    for (const name of ['content-type', 'content-language', 'x-amz-meta-a']) t.notOk(name in answer.headers, name)
  }
  const query = 'response-cache-control=no-cache'
  const asked = await raw('GET', `/${Bucket}/cached?${query}`, { headers: [['if-none-match', headers.etag as string]] })
  t.equal(asked.status, 304)
  t.equal(asked.headers['cache-control'], 'no-cache', 'as the 200 would have it')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
