/**
 * The pipeline under a dialect of its own: shared links, as public delivery will have them.
 * Proves: RES-AUD-02, RES-AUD-16, RES-AUD-17, EVT-AUD-01.
 */
// Must come first: it sets what the HTTP library reads while it is loaded.
import '../../cli/environment.ts'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import tap, { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { Command } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { DomainError, EngineUnavailableError } from '../../engine/errors.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import { heldAnswers } from '../../planes/exchange/held-answers.ts'
import { Exchange, type Refusal } from '../../planes/exchange/exchange.ts'
import { BusyError } from '../../engine/shares/shares.ts'
import { ConcurrencyGate } from '../../planes/http/limits/concurrency-gate.ts'
import { type HttpRequest, type HttpResponse } from '../../planes/http/exchange.ts'
import { listenBySpec as listen } from '../support/http-driver.ts'

/** What a share does when it is opened. */
type Share = (exchange: ShareDialect) => HttpResponse | Promise<HttpResponse>

class ShareError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

class ShareDialect extends Exchange {
  #link: string | undefined
  #share: Share | undefined

  protected admit(): 'gated' | 'free' {
    if (this.http.path === '/health') return 'free'
    const [, word, link] = this.http.path.split('/')
    if (word !== 's' || link === undefined) throw new ShareError(404, 'not a link')
    this.#link = link
    if (this.http.header('x-password') === 'wrong') throw new ShareError(403, 'wrong password')
    this.#share = SHARES.get(link)
    if (this.#share === undefined) throw new ShareError(404, 'no such link')
    return 'gated'
  }

  protected get isStranger(): boolean {
    return this.#share === undefined
  }

  protected handle(): HttpResponse | Promise<HttpResponse> {
    return this.#share === undefined ? { status: 200, headers: [], body: 'healthy' } : this.#share(this)
  }

  protected refusal(error: unknown): Refusal {
    const isKnown = error instanceof ShareError || error instanceof DomainError || error instanceof BusyError
    const status = error instanceof ShareError ? error.status : 503
    const said = isKnown ? error.message : 'out of order'
    const body = this.http.header('x-echo') === undefined ? said : said + this.http.path.repeat(6)
    return { code: `share-${status}`, response: { status, headers: [], body }, isFault: !isKnown }
  }

  audit(): AuditContext | undefined {
    if (this.#link === undefined) return undefined
    const base = { credentialId: undefined, sourceAddress: this.http.remoteAddress, requestId: this.requestId }
    return { ...base, principal: 'share', operation: 'open-share', resource: `share:${this.#link}`, metadata: [] }
  }

  protected get isChange(): boolean {
    return this.http.method === 'POST' && this.#share !== undefined
  }

  protected finish(response: HttpResponse): HttpResponse {
    return { ...response, headers: [...response.headers, ['x-request-id', this.requestId]] }
  }

  protected unrecorded(): HttpResponse {
    return { status: 503, headers: [], body: 'no record' }
  }

  protected failed(error: unknown): void {
    faults.push(error)
  }

  protected override sent(status: number, bytes: number): void {
    sent.push([status, bytes])
  }
}

const SHARES = new Map<string, Share>([
  ['text', () => ({ status: 200, headers: [], body: 'at once' })],
  ['stream', async () => ({ status: 200, headers: [], body: pieces(['one', 'two']) })],
  ['broken-stream', () => ({ status: 200, headers: [], body: pieces(['one', new Error('torn')]) })],
  ['long', () => ({ status: 200, headers: [], body: Buffer.alloc(20_000, 'long') })],
  ['longest', () => ({ status: 200, headers: [], body: Buffer.alloc(heldAnswers.capacity) })],
  ['bug', () => Promise.reject(new TypeError('canary'))],
  ['slow', () => slow],
  ['remove', (exchange) => remove(exchange, 'there')],
  ['remove-twice', (exchange) => remove(exchange, 'gone')],
  ['remove-badly', (exchange) => remove(exchange, 'failing')],
  [
    'upload',
    (exchange) => exchange.journal.attempt(['size', 3]).then(() => Promise.reject(new ShareError(400, 'short'))),
  ],
])

async function remove({ journal }: ShareDialect, bucket: string): Promise<HttpResponse> {
  await journal.execute({ kind: 'delete-bucket', bucket }, ['of', bucket])
  return { status: 204, headers: [] }
}

function pieces(left: (string | Error)[]) {
  return {
    length: 6,
    next: () => {
      const piece = left.shift()
      if (piece instanceof Error) throw piece
      return piece === undefined ? undefined : Buffer.from(piece)
    },
    close: () => undefined,
  }
}

/** What the engine was told, as the journal would have it. */
const records: unknown[][] = []
const faults: unknown[] = []
const sent: [status: number, bytes: number][] = []
let isDown = false
let release = () => {}
const slow = new Promise<HttpResponse>((resolve) => {
  release = () => resolve({ status: 200, headers: [], body: 'slow' })
})

async function execute(command: Command): Promise<Done> {
  if (isDown) throw new EngineUnavailableError('down')
  const { kind, audit, ...rest } = command as Extract<Command, { kind: 'delete-bucket' }>
  records.push([kind, audit.resource, audit.metadata, rest.intent])
  if (rest.bucket === 'gone') throw new DomainError('bucket-not-found', 'gone')
  if (rest.bucket === 'failing') throw new DomainError('command-failed', 'delete-bucket')
  return { sequence: sequenceOf(7), timeMicroseconds: microsecondsOf(0) }
}

const engine: EngineClient = {
  execute,
  record: (audit, result, intent) => {
    if (isDown) throw new EngineUnavailableError('down')
    records.push([result, audit.resource, audit.metadata, intent])
    return undefined
  },
  recordFailedChange: (audit, result, details) => {
    if (isDown) throw new EngineUnavailableError('down')
    records.push([`attempted, ${result}`, audit.resource, details])
    return undefined
  },
}

const gate = new ConcurrencyGate({ operationsMaximum: 1, queueMaximum: 1, waitMillisecondsMaximum: 10_000 })
let count = 0
const handler = (http: HttpRequest) => new ShareDialect(http, `id-${++count}`, engine, gate).run()
const listener = await listen({ host: '127.0.0.1', port: 0, handler })
tap.teardown(() => listener.close(2000))

async function open(path: string, init: RequestInit = {}) {
  const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, init)
  return [answer.status, await answer.text(), answer.headers.get('x-request-id')?.startsWith('id-') ?? false]
}

tap.beforeEach(() => {
  for (const list of [records, faults, sent]) list.length = 0
})

const POST = { method: 'POST' }

test('an answer at once needs no promise, and has one record', async (t) => {
  const http: Partial<HttpRequest> = {
    method: 'GET',
    path: '/s/text',
    header: () => undefined,
    remoteAddress: '10.0.0.1',
  }
  t.match(new ShareDialect(http as HttpRequest, 'id-0', engine, gate).run(), { status: 200, body: 'at once' })
  t.same(await open('/s/text'), [200, 'at once', true])
  const record = ['success', 'share:text', ['status', 200], undefined]
  t.same(records, [record, record])
  t.same(sent, [
    [200, 7],
    [200, 7],
  ])
})

test('what is not recorded at all', async (t) => {
  t.same(await open('/health'), [200, 'healthy', true])
  t.same(await open('/elsewhere'), [404, 'not a link', true])
  t.same(records, [])
})

test('refusals are recorded with as much as was known', async (t) => {
  t.same(await open('/s/none'), [404, 'no such link', true])
  t.same(await open('/s/text', { headers: { 'x-password': 'wrong' } }), [403, 'wrong password', true])
  t.same(records, [
    ['failure', 'share:none', ['status', 404, 'error', 'share-404'], undefined],
    ['denied', 'share:text', ['status', 403, 'error', 'share-403'], undefined],
  ])
  t.same(faults, [])
})

test('a stream is over when it is closed', async (t) => {
  t.same(await open('/s/stream'), [200, 'onetwo', true])
  t.same(sent, [[200, 6]])
  await t.rejects(open('/s/broken-stream'))
  t.match(faults, [{ message: 'torn' }])
  t.same(sent[1], [200, 3])
})

test('a bug is a fault, and says nothing of itself', async (t) => {
  t.same(await open('/s/bug'), [503, 'out of order', true])
  t.match(faults, [{ message: 'canary' }])
  t.same(records, [['failure', 'share:bug', ['status', 503, 'error', 'share-503'], undefined]])
})

test('the engine records what it carries out and what it refuses', async (t) => {
  t.same(await open('/s/remove', POST), [204, '', true])
  t.same(await open('/s/remove-twice', POST), [503, 'The specified bucket does not exist.', true])
  t.same(records, [
    ['delete-bucket', 'share:remove', ['of', 'there'], undefined],
    ['delete-bucket', 'share:remove-twice', ['of', 'gone'], undefined],
  ])
  t.same(faults, [])
  t.same(await open('/s/remove-badly', POST), [503, 'out of order', true])
  t.match(faults, [{ message: 'the engine failed at a command: delete-bucket' }])
  t.equal(records.length, 3)
})

test('a change that fails before it is tried has an attempt too', async (t) => {
  t.same(await open('/s/bug', POST), [503, 'out of order', true])
  t.same(await open('/s/upload', POST), [400, 'short', true])
  t.same(records, [
    ['attempted, failure', 'share:bug', ['status', 503, 'error', 'share-503']],
    ['record-attempt', 'share:upload', ['size', 3], undefined],
    ['failure', 'share:upload', ['status', 400, 'error', 'share-400'], 7],
  ])
})

test('a full gate', async (t) => {
  const inside = open('/s/slow')
  while (gate.active === 0) await setTimeout(1)
  const waiting = open('/s/text')
  while (gate.queued === 0) await setTimeout(1)
  const [status] = await open('/s/text')
  t.equal(status, 503)
  t.same(await open('/health'), [200, 'healthy', true], 'some pass without it')
  release()
  t.same(await inside, [200, 'slow', true])
  t.same(await waiting, [200, 'at once', true])
  t.same(
    records.map(([result]) => result),
    ['failure', 'success', 'success'],
  )
})

test('an answer without a record is no answer', async (t) => {
  isDown = true
  t.teardown(() => {
    isDown = false
  })
  t.same(await open('/s/stream'), [503, 'no record', true])
  t.same(await open('/s/text'), [503, 'no record', true])
  t.same(await open('/s/nothing'), [503, 'no record', true], 'a refusal is recorded as well')
  t.same(await open('/s/remove', POST), [503, 'out of order', true], 'the answer that says what came of it stays')
})

test('an answer that another owner needs the room for is cut off, the oldest of whoever has most', async (t) => {
  const evicted: string[] = []
  const most = heldAnswers.take('greedy', heldAnswers.capacity - 100, () => evicted.push('oldest'))
  const rest = heldAnswers.take('greedy', 100, () => evicted.push('next'))
  t.match(await open('/s/long'), [200, /^longlong/])
  t.same(evicted, ['oldest'])
  most?.leave()
  rest?.leave()
  t.equal(heldAnswers.used, 0, 'what is read is not held')
})

test('a long answer is refused where there is no room, a short one is not', async (t) => {
  const all = heldAnswers.take('others', heldAnswers.capacity)
  t.match(await open('/s/long'), [503])
  t.match(records, [['failure', 'share:long', ['status', 503, 'error', 'share-503']]])
  t.same(await open('/s/text'), [200, 'at once', true])
  t.match(await open('/s/long', POST), [200, /^longlong/], 'nor is that of a change')
  all?.leave()
  t.equal(heldAnswers.used, 0)
})

test('a refusal for want of room needs none, however long a dialect makes it', async (t) => {
  const all = heldAnswers.take('others', heldAnswers.capacity)
  const headers = { 'x-echo': 'yes' }
  const path = 'p'.repeat(10_000)
  t.same(await open(`/elsewhere/${path}`, { headers }), [503, '', true], 'to a stranger')
  t.same(await open(`/s/long?${path}`, { headers }), [503, '/s/long'.repeat(6), true])
  all?.leave()
  t.equal(heldAnswers.used, 0)
})

test('a long answer keeps its place in the gate until it is read or cut off', async (t) => {
  const client = connect(listener.port, '127.0.0.1').pause()
  client.write('GET /s/longest HTTP/1.1\r\nhost: a\r\n\r\n')
  while (heldAnswers.used === 0) await setTimeout(1)
  t.equal(gate.active, 1)
  const modest = heldAnswers.take('modest', heldAnswers.capacity / 2)
  t.ok(modest, 'room is made at its cost')
  while (gate.active > 0) await setTimeout(1)
  modest?.leave()
  const end = once(client, 'close')
  client.resume()
  await end
  t.equal(heldAnswers.used, 0)
})

test('everybody has left the gate', async (t) => {
  t.equal(gate.active, 0)
})
