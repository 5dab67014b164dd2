/**
 * A host clock that jumps, under a running server and between two of them (decision 0019).
 * Proves: STA-LCK-09.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { SteppedClock } from '../support/stepped-clock.ts'
import { BYPASS, DAY, LOCK_HEADER, lockLines, type WireLock } from '../support/wire-locks.ts'
import type { WireAnswer } from '../support/wire-client.ts'

const BUCKET = 'clocks'
const YEAR = 365 * DAY
const STEPS = { back: -30 * DAY, forward: 10 * YEAR } as const
const FAR = '2999-01-01T00:00:00.000Z'
/** How long the retention is that passes while the clock is right. */
const MOMENT = 2000
const HELD = { status: 403, code: 'AccessDenied' }
/** What would release a retention while the clock is behind the journal. */
const SUSPECT = { status: 503, code: 'ServiceUnavailable' }

/** A store whose server goes by a stepped clock, and clients that go by the same. */
class ClockStore {
  readonly clock: SteppedClock
  readonly dataDirectory: string
  server: ProcessServer | undefined
  readonly #t: Test

  constructor(t: Test) {
    this.#t = t
    const directory = t.testdir({ data: {} })
    this.clock = new SteppedClock(directory)
    this.dataDirectory = `${directory}/data`
  }

  async start(): Promise<void> {
    const environment = { ...this.clock.environment, OBJECT_STORE_OBJECT_LOCK_CLOCK_WATERMARK_INTERVAL_SECONDS: '1' }
    this.server = await startProcess({ dataDirectory: this.dataDirectory, environment })
    const { process } = this.server
    this.#t.teardown(() => process.kill('SIGKILL'))
  }

  async stop(): Promise<void> {
    this.#t.equal(await this.server?.terminate(), 0, 'the server stops in order')
    await this.server?.stop()
  }

  /** One request, signed for the time of the clock: a server that goes by another one refuses it. */
  async send(method: string, target: string, body = '', headers: readonly HeaderLine[] = []): Promise<WireAnswer> {
    if (this.server === undefined) throw new Error('no server runs')
    const now = this.clock.now()
    const answer = await this.server.wire.send(method, `/${BUCKET}${target}`, { body, headers, sign: { now } })
    if (answer.code === 'RequestTimeTooSkewed') throw new Error('the server does not go by the clock')
    return answer
  }

  /** Writes a version; gives its target in requests. */
  async put(key: string, lock: WireLock): Promise<string> {
    const { status, headers, text } = await this.send('PUT', `/${key}`, key, lockLines(lock))
    if (status !== 200) throw new Error(`${status} ${text}`)
    return `/${key}?versionId=${headers['x-amz-version-id']}`
  }

  remove(version: string, headers: readonly HeaderLine[] = []): Promise<WireAnswer> {
    return this.send('DELETE', version, '', headers)
  }

  retain(version: string, mode: string, until: string): Promise<WireAnswer> {
    const body = `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`
    return this.send('PUT', `${version}&retention`, body, [BYPASS])
  }
}

interface Versions {
  readonly compliance: string
  readonly governance: string
  readonly held: string
  /** Retained for some days. */
  readonly days: string
  /** Its retention has passed by the true clock. */
  readonly elapsed: string
}

async function lockedVersions(store: ClockStore): Promise<Versions> {
  const created = await store.send('PUT', '', '', [['x-amz-bucket-object-lock-enabled', 'true']])
  if (created.status !== 200) throw new Error(`${created.status} ${created.text}`)
  const until = (milliseconds: number) => new Date(store.clock.now() + milliseconds).toISOString()
  const versions = {
    compliance: await store.put('compliance', { mode: 'COMPLIANCE', until: FAR }),
    governance: await store.put('governance', { mode: 'GOVERNANCE', until: FAR }),
    held: await store.put('held', { hold: 'ON' }),
    days: await store.put('days', { mode: 'COMPLIANCE', until: until(15 * DAY) }),
    elapsed: await store.put('elapsed', { mode: 'COMPLIANCE', until: until(MOMENT) }),
  }
  await pause(MOMENT + 100)
  return versions
}

/** The server works, and everything locked is there with its lock. */
async function assertKept(t: Test, store: ClockStore, versions: Versions): Promise<void> {
  for (const [key, version] of Object.entries(versions)) {
    const { status, text, headers } = await store.send('GET', version)
    const isLocked = headers[LOCK_HEADER.until] !== undefined || headers[LOCK_HEADER.hold] !== undefined
    t.ok(status === 200 && text === key && isLocked, `${key} is there with its lock`)
  }
  const written = await store.send('PUT', '/unlocked', 'new')
  t.equal(written.status, 200, 'objects are written')
  const unlocked = `/unlocked?versionId=${written.headers['x-amz-version-id']}`
  t.equal((await store.remove(unlocked)).status, 204, 'and those without a lock removed')
}

/** Nothing that has a retention goes or gets a shorter one, whatever its date. */
async function assertSuspect(t: Test, store: ClockStore, versions: Versions): Promise<void> {
  t.match(await store.remove(versions.elapsed), SUSPECT, 'elapsed')
  t.match(await store.remove(versions.days), SUSPECT, 'days')
  t.match(await store.remove(versions.governance, [BYPASS]), SUSPECT, 'governance with a bypass')
  t.match(await store.retain(versions.governance, 'GOVERNANCE', '2998-01-01T00:00:00.000Z'), SUSPECT, 'shorter')
  t.ok((await store.remove(versions.compliance)).status >= 403, 'compliance')
  t.match(await store.remove(versions.held), HELD, 'held')
  await assertKept(t, store, versions)
}

/** No entry of the journal is earlier than the one before, and none is missing. */
async function assertJournal(t: Test, store: ClockStore): Promise<void> {
  const { intact, problems } = await verifyJournal(new StorePaths(store.dataDirectory).journal, { threads: 0 })
  t.same([intact, problems], [true, []])
  const entries = journalEntries(store.dataDirectory)
  const disordered = entries.filter(({ sequence, orderMicroseconds }, index) => {
    const before = entries[index - 1]
    return before !== undefined && (sequence <= before.sequence || orderMicroseconds < before.orderMicroseconds)
  })
  t.same(disordered, [], `${entries.length} entries, in the order of time and sequence`)
}

test('W1 W2 a clock that is set back 30 days releases nothing, under a server and across its restart', async (t) => {
  t.setTimeout(120_000)
  const store = new ClockStore(t)
  await store.start()
  const versions = await lockedVersions(store)
  store.clock.step(STEPS.back)
  await assertSuspect(t, store, versions)
  await store.stop()
  await store.start()
  await assertSuspect(t, store, versions)

  store.clock.step(0)
  await assertKept(t, store, versions)
  t.match(await store.remove(versions.days), HELD, 'what is retained stays so')
  t.equal((await store.remove(versions.elapsed)).status, 204, 'what has elapsed goes when the clock is right again')
  await store.stop()
  await assertJournal(t, store)
})

test('W1 W2 a clock that was ten years ahead for a while releases nothing afterwards', async (t) => {
  t.setTimeout(120_000)
  const store = new ClockStore(t)
  await store.start()
  const versions = await lockedVersions(store)
  store.clock.step(STEPS.forward)
  t.match(await store.remove(versions.compliance), HELD)
  t.match(await store.remove(versions.governance), HELD)
  t.match(await store.remove(versions.held), HELD)
  await assertKept(t, store, versions)

  store.clock.step(0)
  await assertSuspect(t, store, versions)
  await store.stop()
  await store.start()
  await assertSuspect(t, store, versions)
  await store.stop()

  store.clock.step(STEPS.forward)
  await store.start()
  t.match(await store.remove(versions.compliance), HELD, 'ahead again, across a restart')
  await assertKept(t, store, versions)
  await store.stop()
  await assertJournal(t, store)
  const last = journalEntries(store.dataDirectory).at(-1)
  t.ok(
    (last?.orderMicroseconds ?? 0) / 1000 > Date.now() + STEPS.forward - DAY,
    'the journal is ordered by the time it was told',
  )
})

test('W1 an idle server notes the time, also that of a clock that jumped ahead', async (t) => {
  t.setTimeout(120_000)
  const store = new ClockStore(t)
  await store.start()
  const versions = await lockedVersions(store)
  store.clock.step(STEPS.forward)
  await pause(2500)
  store.clock.step(0)
  await assertSuspect(t, store, versions)
  await store.stop()
  const observed = journalEntries(store.dataDirectory).filter(({ operation }) => operation === 'clock.observe')
  t.ok(observed.length > 0, `${observed.length} notes of the time`)
  await assertJournal(t, store)
})
