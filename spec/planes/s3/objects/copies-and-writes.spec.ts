/** Copies and writes that meet each other. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { errorName, isDone } from '../../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server

await raw('PUT', '/from-bucket')
await raw('PUT', '/to-bucket')

const described: HeaderLine[] = [
  ['content-type', 'text/plain'],
  ['cache-control', 'no-store'],
  ['x-amz-meta-colour', 'blue'],
]

async function store(key: string, body: Buffer | string): Promise<string> {
  const answer = await raw('PUT', `/from-bucket/${key}`, { body, headers: described })
  return String(answer.headers.etag)
}

function copy(source: string, target: string, headers: readonly HeaderLine[] = []) {
  return raw('PUT', target, { headers: [['x-amz-copy-source', source], ...headers] })
}

test('a copy that races with writes of its source is of one of them', async (t) => {
  await store('moving', sampleBytes(100, 0))
  const writes = Array.from({ length: 20 }, (_, index) => store('moving', sampleBytes(100, index)))
  const copies = Array.from({ length: 20 }, (_, index) => copy('from-bucket/moving', `/to-bucket/moving-${index}`))
  await Promise.all(writes)
  for (const [index, answer] of (await Promise.all(copies)).entries()) {
    if (answer.code === 'OperationAborted') continue
    isDone(t, answer, 200, 'copied')
    const { body } = await raw('GET', `/to-bucket/moving-${index}`)
    t.ok(Array.from({ length: 20 }).some((_, seed) => sampleBytes(100, seed).equals(body)))
  }
})

const Bucket = 'write-bucket'
const LARGE_BYTES = 200_000
await raw('PUT', `/${Bucket}`)

function put(key: string, body: Buffer | string, headers: readonly HeaderLine[]) {
  return raw('PUT', `/${Bucket}/${key}`, { body, unsignedHeaders: headers })
}

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
