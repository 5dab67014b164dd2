/**
 * Readiness is that of requests: threads that do not answer, and what a server does not do while it is ready.
 * Proves: API-PRO-01, API-PRO-02, API-PRO-03, EVT-AUD-08, ERR-OTH-02.
 */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import tap, { test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { DEGRADATION_REASONS, type DegradationSources, degradations, detailOf } from '../../cli/server/degradations.ts'
import { Readiness, type ReadinessParts } from '../../cli/server/readiness.ts'
import { FrontEndWatch } from '../../cli/server/threads/front-end-watch.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { degradationNames } from '../../planes/metrics/metric-table.ts'
import { startProcess } from '../support/server-process.ts'

const PRELOAD = new URL('../../../spec/support/stuck-thread.mjs', import.meta.url)

tap.setTimeout(120_000)

async function ready(endpoint: string) {
  const response = await fetch(`${endpoint}/ready`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('threads that do not answer: 503 within the deadline, recovery, and the end of a server whose front end is stuck', async (t) => {
  const file = join(t.testdir(), 'stuck')
  const environment = { NODE_OPTIONS: `--import=${PRELOAD.href}`, STUCK_FILE: file }
  const server = await startProcess({ dataDirectory: join(t.testdirName, 'data'), environment })
  t.teardown(() => server.kill9())
  const ended = once(server.process, 'exit')
  const until = async (status: number) => {
    for (let tries = 0; tries < 100; tries += 1) {
      const found = await ready(server.apiEndpoint)
      if (found.status === status) return found.body
      await pause(50)
    }
    throw new Error(`/ready never answered ${status}`)
  }
  t.same(await until(200), { status: 'ready' })
  writeFileSync(file, 'engine')
  t.same(await until(503), {
    status: 'not_ready',
    failing: [{ name: 'engine', reason: 'the engine does not answer' }],
  })
  rmSync(file)
  t.same(await until(200), { status: 'ready' })
  writeFileSync(file, 'front-end-0')
  t.same(await until(503), {
    status: 'not_ready',
    failing: [{ name: 'front-end-0', reason: 'the front end does not answer' }],
  })
  t.equal((await fetch(`${server.apiEndpoint}/health`)).status, 200)
  rmSync(file)
  t.same(await until(200), { status: 'ready' }, 'a front end that comes back in time ends nothing')
  writeFileSync(file, 'front-end-0')
  const [exitCode, signal] = (await ended) as [number | null, string | null]
  // The exit of the C library can fault beside threads that still run: then the end is one by a signal (decision 0179).
  t.ok(exitCode === exitTable.frontEndStuck.code || signal === 'SIGSEGV', `${exitCode} ${signal}`)
  t.match(server.log.join('\n'), /"level":"fatal".*front-end-0 has not answered for 10 seconds/)
  rmSync(file)
  const again = await startProcess({ dataDirectory: server.dataDirectory })
  t.teardown(() => again.kill9())
  t.notMatch(again.log.join('\n'), /cut off and saved/, 'the journal was closed')
})

test('a full disk degrades: uploads are refused, and the rest is served', async (t) => {
  const environment = { OBJECT_STORE_STORAGE_RESERVED_MIB: '1048576' }
  const server = await startProcess({ dataDirectory: t.testdir(), environment })
  t.teardown(() => server.kill9())
  const { status, body } = await ready(server.apiEndpoint)
  t.equal(status, 200)
  t.same(body, { status: 'ready', degraded: [{ name: 'uploads', reason: DEGRADATION_REASONS.uploads }] })
  const metrics = await fetch(`${server.apiEndpoint}/metrics`, {
    headers: { authorization: `Bearer ${server.scrapeToken}` },
  })
  const text = await metrics.text()
  t.match(text, 'object_store_degraded{reason="uploads"} 1\n')
  t.match(text, 'object_store_degraded{reason="clock"} 0\n')
})

test('everything that degrades, and that it is over', (t) => {
  const state = {
    isBelowReserve: false,
    room: 'everything',
    damage: 0,
    met: false,
    row: undefined,
    now: 1000,
    refusal: false,
    chain: undefined,
  }
  const snapshot = {
    journalMilliseconds: () => 1000,
    journalSequence: () => 0,
    scrub: () => ({ damage: Array.from({ length: state.damage }) }),
  }
  const sources = {
    engine: {
      get roomFor() {
        return state.room
      },
    },
    store: { space: state, catalog: { snapshot: () => snapshot } },
    checkpointFacts: () => ({ refusal: state.refusal ? 'why' : undefined }),
    chain: () => ({ whole: state.chain }),
    hasMetDamage: () => state.met,
    damagedRow: () => state.row,
    clock: () => millisecondsOf(state.now),
    clockToleranceSeconds: 5,
  } as unknown as DegradationSources
  const sound = { ...state }
  const found = new Set<string>()
  for (const [change, expected] of [
    [{ isBelowReserve: true }, ['uploads']],
    [{ room: 'changes' }, ['records']],
    [{ room: 'nothing' }, ['records', 'changes']],
    [{ damage: 1 }, ['scrub']],
    [{ met: true }, ['journal']],
    [{ row: 'table objects, key 0061' }, ['projections']],
    [{ chain: { problem: {} } }, ['journal']],
    [{ chain: { problem: undefined } }, []],
    [{ now: -4001 }, ['clock']],
    [{ now: -4000 }, []],
    [{ refusal: true }, ['checkpoints']],
  ] as const) {
    Object.assign(state, change)
    t.same(degradations(sources), expected)
    for (const name of expected) found.add(name)
    Object.assign(state, sound)
    t.same(degradations(sources), [])
  }
  t.same(found, new Set(degradationNames))
  Object.assign(state, { row: 'table objects, key 0061' })
  t.equal(detailOf('projections', sources), 'table objects, key 0061')
  t.equal(detailOf('scrub', sources), undefined)
  t.end()
})

test('many questions are one, and a disk that hangs is asked once', async (t) => {
  let asked = 0
  let directories = 0
  let answer: ((problem: string | undefined) => void) | undefined
  const parts = {
    engine: { healthy: true, ask: () => new Promise((resolve) => (answer = resolve)) },
    frontEnds: {
      get threads() {
        asked += 1
        return [{ name: 'front-end-0', ask: async () => 'the front end cannot read the catalog' }]
      },
    },
    store: {
      catalog: {
        snapshot: () => {
          throw new Error('no catalog')
        },
      },
      events: { beginning: 1 },
      paths: {
        get journal() {
          directories += 1
          return t.testdirName
        },
      },
    },
    isSharing: false,
    isStopping: () => false,
  } as unknown as ReadinessParts
  const readiness = new Readiness(parts, 50)
  const first = readiness.check()
  const second = readiness.check()
  answer?.(undefined)
  t.equal(await first, await second)
  t.equal(asked, 1)
  t.equal(directories, 1)
  const failing = (await readiness.check()).filter((check) => !check.ready).map(({ name, reason }) => [name, reason])
  t.same(failing, [
    ['metadata', 'the catalog cannot be read'],
    ['engine', 'the engine does not answer'],
    ['front-end-0', 'the front end cannot read the catalog'],
    ['object storage', 'a directory of the store is missing'],
  ])
})

test('looks at a front end are counted, and an answer begins anew', async (t) => {
  let answer: (() => void) | undefined
  const stuck: [string, number][] = []
  const frontEnd = {
    name: 'front-end-3',
    ask: () => new Promise<undefined>((resolve) => (answer = () => resolve(undefined))),
  }
  const watch = new FrontEndWatch(
    () => [frontEnd],
    (name, seconds) => stuck.push([name, seconds]),
    { lookMilliseconds: 3_600_000, looksMaximum: 3 },
  )
  t.teardown(() => watch.stop())
  for (let round = 0; round < 3; round += 1) {
    watch.look()
    watch.look()
    watch.look()
    answer?.()
    await pause(0)
  }
  t.same(stuck, [], 'asked, and two looks without an answer')
  for (let look = 0; look < 4; look += 1) watch.look()
  t.same(stuck, [['front-end-3', 10_800]])
})
