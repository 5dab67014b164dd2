/**
 * The journal of many requests at once, and what it must not hold; spec/answers has the records of each kind of request.
 * Proves: DO-ACC-03, RES-AUD-04, RES-CHN-01.
 */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { isDone } from '../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw, wire } = server

await raw('PUT', '/audit-bucket')
await raw('PUT', '/audit-bucket/small', { body: 'bytes' })

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
