/** What a lock does with every answer that another S3 may give. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { systemMilliseconds } from '../../engine/clock.ts'
import { S3Lock } from '../../workers/checkpoints/s3-lock.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { lockedLog } from '../support/locked-log.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
const nothing: Answer = (_, response) => void response.writeHead(404).end(xml('NoSuchKey'))
const silent: Answer = () => undefined
const written: Answer = (_, response) => void response.writeHead(200, { etag: '"one"' }).end()

/** A store that answers reads with one thing and writes with another. */
async function fakeStore() {
  const answers = { get: nothing, put: written }
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    request.resume().on('end', () => answers[request.method === 'PUT' ? 'put' : 'get'](request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const place = new S3Lock({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: 'locks',
    prefix: '',
    region: 'eu-central-1',
    accessKey: 'AKEXAMPLE',
    secretKey: 'a-secret-of-the-spec',
    clock: systemMilliseconds,
  })
  const end = () => {
    server.closeAllConnections()
    server.close()
  }
  return { answers, asked, place, end }
}

const with200 =
  (body: string, headers = {}): Answer =>
  (_, response) =>
    void response.writeHead(200, headers).end(body)
const status =
  (code: number, body = '', headers = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(body)

test('an answer that is no answer of S3 keeps the checkpoint back; the next attempt publishes it', async (t) => {
  const store = await fakeStore()
  const log = await lockedLog(t.testdir(), store.place)
  const { size, origin } = (await log.sign()) as CheckpointState
  const reads: readonly (readonly [Answer, RegExp])[] = [
    [status(404, xml('NoSuchBucket')), /HTTP 404 \(NoSuchBucket\)/],
    [status(403, xml('InvalidAccessKeyId')), /HTTP 403 \(InvalidAccessKeyId\)/],
    [status(500), /HTTP 500$/],
    [status(301, '', { location: 'http://127.0.0.1:1/' }), /HTTP 301/],
    [with200('garbage', { etag: '"x"' }), /does not hold a checkpoint/],
    [with200('garbage'), /without an ETag/],
    [with200('x'.repeat(70_000), { etag: '"x"' }), /longer than 65536 bytes/],
    [(_, response) => response.destroy(), /hang up|ECONNRESET/],
    [
      (_, response) => void response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end(),
      /another protocol|hang up|ECONNRESET|Parse Error/,
    ],
  ]
  for (const [answer, says] of reads) {
    store.answers.get = answer
    await log.attempt()
    t.match(log.failures.pop(), says)
  }
  store.answers.get = nothing
  const writes: readonly (readonly [Answer, RegExp])[] = [
    [status(500, xml('InternalError')), /HTTP 500 \(InternalError\)/],
    [status(200), /without an ETag/],
    [status(412, xml('PreconditionFailed')), /another process writes to the lock/],
    [status(409, xml('ConditionalRequestConflict')), /another process writes to the lock/],
    [status(501, xml('NotImplemented')), /HTTP 501 \(NotImplemented\)/],
  ]
  for (const [answer, says] of writes) {
    store.answers.put = answer
    const before = store.asked.filter(({ method }) => method === 'PUT').length
    await log.attempt()
    t.match(log.failures.pop(), says)
    t.ok(store.asked.filter(({ method }) => method === 'PUT').length <= before + 3, 'it gives up for now')
  }
  t.equal(log.signing.reader.last(), undefined)
  store.answers.put = written
  await log.attempt()
  t.equal(log.signing.reader.last()?.size, size)
  const { method, url, headers } = store.asked.at(-1) as IncomingMessage
  t.same([method, url, headers['if-none-match']], ['PUT', `/locks/${origin}`, '*'])
  t.match(headers['authorization'], /^AWS4-HMAC-SHA256 Credential=AKEXAMPLE\/\d{8}\/eu-central-1\/s3\/aws4_request, /)
  t.notMatch(JSON.stringify(headers), /a-secret-of-the-spec/)
  await log.close()
  store.end()
})

test('a store that does not answer is given up, and a stop does not wait for it', async (t) => {
  const store = await fakeStore()
  store.answers.get = silent
  const root = t.testdir({ quick: {}, patient: {} })
  const quick = await lockedLog(`${root}/quick`, store.place, { timeoutMilliseconds: 1000 })
  await t.rejects(quick.sign(), { message: /cannot be asked: .*(?:timeout|aborted)/ })
  t.equal(quick.signing.reader.state().last, undefined, 'nothing is signed while it was never asked')
  store.answers.get = nothing
  await quick.sign()
  store.answers.put = silent
  await quick.attempt()
  t.match(quick.failures, [/timeout|aborted/])
  await quick.close()
  store.answers.put = written
  const patient = await lockedLog(`${root}/patient`, store.place)
  await patient.sign()
  store.answers.get = silent
  await patient.lock.step()
  await patient.close()
  t.same(patient.failures, [], 'a stop is no failure')
  store.end()
})
