import { test } from 'tap'
import { Random } from '../../support/random.ts'
import type { Arena } from './arena.ts'
import { Assault } from './assault.ts'
import { Canaries } from './canaries.ts'
import { Ledger } from './ledger.ts'
import { Lane } from './raw-exchange.ts'
import { speaker } from './speaker.ts'

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
