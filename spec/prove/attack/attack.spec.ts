/** What the attack finds: breaches of every kind, secrets, and answers as they came. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'tap'
import { Random } from '../../support/random.ts'
import type { Arena } from './arena.ts'
import { Assault } from './assault.ts'
import { Canaries } from './canaries.ts'
import { Ledger } from './ledger.ts'
import { Lane, type Outcome } from '../../support/raw/lane.ts'
import { overLanes } from './over-lanes.ts'
import { speaker } from '../../support/raw/speaker.ts'

const SECRET = 'a-secret-that-nobody-may-see'
const HEX = '5a'.repeat(32)

function answer(status: number, body = '', ...lines: readonly string[]): string {
  const own = ['x-content-type-options: nosniff', 'x-amz-request-id: R', ...lines, `content-length: ${body.length}`]
  return `HTTP/1.1 ${status} What\r\n${own.join('\r\n')}\r\n\r\n${body}`
}

/** What is said, and what the attack must say of it. */
const BREACHES: readonly (readonly [said: string, kind: string, words: RegExp])[] = [
  [answer(500), 'wrong', /status 500/],
  [answer(507), 'wrong', /status 507/],
  [answer(403) + answer(200), 'wrong', /second answer/],
  [answer(403).replace('nosniff', 'sniff'), 'wrong', /lacks a header/],
  [answer(403).replace('x-amz-request-id: R', 'x-a: R'), 'wrong', /lacks a header/],
  [answer(403, `<Message>${SECRET}</Message>`), 'leaked', /secret is in the answer/],
  [answer(403, '', `x-debug: ${SECRET}`), 'leaked', /secret is in the answer/],
  [answer(403, `expected ${HEX}`), 'leaked', /signature is in the answer/],
  [answer(403, 'x'.repeat(4096)), 'wrong', /a refusal of 4\d+ bytes/],
  ['', 'wrong', /no answer/],
]

async function tried(port: number): Promise<{ readonly ledger: Ledger; readonly said: string[]; assault: Assault }> {
  const canaries = new Canaries()
  canaries.add('secret', SECRET)
  const said: string[] = []
  const ledger = new Ledger((line) => void said.push(line))
  const assault = new Assault({} as unknown as Arena, ledger, canaries, new Random(1))
  const lane = new Lane(port)
  const question = { name: 'the case', method: 'GET', bytes: 'GET /', mayChange: false, signatures: [HEX] }
  await assault.ask(lane, question)
  lane.close()
  return { ledger, said, assault }
}

test('each breach is found, and said with its case and its request', async (t) => {
  for (const [said, kind, words] of BREACHES) {
    const found = await tried(await speaker(t, said))
    t.match(found.said[0], words)
    t.ok(found.said[0]?.startsWith(`${kind}: the case: `))
    t.equal(found.said[1], '  sent: "GET /"')
    t.equal(found.ledger.faults, 1)
  }
})

test('an answer that is as it should be is no breach', async (t) => {
  for (const said of [
    answer(403),
    answer(501),
    answer(200, 'bytes'),
    'HTTP/1.1 431 Large\r\ncontent-length: 0\r\n\r\n',
  ]) {
    const { ledger, said: lines } = await tried(await speaker(t, said))
    t.same(lines, [])
    t.equal(ledger.requests, 1)
  }
  const { assault } = await tried(await speaker(t, answer(403)))
  t.same([...assault.asked], [['R', { name: 'the case', mayChange: false, isRecorded: true }]])
})

test('an area that tried nothing is a fault', (t) => {
  const said: string[] = []
  const ledger = new Ledger((line) => void said.push(line))
  ledger.tried('one', 3)
  t.equal(ledger.faults, 0)
  ledger.tried('other', 0)
  t.equal(ledger.count('wrong'), 1)
  t.same(said, ['wrong: other: tried nothing'])
  t.same(ledger.areas(), ['one: 3', 'other: 0'])
  for (let count = 0; count < 100; count += 1) ledger.fault('let in', 'many', 'x', 'y'.repeat(10_000))
  t.equal(ledger.count('let in'), 100, 'all are counted')
  t.ok(said.length < 50, 'and some are said')
  t.end()
})

const CANARY = 'a/secret+that-nobody-may-see'
const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const CANARY_HEX = '0f'.repeat(32)

function knownCanaries(): Canaries {
  const made = new Canaries()
  made.add('secret', CANARY)
  made.addBytes('key', KEY)
  made.addSignature(CANARY_HEX)
  return made
}

test('a secret is found however it is spelled', (t) => {
  const found = knownCanaries()
  const spellings: readonly (readonly [text: string, name: string])[] = [
    [`x${CANARY}x`, 'secret'],
    [Buffer.from(CANARY).toString('hex'), 'secret in hex'],
    [`?token=${encodeURIComponent(CANARY)}`, 'secret in a URL'],
    [Buffer.from(CANARY).toString('base64'), 'secret in base64'],
    [Buffer.from(`root:${CANARY}`).toString('base64'), 'secret in base64'],
    [Buffer.from(`user:${CANARY}`).toString('base64'), 'secret in base64'],
    [Buffer.from(`admin:${CANARY}\n`).toString('base64'), 'secret in base64'],
    [KEY.toString('latin1'), 'key in bytes'],
    [`"${KEY.toString('hex')}"`, 'key in hex'],
    [KEY.toString('base64'), 'key in base64'],
    [`<SignatureProvided>${CANARY_HEX}</SignatureProvided>`, 'a signature'],
  ]
  for (const [text, name] of spellings) t.equal(found.findIn(text), name, text)
  t.equal(found.findIn(`${CANARY.slice(1)} ${'0e'.repeat(32)}`), undefined)
  t.equal(found.signatures, 1)
  t.end()
})

test('a secret is found in a file', (t) => {
  const directory = t.testdir()
  mkdirSync(`${directory}/a/b`, { recursive: true })
  writeFileSync(`${directory}/a/b/clean`, 'nothing')
  writeFileSync(`${directory}/a/b/found`, Buffer.concat([Buffer.from([0xff, 0x00]), KEY]))
  t.same([...knownCanaries().findBelow(directory)], [[`${directory}/a/b/found`, 'key in bytes']])
  t.end()
})

function answerOf(outcome: Outcome) {
  if (outcome.answer === undefined) throw new Error(`no answer: ${outcome.received}`)
  return outcome.answer
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-request-id: R1\r\n\r\nok'

test('answers of every framing', async (t) => {
  const port = await speaker(
    t,
    OK,
    'HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n1c\r\n<E><Code>AccessDenied</Code>\r\n4\r\n</E>\r\n0\r\n\r\n',
    'HTTP/1.1 404 Not Found\r\nContent-Length: 40\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 31\r\n\r\n{"error":{"code":"FORBIDDEN"}}\n',
  )
  const lane = new Lane(port)
  t.match(answerOf(await lane.exchange('x', 'GET')), { status: 200, body: 'ok', requestId: 'R1', code: undefined })
  t.match(answerOf(await lane.exchange('x', 'GET')), { status: 403, code: 'AccessDenied' })
  t.match(answerOf(await lane.exchange('x', 'HEAD')), { status: 404, body: '' })
  const continued = answerOf(await lane.exchange('x', 'GET'))
  t.match(continued, { status: 401, reason: 'No', interim: [100], code: 'FORBIDDEN' })
  t.same(continued.lines, [['Content-Length', '31']])
  t.equal(lane.surplus, '')
  lane.close()
})

test('a long answer that comes in pieces is read to its end, and none is made of half a one', async (t) => {
  const chunk = `${(70_000).toString(16)}\r\n${'c'.repeat(70_000)}\r\n`
  const port = await speaker(
    t,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(50)}0\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n${'l'.repeat(3_000_000)}`,
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok',
  )
  const lane = new Lane(port)
  t.equal(answerOf(await lane.exchange('x', 'GET')).body.length, 3_500_000)
  t.equal(answerOf(await lane.exchange('x', 'GET')).body.length, 3_000_000)
  const half = lane.exchange('x', 'GET')
  while (!lane.surplus.endsWith('ok')) await new Promise((resolve) => setImmediate(resolve))
  lane.close()
  t.match(await half, { answer: undefined, ended: 'closed', received: /ok$/ })
})

test('a request on a connection of its own', async (t) => {
  const port = await speaker(t, OK, OK, OK)
  const lane = new Lane(port)
  t.equal(answerOf(await lane.exchange('x', 'GET')).body, 'ok')
  t.equal(answerOf(await lane.exchange('x', 'GET', { fresh: true })).body, 'ok')
  t.equal(answerOf(await lane.exchange('x', 'GET', { half: true })).body, 'ok', 'and half of one')
  lane.close()
})

test('a second answer is seen, and the end of a connection', async (t) => {
  const port = await speaker(t, OK + OK, '', '')
  const lane = new Lane(port)
  t.equal(answerOf(await lane.exchange('x', 'GET')).body, 'ok')
  t.equal(lane.surplus, OK)
  lane.close()
  t.match(await lane.exchange('x', 'GET'), { answer: undefined, ended: 'closed', received: '' })
  lane.close()
})

test('every item is worked on once', async (t) => {
  const port = await speaker(t, ...Array.from({ length: 10 }, () => OK))
  const done: number[] = []
  await overLanes(port, 3, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], async (lane, item) => {
    if (answerOf(await lane.exchange('x', 'GET')).status === 200) done.push(item)
  })
  t.same(
    done.toSorted((left, right) => left - right),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
})
