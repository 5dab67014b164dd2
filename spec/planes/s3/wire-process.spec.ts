/** Proves: RES-AUD-05, API-PRO-01, API-PRO-04, API-PRO-09, AUT-MET-01, EVT-AUD-01, EVT-AUD-06, EVT-AUD-07. */
import { readdirSync } from 'node:fs'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { runJournalCommand } from '../../support/journals/journal-command-run.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startProcess } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { WireClient } from '../../support/wire-client.ts'
import { openRaw } from '../../support/raw/raw-client.ts'

const server = await startProcess({ frontEnds: 2 })
tap.teardown(() => server.stop())
const { s3, raw, wire } = server
const LARGE = sampleBytes(700_000)

test('what one front end has answered, every other one sees', async (t) => {
  isDone(t, await raw('PUT', '/process-bucket'), 200, 'create')
  const clients = Array.from({ length: 8 }, () => new WireClient(server))
  for (let round = 0; round < 30; round += 1) {
    const target = `/process-bucket/round-${round % 5}`
    const body = round % 3 === 0 ? sampleBytes(90_000, round) : `round ${round}`
    const writer = clients[round % clients.length] as WireClient
    t.equal((await writer.send('PUT', target, { body })).status, 200)
    const answers = await Promise.all(clients.map((client) => client.send('GET', target)))
    t.ok(
      answers.every((answer) => answer.body.equals(Buffer.from(body))),
      `round ${round}`,
    )
    t.equal((await writer.send('DELETE', target)).status, 204)
    const gone = await Promise.all(clients.map((client) => client.send('GET', target)))
    t.ok(gone.every((answer) => answer.code === 'NoSuchKey'))
  }
  for (const client of clients) client.close()
})

test('the SDK with its defaults', async (t) => {
  for (const [Key, Body] of [
    ['small', Buffer.from('bytes')],
    ['large', LARGE],
    ['empty', Buffer.alloc(0)],
  ] as const) {
    await s3.send(new PutObjectCommand({ Bucket: 'process-bucket', Key, Body }))
    const got = await s3.send(new GetObjectCommand({ Bucket: 'process-bucket', Key }))
    t.ok(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(Body), Key)
  }
})

test('of many that race over all front ends, one wins', async (t) => {
  const headers: HeaderLine[] = [['if-none-match', '*']]
  const clients = Array.from({ length: 20 }, () => new WireClient(server))
  const answers = await Promise.all(
    clients.map((client, index) => client.send('PUT', '/process-bucket/race', { body: `writer ${index}`, headers })),
  )
  const winners = answers.flatMap((answer, index) => (answer.status === 200 ? [index] : []))
  t.equal(winners.length, 1)
  t.equal(answers.filter((answer) => answer.code === 'PreconditionFailed').length, 19)
  t.equal((await raw('GET', '/process-bucket/race')).text, `writer ${winners[0]}`)
  for (const client of clients) client.close()
})

test('every request is in the journal, which verifies while it is written', async (t) => {
  const methods = ['PUT', 'GET', 'DELETE', 'HEAD']
  const requests = Array.from({ length: 200 }, (_, index) =>
    raw(methods[index % 4] ?? '', `/process-bucket/a-${index}`),
  )
  const verified = await runJournalCommand(['verify', '--data-dir', server.dataDirectory])
  t.equal(verified.code, 0, verified.out + verified.error)
  const answers = await Promise.all(requests)
  const denied = await raw('GET', '/process-bucket/small', { sign: false })
  isError(t, denied, 'AccessDenied', 'a stranger')
  // Records of strangers wait for others to share a batch with.
  await raw('PUT', '/process-bucket/behind-the-stranger')
  const entries = await server.journal()
  for (const [index, answer] of answers.entries()) {
    const id = answer.headers['x-amz-request-id']
    const results = entries.filter((entry) => entry.requestId === id).map((entry) => entry.result)
    const method = methods[index % 4]
    t.equal(results.length, method === 'PUT' || method === 'DELETE' ? 2 : 1, `${method} ${index}`)
  }
  t.match(
    entries.filter((entry) => entry.requestId === denied.headers['x-amz-request-id']),
    [{ result: 'denied', principal: 'anonymous' }],
  )
})

test('the log names routes, and neither keys nor secrets', async (t) => {
  const target = wire.presigned('GET', '/process-bucket/very-private-key')
  isError(t, await raw('GET', target, { sign: false }), 'NoSuchKey', 'presigned')
  const answer = await raw('GET', '/process-bucket/very-private-key')
  const id = String(answer.headers['x-amz-request-id'])
  while (!server.log.some((line) => line.includes(id))) await new Promise((resolve) => setImmediate(resolve))
  const line = server.log.find((text) => text.includes(id)) ?? ''
  t.match(JSON.parse(line), {
    msg: 'S3 request',
    route: '/{bucket}/{key}',
    operation: 'GetObject',
    method: 'GET',
    status: 404,
    milliseconds: Number,
    principal: 'system:root',
    reason: 'object-not-found',
  })
  const log = server.log.join('\n')
  for (const secret of [server.secretKey, 'very-private-key', target.slice(-64), 'Signature'])
    t.notOk(log.includes(secret))
})

test('the management listener tells how it is', async (t) => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.apiEndpoint}${path}`, { headers })
  t.match(await (await get('/health')).json(), { status: 'ok' })
  t.match(await (await get('/ready')).json(), { status: 'ready' })
  t.equal((await get('/metrics')).status, 401)
  let text: string
  // Each front end publishes its count a few times a second.
  do text = await (await get('/metrics', { authorization: `Bearer ${server.scrapeToken}` })).text()
  while (/object_store_operations_active [1-9]/.test(text))
  t.match(text, /object_store_requests_total\{operation="PutObject",result="success"\} [1-9]/)
  t.match(text, /object_store_operations_active 0\n/)
})

test('asked to stop, the server finishes what it has begun', async (t) => {
  const target = '/process-bucket/last'
  const upload = openRaw(server.port)
  const unsignedHeaders = [['content-length', String(LARGE.length)]] as const
  upload.send(wire.headText('PUT', target, { sign: { payloadHash: 'UNSIGNED-PAYLOAD' }, unsignedHeaders }))
  await upload.push(LARGE.subarray(0, 500_000))
  const uploads = new StorePaths(server.dataDirectory).uploads
  while (readdirSync(uploads).length === 0) await new Promise((resolve) => setImmediate(resolve))
  const ended = server.terminate()
  await upload.push(LARGE.subarray(500_000))
  t.match(await upload.untilClosed(), /^HTTP\/1\.1 200 OK\r\n/)
  t.equal(await ended, 0, 'and ends with exit code 0')
  const again = await startProcess({ dataDirectory: server.dataDirectory })
  t.ok((await again.raw('GET', target)).body.equals(LARGE))
  await again.stop()
  const verified = await runJournalCommand(['verify', '--data-dir', server.dataDirectory])
  t.equal(verified.code, 0, verified.out + verified.error)
})
