/** Time stamps of checkpoints from an authority, and every way in which it does not give one. */
import { rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { millisecondsOf } from '../../engine/brands.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { nonceOf, timeStampRequest } from '../../engine/checkpoints/time-stamp.ts'
import { CheckpointPublication, timeStampRequirement } from '../../workers/checkpoints/publish-checkpoints.ts'
import { CheckpointTimeStamps } from '../../workers/checkpoints/time-stamp-checkpoints.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { createBucket } from '../support/commands.ts'
import { openTestStore } from '../support/test-store.ts'
import { timeStampAuthority } from '../support/time-stamp-authority.ts'
import { temporaryDirectory } from '../support/test-clients.ts'

const ownDirectory = temporaryDirectory()
tap.teardown(() => rmSync(ownDirectory, { recursive: true }))
const authority = timeStampAuthority(join(ownDirectory, 'tsa'))

/** What the authority does with the next question. */
type Answer = (question: Buffer, response: ServerResponse) => void

function reply(response: ServerResponse, body: Uint8Array): void {
  response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(body)
}

function over(root: Uint8Array): Buffer {
  return authority.answer(timeStampRequest(root, nonceOf(Buffer.alloc(8, 1))))
}

const honest: Answer = (question, response) => reply(response, authority.answer(question))

async function listening(answer: () => Answer): Promise<Server> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => answer()(Buffer.concat(pieces), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function world(root: string, mode: 'best-effort' | 'required') {
  let [now, timer] = [Date.UTC(2026, 0, 1), 0]
  let answer = honest
  const server = await listening(() => answer)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsr`
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now, withholds: () => mode === 'required' })
  const requirements = mode === 'required' ? [timeStampRequirement(signing.reader)] : []
  const publication = new CheckpointPublication(store.client, signing.reader, requirements)
  const failures: string[] = []
  const begin = (timeoutMilliseconds = 20_000) =>
    new CheckpointTimeStamps(store.client, signing.reader, {
      mode,
      url,
      timeoutMilliseconds,
      othersVouch: false,
      clock: () => millisecondsOf(now),
      timer: () => timer,
      onFailure: (error) => void failures.push(String((error as Error).message)),
    })
  /** Steps until something came of the attempt, and publishes what may be. */
  const attempt = async (worker: CheckpointTimeStamps) => {
    const before = [failures.length, signing.reader.receiptsOf(signing.reader.state().last?.size ?? 0).length]
    timer += 3_600_000
    await worker.step()
    for (;;) {
      const after = [failures.length, signing.reader.receiptsOf(signing.reader.state().last?.size ?? 0).length]
      if (after.some((count, at) => count !== before[at])) break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await publication.step()
  }
  return {
    store,
    publication,
    signing,
    failures,
    begin,
    attempt,
    server,
    set answer(next: Answer) {
      answer = next
    },
    pass: (milliseconds: number) => void (now += milliseconds),
    async close() {
      server.closeAllConnections()
      server.close()
      await signing.close()
      await store.close(true)
    },
  }
}

test('a checkpoint gets a time stamp that openssl accepts, and its age without one is told', async (t) => {
  const { store, signing, begin, attempt, pass, failures, close } = await world(t.testdir(), 'best-effort')
  const worker = begin()
  t.equal(await worker.step(), 'idle', 'there is no checkpoint')
  await signing.settle()
  t.equal(signing.reader.last()?.size, signing.reader.state().last?.size, 'it is shown at once')
  pass(90_000)
  t.equal(Math.round(worker.facts.unanchoredSeconds ?? -1), 90)
  await attempt(worker)
  const { size, bundleRoot } = signing.reader.last() as CheckpointState
  const [receipt] = signing.reader.receiptsOf(size)
  t.match(receipt, { kind: 'rfc3161', giver: /^http:\/\/127\.0\.0\.1/, assertedMicroseconds: Number })
  t.ok(authority.verify(receipt?.receipt ?? Buffer.alloc(0), bundleRoot))
  t.notOk(authority.verify(receipt?.receipt ?? Buffer.alloc(0), Buffer.alloc(32)))
  t.same([worker.facts, failures], [{ failures: 0, unanchoredSeconds: 0 }, []])
  await store.client.execute(createBucket('one'))
  pass(60_000)
  await signing.settle()
  pass(5000)
  t.equal(Math.round(worker.facts.unanchoredSeconds ?? -1), 5, 'the next one has none yet')
  await worker.close()
  await close()
})

test('an authority that refuses, lies, or answers with anything else gets nothing kept; the next attempt does', async (t) => {
  const all = await world(t.testdir(), 'required')
  const { signing, begin, attempt, failures } = all
  const worker = begin()
  await signing.settle()
  const size = signing.reader.state().last?.size as number
  const root = signing.reader.state().last?.bundleRoot as Uint8Array
  const cases: readonly (readonly [Answer, RegExp])[] = [
    [(_, response) => reply(response, over(Buffer.alloc(32, 1))), /something else than the root/],
    [(_, response) => reply(response, over(root)), /nonce/],
    [(_, response) => reply(response, Buffer.from('30053003020102', 'hex')), /refused: rejection/],
    [(_, response) => reply(response, Buffer.from('no')), /not a time stamp/],
    [(_, response) => reply(response, Buffer.alloc(70_000)), /longer than 65536 bytes/],
    [(_, response) => response.writeHead(500).end(), /HTTP 500/],
    [(_, response) => response.writeHead(302, { location: '/elsewhere' }).end(), /HTTP 302/],
    [(question, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(question), /text\/html/],
    [(_, response) => response.destroy(), /hang up|ECONNRESET|aborted/],
    [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/timestamp-reply', 'content-length': 100 }).write('0')
        response.destroy()
      },
      /aborted|ECONNRESET|hang up/,
    ],
  ]
  for (const [answer, message] of cases) {
    all.answer = answer
    await attempt(worker)
    t.match(failures.at(-1), message)
  }
  t.equal(worker.facts.failures, cases.length)
  t.same(signing.reader.receiptsOf(size), [])
  t.equal(signing.reader.last(), undefined, 'required: nothing is shown without a time stamp')
  all.answer = honest
  await attempt(worker)
  t.equal(signing.reader.last()?.size, size, 'and now it is')
  t.equal(signing.reader.state().withheld, undefined)
  await worker.close()
  await all.close()
})

test('an authority that is slow, or not there, holds up nobody; a stop does not wait for it', async (t) => {
  const all = await world(t.testdir(), 'required')
  const { signing, begin, attempt, failures, store, pass, server } = all
  await signing.settle()
  all.answer = () => undefined
  const impatient = begin(30)
  await attempt(impatient)
  t.match(failures.at(-1), /no answer within/)
  await impatient.close()
  const patient = begin()
  await patient.step()
  await store.client.execute(createBucket('meanwhile'))
  pass(3_600_000)
  await signing.settle()
  t.equal(await patient.step(), 'idle', 'one request is on its way')
  await patient.close()
  t.equal(failures.length, 1, 'that was given up is no failure of the authority')
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const refused = begin()
  await attempt(refused)
  t.match(failures.at(-1), /ECONNREFUSED/)
  t.equal(signing.reader.last(), undefined)
  await refused.close()
  await all.close()
})

test('a stop between the receipt and the publication: the next start publishes', async (t) => {
  const { signing, publication, store, close } = await world(t.testdir(), 'required')
  await signing.settle()
  const last = signing.reader.state().last as CheckpointState
  const receipt = authority.answer(timeStampRequest(last.bundleRoot, undefined))
  await store.client.execute({
    kind: 'record-receipt',
    audit: {
      principal: 'system:checkpoints',
      credentialId: undefined,
      sourceAddress: undefined,
      requestId: undefined,
      operation: 'checkpoint.receipt',
      resource: 'log',
      metadata: [],
    },
    receipt: { size: last.size, kind: 'rfc3161', giver: 'x', receipt, assertedMicroseconds: undefined },
  })
  t.equal(signing.reader.last(), undefined)
  await publication.step()
  t.equal(signing.reader.last()?.size, last.size)
  await close()
})
