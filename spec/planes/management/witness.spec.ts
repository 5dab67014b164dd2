/** This store as a witness of other logs, over the wire (C2SP tlog-witness). */
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { readCheckpointNote, readSignatureLines } from '../../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureOf, readCosignerKey } from '../../../engine/checkpoints/cosignature.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { type ManagedServer, SYSTEM_TOKEN, startManaged } from '../../support/management-server.ts'
import { OtherLog } from '../../support/other-log.ts'

const ROUTE = '/api/v1/transparency/witness/add-checkpoint'
const log = new OtherLog('other.example/log')
const two = new OtherLog('two.example/log', { seed: 6 })
const twoAgain = new OtherLog('two.example/log', { seed: 7 })
const witnessFor = [log.vkey, two.vkey, twoAgain.vkey]
const server = await startManaged({ witnessFor })
tap.teardown(() => server.stop())

interface Answer {
  readonly status: number
  readonly text: string
  readonly type: string | null
}

async function submit(body: string | Buffer, to: ManagedServer = server): Promise<Answer> {
  const answer = await fetch(to.apiEndpoint + ROUTE, { method: 'POST', body: new Uint8Array(Buffer.from(body)) })
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') }
}

async function keyOf(to: ManagedServer = server) {
  const answer = await fetch(`${to.apiEndpoint}/api/v1/transparency/witness/key`, {
    headers: { authorization: `Bearer ${SYSTEM_TOKEN}` },
  })
  return readCosignerKey((await answer.text()).trimEnd())
}

const KEY = await keyOf()
await server.store.loop.drained()

/** Sequence of the last entry. */
function head(to: ManagedServer = server): number {
  return to.session.checkpoints.state().applied?.sequence ?? 0
}

function cosigns(answer: Answer, note: string): boolean {
  const { text } = readCheckpointNote(note)
  return cosignatureOf(text, readSignatureLines(answer.text), KEY) !== undefined
}

test('an empty checkpoint is cosigned before anything was seen, and nothing is recorded', async (t) => {
  const before = head()
  const answer = await submit(log.submission(0, 0))
  t.equal(answer.status, 200)
  t.ok(cosigns(answer, log.note(0)))
  t.equal((await submit(log.submission(0, 0, { note: log.note(0, Buffer.alloc(32)) }))).status, 422)
  t.equal(server.session.checkpoints.witnessed(log.origin), undefined)
  await server.store.loop.drained()
  t.equal(head() - before, 1, 'the refusal alone')
})

test('T9 a log grows: each tree extends the one before, is recorded once, and is cosigned', async (t) => {
  for (const [old, size] of [
    [0, 5],
    [5, 6],
    [6, 64],
    [64, 200],
  ] as const) {
    const before = head()
    const answer = await submit(log.submission(old, size))
    t.equal(answer.status, 200)
    t.match(answer.type, /^text\/plain/)
    t.ok(cosigns(answer, log.note(size)))
    t.notOk(cosigns(answer, log.note(size + 1)))
    t.equal(head() - before, 1, 'one entry, of the system')
    t.match(server.session.checkpoints.witnessed(log.origin), { size, root: log.root(size), sequence: head() })
  }
  t.match((await server.journal()).at(-1), {
    principal: 'system:checkpoints',
    operation: 'checkpoint.cosigned',
    sourceAddress: '127.0.0.1',
  })
  const before = head()
  const again = await submit(log.submission(200, 200))
  t.ok(again.status === 200 && cosigns(again, log.note(200)), 'the same again gets an answer')
  t.equal(head(), before, 'and no entry')
  const often = await Promise.all(Array.from({ length: 12 }, () => submit(log.submission(200, 200))))
  t.ok(
    often.every(({ text }) => text === often[0]?.text),
    'the same cosignature: nothing is signed again',
  )
  t.equal(head(), before)
})

test('a conflict has the size that was seen, and no record', async (t) => {
  const before = head()
  for (const [old, size] of [
    [0, 0],
    [0, 200],
    [64, 300],
    [201, 300],
    [0, 64],
  ] as const) {
    t.same(await submit(log.submission(old, size)), { status: 409, text: '200\n', type: 'text/x.tlog.size' })
  }
  t.equal(head(), before)
})

test('what is not right is refused in the order of the format, and recorded as of a stranger', async (t) => {
  const fork = new OtherLog(log.origin, { history: 'two' })
  const stranger = new OtherLog('stranger.example/log')
  const forged = new OtherLog(log.origin, { seed: 9 })
  const note = log.note(300)
  const both = `${log.note(300)}${new OtherLog(log.origin, { history: 'two' }).note(300).split('\n\n')[1]}`
  const cases: [string, string | Buffer, number][] = [
    ['nothing', '', 400],
    ['a note alone', note, 400],
    ['no old size', note.replace(/^/, '\n'), 400],
    ['an old size with a zero before it', log.submission(200, 300).replace('old 200', 'old 0200'), 400],
    ['64 hashes', log.submission(200, 300, { path: Array.from({ length: 64 }, () => Buffer.alloc(32)) }), 400],
    ['bytes that are not UTF-8', Buffer.from([0x6f, 0x6c, 0x64, 0x20, 0x30, 0x0a, 0x0a, 0xff, 0x0a]), 400],
    ['no signature', log.submission(200, 300, { note: `${note.split('\n\n')[0]}\n\n` }), 400],
    ['a log that is not witnessed', stranger.submission(0, 9), 404],
    ['a strange log with an old size above its own', stranger.submission(10, 9), 404],
    ['another key', forged.submission(200, 300), 403],
    ['another key, and an old size above its own', forged.submission(400, 300), 403],
    ['a good signature and a false one', log.submission(200, 300, { note: both }), 403],
    ['an old size above its own', log.submission(400, 300), 400],
    ['another root of the same size', fork.submission(200, 200), 422],
    ['a fork with its own proof', fork.submission(200, 300), 422],
    ['no proof', log.submission(200, 300, { path: [] }), 422],
    ['a proof too long', log.submission(200, 300, { path: [...log.path(200, 300), Buffer.alloc(32)] }), 422],
    ['a proof of the same tree', log.submission(200, 200, { path: [Buffer.alloc(32)] }), 422],
    ['a proof from nothing', two.submission(0, 9, { path: [Buffer.alloc(32)] }), 422],
    ['too long', `old 0\n\n${'x'.repeat(70_000)}`, 413],
  ]
  for (const [name, body, status] of cases) {
    const before = head()
    t.equal((await submit(body)).status, status, name)
    await server.store.loop.drained()
    t.equal(head() - before, 1, `${name}: one record`)
  }
  t.match(server.session.checkpoints.witnessed(log.origin), { size: 200 })
  t.equal(server.session.checkpoints.witnessed('two.example/log'), undefined)
})

test('a log may have two keys: either will do, and a false signature of one counts against the other', async (t) => {
  const second = `${two.note(4)}${twoAgain.note(4).split('\n\n')[1]}`
  t.equal((await submit(two.submission(0, 4, { note: second }))).status, 200)
  t.equal((await submit(twoAgain.submission(4, 9))).status, 200)
  t.same(server.session.checkpoints.witnessed(two.origin)?.publicKey, Uint8Array.from(twoAgain.key.publicKey))
  const false9 = twoAgain.note(9).split('\n\n')[1]
  t.equal((await submit(two.submission(9, 12, { note: `${two.note(12)}${false9}` }))).status, 403)
})

test('T9 of submissions beside each other exactly one wins, and nothing rolls back', async (t) => {
  const sizes = [210, 220, 230, 240, 250, 260]
  const answers = await Promise.all(sizes.map((size) => submit(log.submission(200, size))))
  t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409, 409])
  const won = sizes[answers.findIndex(({ status }) => status === 200)] ?? 0
  t.match(server.session.checkpoints.witnessed(log.origin), { size: won, root: log.root(won) })
  for (const { status, text } of answers) if (status === 409) t.equal(text, `${won}\n`)
})

test('what is witnessed is listed', async (t) => {
  const { api } = server
  t.match(await api.get('GET', '/transparency/witness/logs'), {
    logs: [
      { origin: log.origin, first_sequence: Number, current: true, cosigned_at: /Z$/ },
      { origin: two.origin, size: 9, current: true },
    ],
  })
  t.match(KEY, { name: `spec.witness/${server.store.deploymentId}/witness` })
})

test('entries of a witness are no reason for a checkpoint of its own log', async (t) => {
  let now = Date.now()
  const other = await startManaged({ witnessFor })
  const signing = signingOf({ ...other.store, paths: other.paths }, { intervalSeconds: 1, clock: () => now })
  await other.api.get('POST', '/buckets', { name: 'logs' })
  await signing.settle()
  const signed = signing.reader.last()?.size
  t.equal((await submit(log.submission(0, 7), other)).status, 200)
  t.equal((await submit(log.submission(7, 7), other)).status, 200)
  t.equal((await submit(log.submission(0, 0), other)).status, 409)
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
  t.equal(signing.reader.last()?.size, signed)
  t.equal((await submit('nothing', other)).status, 400, 'a refusal is recorded, and is a reason')
  await other.store.loop.drained()
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
  t.not(signing.reader.last()?.size, signed)
  await signing.close()
  await other.stop()
})

test('after a crash and after a replay of the whole journal the witness knows what it has seen', async (t) => {
  const place = t.testdir()
  const first = await startManaged({ witnessFor, dataDirectory: place })
  t.equal((await submit(log.submission(0, 70), first)).status, 200)
  const seen = first.session.checkpoints.witnessed(log.origin)
  const key = await keyOf(first)
  await first.abandon()
  rmSync(first.paths.projections, { recursive: true })
  const second = await startManaged({ witnessFor, dataDirectory: place })
  t.same(second.session.checkpoints.witnessed(log.origin), seen)
  t.same(await keyOf(second), key)
  t.same((await submit(log.submission(0, 80), second)).text, '70\n')
  t.equal((await submit(log.submission(70, 80), second)).status, 200)
  await second.stop()
  const report = await verifyJournal(second.paths.journal, { threads: 0, settleMilliseconds: 0 })
  t.match(report, { intact: true, notes: [] })
})

test('a store that witnesses nobody has no such route, and records nothing of strangers who ask', async (t) => {
  const off = await startManaged()
  const before = head(off)
  t.match(await submit(log.submission(0, 5), off), {
    status: 404,
    text: /LOG_NOT_WITNESSED.*checkpoints\.witness_for/s,
  })
  await off.store.loop.drained()
  t.equal(head(off), before)
  t.same(await off.api.get('GET', '/transparency/witness/logs'), { logs: [] })
  await off.stop()
})
