/**
 * CORS on the wire: the configuration and preflights.
 * Proves: DO-CAP-09.
 */
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { type WireAnswer } from '../../../support/wire-client.ts'
import {
  APP,
  APP_RULE,
  asking,
  configuration,
  corsOf,
  granted,
  isDenied,
  makeCorsBuckets,
  OPEN_RULE,
} from './cors-answers.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server

await makeCorsBuckets(server)

function preflight(target: string, headers: readonly HeaderLine[]): Promise<WireAnswer> {
  return raw('OPTIONS', target, { sign: false, headers })
}

/** Everything in an answer that could tell two buckets apart. */
function identifying(answer: WireAnswer, bucket: string): unknown {
  const { date: _date, 'x-amz-request-id': id, ...headers } = answer.headers
  const text = answer.text.replaceAll(bucket, '{bucket}').replaceAll(String(id), '{id}')
  return { status: answer.status, headers, text }
}

test('a bucket that does not exist is one without a configuration', async (t) => {
  const cases = [asking(APP, 'GET'), asking(APP, 'PUT', 'content-type'), [], asking('', 'GET')]
  for (const headers of cases) {
    for (const rest of ['', '/k', '?cors', '?versionId=%zz']) {
      const plain = await preflight(`/plain-bucket${rest}`, headers)
      const missing = await preflight(`/other-bucket${rest}`, headers)
      t.same(identifying(plain, 'plain-bucket'), identifying(missing, 'other-bucket'), `${rest} ${headers.join(' ')}`)
      t.ok(plain.status === 400 || plain.status === 403)
    }
  }
  for (const target of ['/Not-A-Bucket/k', `/${'b'.repeat(3000)}`, '/%00'])
    isDenied(t, await preflight(target, asking(APP, 'GET')), target.slice(0, 20))
  const virtual: HeaderLine[] = [['host', 'plain-bucket.example'], ...asking(APP, 'GET')]
  const answer = await wire.exchange('OPTIONS', '/k', virtual, Buffer.alloc(0))
  isDenied(t, answer, 'a host with the name of a bucket tells nothing either')
})

test('a preflight has one record, a place in the line, and is counted', async (t) => {
  const outcomes: [target: string, method: string, result: string, status: number, api: string][] = [
    ['/cors-bucket/k', 'PUT', 'success', 200, 'PreflightObject'],
    ['/cors-bucket', 'GET', 'success', 200, 'PreflightBucket'],
    ['/plain-bucket/k', 'PUT', 'denied', 403, 'PreflightObject'],
    ['/no-such-bucket', '', 'failure', 400, 'PreflightBucket'],
  ]
  for (const [target, method, result, status, api] of outcomes) {
    for (const sign of [false, {}] as const) {
      const { headers } = await raw('OPTIONS', target, { sign, headers: asking(APP, method) })
      const id = headers['x-amz-request-id']
      const records = (await server.journal()).filter((entry) => entry.requestId === id)
      const resource = `bucket:${target.slice(1)}`
      const common = { principal: 'anonymous', credentialId: undefined, sourceAddress: '127.0.0.1', changes: [] }
      t.match(records, [{ ...common, operation: 's3:OPTIONS', resource, result, intent: undefined }])
      t.equal(records.length, 1)
      t.equal(records[0]?.details.get('api'), api)
      t.equal(records[0]?.details.get('status'), status)
      const finished = server.finished.find((request) => request.requestId === id)
      t.match(finished, { method: 'OPTIONS', status, operation: { name: api } })
    }
  }
  const narrow = await startInThread({ limits: { operationsMaximum: 1, queueMaximum: 1 } })
  t.teardown(() => narrow.stop())
  await narrow.raw('PUT', '/narrow-bucket')
  await narrow.raw('PUT', '/narrow-bucket?cors', { body: configuration(APP_RULE) })
  t.equal(narrow.gate.enter(narrow.gate.entryOf('somebody', false)), 'entered')
  const ask = () => narrow.raw('OPTIONS', '/narrow-bucket/k', { sign: false, headers: asking(APP, 'PUT') })
  const both = [ask(), ask()]
  const refused = await Promise.race(both)
  isError(t, refused, 'SlowDown', 'one waits, the other is one too many')
  t.same(corsOf(refused), {})
  const denied = await narrow.raw('OPTIONS', '/narrow-bucket/k', { sign: false, headers: asking(APP, 'DELETE') })
  isError(t, denied, 'SlowDown', 'also one that no rule fits')
  const read = await narrow.raw('GET', '/narrow-bucket/k', { unsignedHeaders: [['origin', APP]] })
  isError(t, read, 'SlowDown', 'a read')
  t.same(corsOf(read), granted(APP))
  narrow.gate.leave(narrow.gate.entryOf('somebody', false))
  t.same((await Promise.all(both)).map((answer) => answer.status).toSorted(), [200, 503])
  t.equal(narrow.gate.active, 0)
})

test('after a restart, and without the projections, the answers are the same', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
  const told: unknown[] = []
  for (const round of ['new', 'restarted', 'replayed']) {
    const store = await startInThread({ dataDirectory })
    const send = store.raw
    if (round === 'new') {
      for (const bucket of ['kept-bucket', 'removed-bucket']) {
        isDone(t, await send('PUT', `/${bucket}`), 200, bucket)
        isDone(t, await send('PUT', `/${bucket}?cors`, { body: configuration(APP_RULE, OPEN_RULE) }), 200, bucket)
      }
      isDone(t, await send('DELETE', '/removed-bucket?cors'), 204, 'removed')
    }
    isError(t, await send('GET', '/removed-bucket?cors'), 'NoSuchCORSConfiguration', round)
    const ask = (bucket: string) => send('OPTIONS', `/${bucket}/k`, { sign: false, headers: asking(APP, 'PUT') })
    isDenied(t, await ask('removed-bucket'), round)
    const allowed = await ask('kept-bucket')
    t.same(corsOf(allowed), granted(APP), round)
    told.push((await send('GET', '/kept-bucket?cors')).text)
    await store.stop()
    if (round === 'restarted') rmSync(store.paths.projections, { recursive: true })
  }
  t.match(told[0], '<ID>app</ID>')
  t.same(told, [told[0], told[0], told[0]])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
