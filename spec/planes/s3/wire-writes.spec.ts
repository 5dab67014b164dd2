import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const Bucket = 'write-bucket'
const LARGE_BYTES = 200_000
const OTHER_ETAG = '"00000000000000000000000000000000"'

await raw('PUT', `/${Bucket}`)

function put(key: string, body: Buffer | string, headers: readonly HeaderLine[]) {
  return raw('PUT', `/${Bucket}/${key}`, { body, unsignedHeaders: headers })
}

test('conditions of a write', async (t) => {
  const absent: HeaderLine[] = [['if-none-match', '*']]
  for (const size of [5, LARGE_BYTES]) {
    const key = `conditional-${size}`
    const [first, second] = [sampleBytes(size, 1), sampleBytes(size, 2)]
    isError(t, await put(key, first, [['if-match', '*']]), 'NoSuchKey', 'If-Match: * on nothing')
    isError(t, await put(key, first, [['if-match', OTHER_ETAG]]), 'NoSuchKey', 'If-Match on nothing')
    isDone(t, await put(key, first, absent), 200, 'If-None-Match: * on nothing')
    const refused = await put(key, second, absent)
    isError(t, refused, 'PreconditionFailed', 'If-None-Match: * on an object')
    t.equal(firstElement(refused.text, 'Condition'), 'If-None-Match')
    isError(t, await put(key, second, [['if-match', OTHER_ETAG]]), 'PreconditionFailed', 'another ETag')
    const { headers, body } = await raw('GET', `/${Bucket}/${key}`)
    t.ok(body.equals(first), 'refused writes leave the object')
    const etag = String(headers.etag)
    isError(t, await put(key, second, [['if-match', `W/${etag}`]]), 'PreconditionFailed', 'a weak ETag')
    isDone(t, await put(key, second, [['if-match', `${OTHER_ETAG}, ${etag}`]]), 200, 'that ETag')
    isError(t, await put(key, first, [['if-match', etag]]), 'PreconditionFailed', 'the ETag of before')
    isDone(t, await put(key, first, [['if-match', '*']]), 200, 'If-Match: * on an object')
    for (const value of [etag, `W/${etag}`, `${OTHER_ETAG}, ${etag}`]) {
      const same = await put(key, second, [['if-none-match', value]])
      isError(t, same, 'PreconditionFailed', `If-None-Match: ${value}`)
      t.equal(firstElement(same.text, 'Condition'), 'If-None-Match')
    }
    t.ok((await raw('GET', `/${Bucket}/${key}`)).body.equals(first), 'refused writes leave the object')
    isDone(t, await put(key, second, [['if-none-match', OTHER_ETAG]]), 200, 'If-None-Match with another ETag')
    isDone(t, await put(`${key}-new`, second, [['if-none-match', etag]]), 200, 'If-None-Match with an ETag on nothing')
    for (const name of [key, `${key}-new`]) {
      t.ok((await raw('GET', `/${Bucket}/${name}`)).body.equals(second), `${name} is written`)
    }
  }
  const unsupported: [headers: HeaderLine[], code: S3ErrorCode][] = [
    [[['if-none-match', '']], 'InvalidArgument'],
    [[['if-unmodified-since', 'Sun, 06 Nov 1994 08:49:37 GMT']], 'NotImplemented'],
    [[...absent, ['if-match', '*']], 'InvalidRequest'],
    [[['if-match', '']], 'InvalidArgument'],
    [
      [
        ['if-match', OTHER_ETAG],
        ['if-none-match', OTHER_ETAG],
      ],
      'InvalidRequest',
    ],
  ]
  for (const [headers, code] of unsupported) {
    isError(t, await put('unsupported', 'x', headers), code, JSON.stringify(headers))
  }
  isError(t, await raw('GET', `/${Bucket}/unsupported`), 'NoSuchKey', 'a condition that cannot be kept stores nothing')
})

test('of twenty that race for a key, one wins', async (t) => {
  for (const size of [10, LARGE_BYTES]) {
    const Key = `race-${size}`
    const calls = Array.from({ length: 20 }, (_, index) =>
      errorName(s3.send(new PutObjectCommand({ Bucket, Key, Body: sampleBytes(size, index), IfNoneMatch: '*' }))),
    )
    const names = await Promise.all(calls)
    t.equal(names.filter((name) => name === 'no error').length, 1, `${size} bytes`)
    t.equal(names.filter((name) => name === 'PreconditionFailed').length, 19)
    const winner = names.indexOf('no error')
    t.ok((await raw('GET', `/${Bucket}/${Key}`)).body.equals(sampleBytes(size, winner)), 'and its bytes are there')
  }
})

test('of twenty that replace the same version, one wins', async (t) => {
  const target = `/${Bucket}/replaced`
  let etag = (await raw('PUT', target, { body: 'start' })).headers.etag
  for (let round = 0; round < 3; round += 1) {
    const condition: HeaderLine[] = [['if-match', String(etag)]]
    const bodies = Array.from({ length: 20 }, (_, index) => `round ${round}, writer ${index}`)
    const answers = await Promise.all(bodies.map((body) => put('replaced', body, condition)))
    const winners = answers.flatMap((answer, index) => (answer.status === 200 ? [index] : []))
    t.equal(winners.length, 1)
    t.equal(answers.filter((answer) => answer.code === 'PreconditionFailed').length, 19)
    const now = await raw('GET', target)
    t.equal(now.text, bodies[winners[0] ?? -1])
    etag = now.headers.etag
  }
})

test('a delete is done whether or not there was something', async (t) => {
  const target = `/${Bucket}/deleted`
  isDone(t, await raw('DELETE', target), 204, 'nothing there')
  isDone(t, await raw('PUT', target, { body: 'x' }), 200, 'put')
  for (const round of [1, 2]) {
    const answer = await raw('DELETE', target)
    isDone(t, answer, 204, `delete ${round}`)
    t.equal(answer.body.length, 0)
    isError(t, await raw('GET', target), 'NoSuchKey', 'gone')
  }
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'deleted' }))
  isError(t, await raw('DELETE', '/no-such-bucket/k'), 'NoSuchBucket', 'but a bucket must be there')
})

test('versions and conditions of a delete', async (t) => {
  const target = `/${Bucket}/versioned`
  const { headers } = await raw('PUT', target, { body: 'x' })
  isDone(t, await raw('DELETE', `${target}?versionId=other`), 204, 'a version that is not there')
  isError(t, await raw('DELETE', `${target}?versionId=a%20b`), 'InvalidArgument', 'no version id')
  isDone(t, await raw('HEAD', target), 200, 'still there')
  const remove = (value: string) => raw('DELETE', target, { unsignedHeaders: [['if-match', value]] })
  isError(t, await remove(OTHER_ETAG), 'PreconditionFailed', 'another ETag')
  isDone(t, await remove(String(headers.etag)), 204, 'that ETag')
  for (const value of ['*', OTHER_ETAG, String(headers.etag)]) {
    isDone(t, await remove(value), 204, `If-Match: ${value} on nothing`)
  }
  isError(t, await raw('GET', target), 'NoSuchKey', 'still nothing')
  isDone(t, await raw('PUT', target, { body: 'x' }), 200, 'again')
  isDone(t, await raw('DELETE', `${target}?versionId=null`), 204, 'the version null')
  isError(t, await raw('GET', target), 'NoSuchKey', 'gone')
})

test('parallel writes of many keys are all there', async (t) => {
  const sizes = [0, 100, 65_536, 65_537, 120_000]
  const jobs = Array.from({ length: 100 }, (_, index) => ({
    Key: `many/${index}`,
    Body: sampleBytes(sizes[index % sizes.length] ?? 0, index),
  }))
  await Promise.all(jobs.map((job) => s3.send(new PutObjectCommand({ Bucket, ...job }))))
  const answers = await Promise.all(jobs.map(({ Key }) => raw('GET', `/${Bucket}/${Key}`)))
  t.ok(answers.every((answer, index) => jobs[index]?.Body.equals(answer.body)))
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
