/** The parts of the proof `crowd` that judge: numbers that are known, and a server that fails its good clients. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { startBadClients } from './bad-clients.ts'
import { type GoodClient, goOn, judge, percentile, type Seen } from './good-clients.ts'
import { untilKnown } from './multipart-kinds.ts'
import { requestText } from '../../support/raw/request-text.ts'
import { sendAll } from './send-all.ts'
import { type ServerGauges, STRANGERS_JOURNAL_MEBIBYTES, tryCrowd } from './trial.ts'

const GOOD: GoodClient = {
  name: 'GET',
  ask: async () => 200,
  count: 1,
  pauseMilliseconds: 1,
  percent: 99,
  millisecondsMaximum: 250,
}
const IDLE: ServerGauges = {
  seconds: () => 0,
  memoryMebibytes: () => 100,
  journalMebibytes: () => 7,
  inUse: async () => [],
}
/** Longer than any machine holds up a spec. */
const AGES = 60_000

function seen(...milliseconds: number[]): Seen {
  return { milliseconds, failures: [] }
}

/** Once, without much patience. */
function asked(ask: GoodClient['ask']): Promise<Seen> {
  return goOn({ ...GOOD, ask }, 20, () => true)
}

test('so many of a hundred', (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  t.equal(percentile(hundred, 99), 99)
  t.equal(percentile(hundred, 100), 100)
  t.equal(percentile([7], 99), 7)
  t.equal(percentile([1, 2, 3], 50), 2)
  t.equal(percentile([], 99), Number.POSITIVE_INFINITY, 'nothing seen is not fast')
  t.end()
})

test('what is good enough', (t) => {
  const fast = Array.from({ length: 198 }, () => 3)
  t.same(judge(GOOD, seen(...fast, 900, 900), 1), [], 'two of two hundred may be late')
  t.same(judge(GOOD, seen(...fast, 900, 900, 900), 1), ['GET took 900 ms, 250 are allowed'])
  t.same(judge(GOOD, seen(250), 1), [])
  t.same(judge({ ...GOOD, percent: 100 }, seen(...fast, 251), 1), ['GET took 251 ms, 250 are allowed'])
  t.match(judge(GOOD, seen(), 1), [/took Infinity ms/])
  t.same(judge(GOOD, { milliseconds: [1, 1], failures: ['status 503'] }, 1), ['GET failed 1 of 2 times: status 503'])
  t.end()
})

test('an answer that is refused, broken off or never comes is a failure', async (t) => {
  t.same((await asked(async () => 200)).failures, [])
  t.same((await asked(async () => 503)).failures, ['status 503'])
  t.same((await asked(() => Promise.reject(new Error('reset')))).failures, ['Error: reset'])
  t.same((await asked(() => new Promise(() => {}))).failures, ['status none'])
})

/** Answers at once, but not as soon as somebody has asked for `/bad`: then it does to a good client what `then` says. */
function slowFor(then: (answer: (status?: number) => void) => void): Server {
  let isSlow = false
  const server = createServer((request, response) => {
    const answer = (status = 200) => response.writeHead(status).end()
    if (request.url !== '/good') {
      isSlow ||= request.url === '/bad'
      answer()
      server.emit('bad client')
    } else if (isSlow) then(answer)
    else answer()
  })
  return server
}

/** Three times what `then` does, and then an answer at once. */
function thrice(then: (answer: (status?: number) => void) => void): typeof then {
  let left = 3
  return (answer) => (left-- > 0 ? then(answer) : answer())
}

const CROWDS: readonly (readonly [name: string, server: Server, bad: string, wrong: readonly RegExp[]])[] = [
  ['one that lets nobody wait', slowFor((answer) => answer()), '/bad', []],
  ['one that makes others wait', slowFor((answer) => setTimeout(answer, 300)), '/bad', [/GET took/]],
  ['one that answers others never', slowFor(() => {}), '/bad', [/GET took/, /GET failed . of . times: status none/]],
  ['one that computes digests of others later', slowFor(thrice((answer) => answer(409))), '/bad', []],
  [
    'one that computes digests of others never',
    slowFor((answer) => answer(409)),
    '/bad',
    [/GET took/, /GET failed . of . times: status none/],
  ],
  ['another kind, for which it is not slow', slowFor(() => {}), '/other', []],
]

test('a server that is slow while one kind of bad client is there is found, and only then', async (t) => {
  for (const [name, server, path, wrong] of CROWDS) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ask = () => untilKnown(() => fetch(`http://127.0.0.1:${port}/good`).then(({ status }) => status))
    const first = `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
    const came = once(server, 'bad client')
    const startBad = async () => {
      const clients = await startBadClients([{ port, connections: 2, first, reads: false, comesAfterMilliseconds: 1 }])
      await came
      return clients
    }
    const outcome = await tryCrowd({
      goods: [{ ...GOOD, ask, millisecondsMaximum: wrong.length === 0 ? AGES : 250 }],
      startBad,
      leadMilliseconds: 0,
      restMilliseconds: 0,
      milliseconds: 0,
      patienceMilliseconds: wrong.length === 0 ? AGES : 1000,
      journalMebibytesMaximum: STRANGERS_JOURNAL_MEBIBYTES,
      server: IDLE,
      slowness: () => 1,
    })
    t.match(outcome.wrong, wrong, name)
    t.equal(outcome.wrong.length, wrong.length, name)
    server.closeAllConnections()
    server.close()
  }
})

function getText(path: string): string {
  return requestText('GET', path, ['host: a'])
}

test('requests that are prepared for a try are all answered with 200', async (t) => {
  const urls: string[] = []
  const server = createServer(({ url = '' }, response) => {
    urls.push(url)
    response.writeHead(url === '/refused' ? 503 : 200).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
  await sendAll(port, paths.map(getText))
  t.same(urls.toSorted(), paths.toSorted())
  await t.rejects(sendAll(port, ['/0', '/refused'].map(getText)), { message: /^\/refused was answered 503/ })
  server.closeAllConnections()
  server.close()
})

test('bad clients that are gone before the end have tried nothing', async (t) => {
  const trial = {
    goods: [GOOD],
    startBad: async () => ({
      processorSeconds: () => 0,
      stop: () => Promise.reject(new Error('the bad clients ended by themselves')),
    }),
    leadMilliseconds: 0,
    restMilliseconds: 0,
    milliseconds: 0,
    patienceMilliseconds: AGES,
    journalMebibytesMaximum: STRANGERS_JOURNAL_MEBIBYTES,
    server: IDLE,
    slowness: () => 1,
  }
  await t.rejects(tryCrowd(trial), /ended by themselves/)
})

test('a server whose memory or journal grows too much beside bad clients is found', async (t) => {
  let [looks, written] = [0, 0]
  const outcome = await tryCrowd({
    goods: [{ ...GOOD, millisecondsMaximum: AGES }],
    startBad: async () => ({ processorSeconds: () => 0, stop: async () => {} }),
    leadMilliseconds: 0,
    restMilliseconds: 0,
    milliseconds: 0,
    patienceMilliseconds: AGES,
    journalMebibytesMaximum: STRANGERS_JOURNAL_MEBIBYTES,
    slowness: () => 1,
    server: {
      seconds: () => 0,
      memoryMebibytes: () => (looks++ === 0 ? 100 : 613),
      journalMebibytes: () => 1e6 * written++,
      inUse: async () => [],
    },
  })
  t.match(outcome.wrong, [
    /^memory grew by 513.00 MiB, 512 are allowed$/,
    /^journal grew by .* MiB a second, 1 are allowed$/,
  ])
  t.equal(outcome.wrong.length, 2)
})

test('places that nobody gives back are found, and those that come back are not', async (t) => {
  const readings = [['held-answers: 7'], ['held-answers: 7'], []]
  const trialWith = (inUse: ServerGauges['inUse'], patienceMilliseconds: number) => ({
    goods: [{ ...GOOD, millisecondsMaximum: AGES }],
    startBad: async () => ({ processorSeconds: () => 0, stop: async () => {} }),
    leadMilliseconds: 0,
    restMilliseconds: 0,
    milliseconds: 0,
    patienceMilliseconds,
    journalMebibytesMaximum: STRANGERS_JOURNAL_MEBIBYTES,
    server: { ...IDLE, inUse },
    slowness: () => 1,
  })
  t.same((await tryCrowd(trialWith(async () => readings.shift() ?? [], AGES))).wrong, [])
  const { wrong } = await tryCrowd(trialWith(async () => ['held-answers: 7'], 300))
  t.same(wrong, ['held-answers: 7, though the bad clients are gone'])
})
