import { hash } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone } from '../../support/wire-assertions.ts'
import type { WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw, wire } = server
const LARGE = sampleBytes(100_000)
const CALLER = { principal: 'system:root', credentialId: server.accessKey, sourceAddress: '127.0.0.1' }
const NOBODY = { principal: 'anonymous', credentialId: undefined, sourceAddress: '127.0.0.1' }

/** The records of one answer, by its request id. */
async function recordsOf(answer: WireAnswer): Promise<JournalEntry[]> {
  const id = answer.headers['x-amz-request-id']
  return (await server.journal()).filter((entry) => entry.requestId === id)
}

function copyOf(source: string): HeaderLine[] {
  return [['x-amz-copy-source', source]]
}

test('a change has two records, and the second names the first', async (t) => {
  const changes: [
    method: string,
    target: string,
    api: string,
    changes: string[],
    options?: Parameters<typeof raw>[2],
  ][] = [
    ['PUT', '/audit-bucket', 'CreateBucket', ['bucket.created']],
    ['PUT', '/audit-bucket', 'CreateBucket', []],
    ['PUT', '/audit-bucket/small', 'PutObject', ['object.written'], { body: 'bytes' }],
    ['PUT', '/audit-bucket/large', 'PutObject', ['object.written'], { body: LARGE }],
    ['PUT', '/audit-bucket/empty', 'PutObject', ['object.written']],
    ['PUT', '/audit-bucket/copy', 'CopyObject', ['object.written'], { headers: copyOf('audit-bucket/large') }],
    ['DELETE', '/audit-bucket/copy', 'DeleteObject', ['object.deleted']],
    ['DELETE', '/audit-bucket/copy', 'DeleteObject', []],
    ['PUT', '/other-bucket', 'CreateBucket', ['bucket.created']],
    ['DELETE', '/other-bucket', 'DeleteBucket', ['bucket.deleted']],
  ]
  for (const [method, target, api, names, options] of changes) {
    const answer = await raw(method, target, options)
    t.ok(answer.status < 300, `${method} ${target}`)
    const records = await recordsOf(answer)
    const common = { ...CALLER, operation: `s3:${method}`, resource: `bucket:${target.slice(1)}` }
    const [attempt, outcome] = records
    t.equal(records.length, 2)
    t.match(attempt, { ...common, result: 'attempted', intent: undefined, changes: [], metadata: ['api', api] })
    t.match(outcome, { ...common, result: 'success', intent: attempt?.sequence })
    t.equal(outcome?.details.get('api'), api)
    t.same(
      outcome?.changes.map((change) => change.name),
      names,
    )
  }
})

test('a read has one record', async (t) => {
  const reads: [method: string, target: string, api: string, resource: string, status: number, result: string][] = [
    ['GET', '/audit-bucket/small', 'GetObject', 'bucket:audit-bucket/small', 200, 'success'],
    ['GET', '/audit-bucket/large', 'GetObject', 'bucket:audit-bucket/large', 200, 'success'],
    ['HEAD', '/audit-bucket/small', 'HeadObject', 'bucket:audit-bucket/small', 200, 'success'],
    ['GET', '/audit-bucket?list-type=2', 'ListObjectsV2', 'bucket:audit-bucket', 200, 'success'],
    ['GET', '/audit-bucket?location', 'GetBucketLocation', 'bucket:audit-bucket', 200, 'success'],
    ['HEAD', '/audit-bucket', 'HeadBucket', 'bucket:audit-bucket', 200, 'success'],
    ['GET', '/', 'ListBuckets', 'bucket:*', 200, 'success'],
    ['GET', '/audit-bucket/missing', 'GetObject', 'bucket:audit-bucket/missing', 404, 'failure'],
    ['HEAD', '/no-such-bucket/k', 'HeadObject', 'bucket:no-such-bucket/k', 404, 'failure'],
    ['GET', '/audit-bucket?acl', 'GetBucketAcl', 'bucket:audit-bucket', 501, 'failure'],
    ['GET', '/audit-bucket/%00%F0%9F%98%80', 'GetObject', 'bucket:audit-bucket/\u0000😀', 404, 'failure'],
  ]
  for (const [method, target, api, resource, status, result] of reads) {
    const answer = await raw(method, target)
    t.equal(answer.status, status, `${method} ${target}`)
    const records = await recordsOf(answer)
    t.equal(records.length, 1)
    t.match(records[0], { ...CALLER, operation: `s3:${method}`, resource, result, intent: undefined, changes: [] })
    t.equal(records[0]?.details.get('api'), api)
    t.equal(records[0]?.details.get('status'), status)
  }
  for (const payloadHash of ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']) {
    const streaming = await raw('PUT', '/audit-bucket/streamed', { body: 'x', sign: { payloadHash } })
    t.match(await recordsOf(streaming), [{ ...CALLER, result: 'failure' }], 'who asked for what is not done is known')
  }
  const ranged = await raw('GET', '/audit-bucket/large', { headers: [['range', 'bytes=0-9']] })
  t.match((await recordsOf(ranged))[0], { result: 'success' })
  const unchanged = await raw('GET', '/audit-bucket/small', { headers: [['if-none-match', '*']] })
  t.match(await recordsOf(unchanged), [{ result: 'failure', intent: undefined }], '304 is no 2xx')
})

test('who was refused is in the journal too', async (t) => {
  const url = wire.presigned('GET', '/audit-bucket/small', { now: Date.now() - 100_000 })
  const denied: [answer: WireAnswer, error: string, operation: string][] = [
    [await raw('GET', '/audit-bucket/small', { sign: false }), 'AccessDenied', 's3:GET'],
    [await raw('PUT', '/audit-bucket/small', { sign: false, body: 'x' }), 'AccessDenied', 's3:PUT'],
    [await raw('DELETE', '/audit-bucket', { sign: false }), 'AccessDenied', 's3:DELETE'],
    [await raw('GET', '/audit-bucket/small', { sign: { secretKey: 'guess' } }), 'SignatureDoesNotMatch', 's3:GET'],
    [await raw('PUT', '/audit-bucket/x', { sign: { accessKey: 'NOBODY' } }), 'InvalidAccessKeyId', 's3:PUT'],
    [await raw('GET', '/audit-bucket/small', { sign: { now: 0 } }), 'RequestTimeTooSkewed', 's3:GET'],
    [await raw('GET', url, { sign: false }), 'AccessDenied', 's3:GET'],
  ]
  for (const [answer, error, operation] of denied) {
    t.equal(answer.status, 403)
    const records = await recordsOf(answer)
    t.equal(records.length, 1, 'what was never authorized was never attempted')
    t.match(records[0], { ...NOBODY, operation, result: 'denied', intent: undefined, changes: [] })
    t.equal(records[0]?.details.get('error'), error)
  }
  for (const target of ['/%zz', '/audit%2Fbucket', `/audit-bucket/${'k'.repeat(1025)}`]) {
    const records = await recordsOf(await raw('GET', target, { sign: false }))
    t.match(records, [{ ...NOBODY, operation: 's3:GET', result: 'failure' }], target.slice(0, 20))
  }
})

test('a change that came to nothing has an attempt and a failure', async (t) => {
  const wrongSum: HeaderLine[] = [['content-md5', hash('md5', 'another', 'base64')]]
  const failed: [answer: WireAnswer, status: number][] = [
    [await raw('PUT', '/audit-bucket', { headers: [['x-amz-bucket-object-lock-enabled', 'true']] }), 409],
    [await raw('DELETE', '/audit-bucket'), 409],
    [await raw('PUT', '/Not-A-Bucket'), 400],
    [await raw('DELETE', '/no-such-bucket/k'), 404],
    [await raw('PUT', '/no-such-bucket/k', { body: LARGE }), 404],
    [await raw('PUT', '/audit-bucket/bad', { body: 'x', headers: wrongSum }), 400],
    [await raw('PUT', '/audit-bucket/bad', { body: LARGE, headers: wrongSum }), 400],
    [await raw('PUT', '/audit-bucket/small', { body: 'x', headers: [['if-none-match', '*']] }), 412],
    [await raw('PUT', '/audit-bucket/small', { body: LARGE, headers: [['if-none-match', '*']] }), 412],
    [await raw('PUT', '/audit-bucket/bad', { headers: copyOf('audit-bucket/missing') }), 404],
    [await raw('PUT', '/audit-bucket/small', { headers: copyOf('audit-bucket/small') }), 400],
  ]
  for (const [answer, status] of failed) {
    t.equal(answer.status, status)
    const records = await recordsOf(answer)
    t.equal(records.length, 2, `${answer.code}`)
    const [attempt, outcome] = records
    t.match(attempt, { ...CALLER, result: 'attempted', intent: undefined, changes: [] })
    const known = [...(attempt?.details.keys() ?? [])].filter((name) => name !== 'source')
    t.same(known, ['api'], 'an attempt knows nothing of its outcome; that of a copy names its source')
    t.match(outcome, { ...CALLER, result: 'failure', intent: attempt?.sequence, changes: [] })
    t.ok(outcome?.details.get('error'))
  }
})

test('no request is missing in the journal nor in the log, and the records stand in one gapless row', async (t) => {
  const targets = Array.from({ length: 120 }, (_, index) => `/audit-bucket/many-${index % 40}`)
  const methods = ['PUT', 'GET', 'DELETE']
  const answers = await Promise.all(targets.map((target, index) => raw(methods[index % 3] ?? '', target)))
  const entries = await server.journal()
  const counts = new Map<string | undefined, number>()
  for (const { requestId } of entries) counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
  for (const [index, answer] of answers.entries()) {
    const count = counts.get(String(answer.headers['x-amz-request-id']))
    t.equal(count, methods[index % 3] === 'GET' ? 1 : 2)
  }
  const told = new Map(server.finished.map((request) => [request.requestId, request]))
  for (const [index, answer] of answers.entries()) {
    const { status, headers } = answer
    const request = told.get(String(headers['x-amz-request-id']))
    t.match(request, { status, method: methods[index % 3], route: '/{bucket}/{key}', sentBytes: answer.body.length })
  }
  t.same(
    entries.map((entry) => entry.sequence),
    entries.map((_, index) => index + 1),
    'behind the genesis, without a gap',
  )
  t.ok(entries.every((entry, index) => entry.timeMicroseconds >= (entries[index - 1]?.timeMicroseconds ?? 0)))
  for (const { intent, requestId } of entries.filter((entry) => entry.intent !== undefined)) {
    const attempt = entries[Number(intent) - 1]
    t.match(attempt, { result: 'attempted', requestId })
  }
})

test('nothing in the journal is a secret', async (t) => {
  const headers = wire.headersOf('GET', '/audit-bucket/small')
  const presigned = wire.presigned('GET', '/audit-bucket/small')
  const secrets = [server.secretKey, 'session-token-value', 'Y3VzdG9tZXIta2V5', 'cGFzc3dvcmQ=', 'v2-signature-value']
  const authorization = headers.find(([name]) => name === 'authorization')?.[1] ?? ''
  secrets.push(authorization.slice(-64), new URLSearchParams(presigned).get('X-Amz-Signature') ?? '')
  isDone(t, await wire.exchange('GET', '/audit-bucket/small', headers, Buffer.alloc(0)), 200, 'header')
  isDone(t, await raw('GET', presigned, { sign: false }), 200, 'presigned')
  await raw('GET', `${presigned}&changed=1`, { sign: false })
  await raw('GET', '/audit-bucket/small', { headers: [['x-amz-security-token', 'session-token-value']] })
  await raw('GET', '/audit-bucket/small?X-Amz-Security-Token=session-token-value')
  await raw('PUT', '/audit-bucket/c', { headers: [['x-amz-server-side-encryption-customer-key', 'Y3VzdG9tZXIta2V5']] })
  await raw('GET', '/audit-bucket/small', { sign: false, headers: [['authorization', 'Basic cGFzc3dvcmQ=']] })
  await raw('GET', '/audit-bucket/small?AWSAccessKeyId=a&Signature=v2-signature-value&Expires=1', { sign: false })
  await s3.send(new PutObjectCommand({ Bucket: 'audit-bucket', Key: 'sdk', Body: 'x' }))
  await s3.send(new GetObjectCommand({ Bucket: 'audit-bucket', Key: 'sdk' }))
  const text = await server.journalText()
  t.ok(text.includes('bucket:audit-bucket/sdk'), 'the search finds what is there')
  for (const secret of secrets) {
    t.ok(secret.length > 8)
    t.notOk(text.includes(secret), secret)
    t.notOk(text.includes(Buffer.from(secret).toString('base64')), `${secret} in base64`)
  }
  t.notMatch(text, /Signature=|Credential=|AWS4-HMAC/)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
