/** Retention and the clock: what time releases, and what a clock that was set back does not (specification, S3 errors). */
import { rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { CLOCK_TOLERANCE_SECONDS, startInThread, temporaryDirectory } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  later,
  lockLines,
  lockOf,
  setDefaultRetention,
  setLegalHold,
  setRetention,
} from '../../support/wire-locks.ts'
import { put } from '../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const START = Math.ceil(Date.now() / 1000) * 1000 + DAY
const TOLERANCE = CLOCK_TOLERANCE_SECONDS * 1000
let now = START
const start = () => startInThread({ dataDirectory, clock: () => now })
let server = await start()
tap.teardown(() => server.stop())

await createLockBucket(server, 'locked')

/** A version that is retained until so many milliseconds from `now`. */
async function retained(key: string, mode: string, milliseconds: number, hold?: string): Promise<string> {
  const lock = { mode, until: later(milliseconds, now), ...(hold === undefined ? {} : { hold }) }
  const id = await put(server, `locked/${key}`, key, lockLines(lock))
  return `locked/${key}?versionId=${id}`
}

function destroy(target: string, bypass = false): Promise<WireAnswer> {
  return server.raw('DELETE', `/${target}`, bypass ? { headers: [BYPASS] } : {})
}

test('W6: a version is retained while the time is before the date, and not at it', async (t) => {
  for (const mode of ['GOVERNANCE', 'COMPLIANCE']) {
    const target = await retained(`boundary-${mode}`, mode, 10_000)
    const until = now + 10_000
    now = until - 1
    isError(t, await destroy(target), 'AccessDenied', `${mode}: a millisecond before`)
    now = until
    isDone(t, await destroy(target), 204, `${mode}: at the date`)
    isError(t, await server.raw('GET', `/${target}`), 'NoSuchVersion', 'gone')
  }
})

test('W6: a date must be after now, by a millisecond at least', async (t) => {
  for (const [offset, code] of [
    [-1, 'InvalidArgument'],
    [0, 'InvalidArgument'],
    [1, undefined],
  ] as const) {
    const lock = { mode: 'GOVERNANCE', until: later(offset, now) }
    const written = await server.raw('PUT', '/locked/dated', { body: 'x', headers: lockLines(lock) })
    if (code === undefined) isDone(t, written, 200, `write, ${offset} ms`)
    else isError(t, written, code, `write, ${offset} ms`)
    await put(server, 'locked/dated-later', 'x')
    const set = await setRetention(server, 'locked/dated-later', lock)
    if (code === undefined) isDone(t, set, 200, `retention, ${offset} ms`)
    else isError(t, set, code, `retention, ${offset} ms`)
  }
})

test('an elapsed retention holds nothing: it may be read, shortened, replaced, removed', async (t) => {
  const targets = await Promise.all(['a', 'b', 'c', 'd'].map((key) => retained(`elapsed-${key}`, 'COMPLIANCE', 1000)))
  const held = await retained('elapsed-held', 'COMPLIANCE', 1000, 'ON')
  const told = lockOf(await server.raw('HEAD', `/${targets[0]}`))
  now += 1000
  t.same(lockOf(await server.raw('HEAD', `/${targets[0]}`)), told, 'what is recorded is still told of')
  isDone(t, await destroy(targets[0] ?? ''), 204, 'deleted')
  const [shorter, other] = [later(500, now), later(5000, now)]
  isDone(t, await setRetention(server, 'locked/elapsed-b', { mode: 'GOVERNANCE', until: shorter }), 200, 'another mode')
  isDone(t, await setRetention(server, 'locked/elapsed-c', {}), 200, 'removed')
  t.same(lockOf(await server.raw('HEAD', `/${targets[2]}`)), {})
  isDone(t, await setRetention(server, 'locked/elapsed-d', { mode: 'COMPLIANCE', until: other }), 200, 'again')
  isError(t, await destroy(targets[3] ?? '', true), 'AccessDenied', 'retained again')
  isError(t, await destroy(held, true), 'AccessDenied', 'Object Lock rule 10: the hold has no date')
  isDone(t, await setLegalHold(server, 'locked/elapsed-held', 'OFF'), 200, 'lifted')
  isDone(t, await destroy(held), 204, 'free')
})

function backKey(part: string): string {
  return `locked/back-${part}`
}

/** What releases is refused, and nothing else is. */
async function releasesNothing(t: Test, name: string): Promise<void> {
  const elapsed = backKey('elapsed')
  isError(t, await destroy(`${elapsed}?versionId=${ids.get('elapsed')}`), 'ServiceUnavailable', `${name}: elapsed`)
  isError(t, await setRetention(server, elapsed, {}), 'ServiceUnavailable', `${name}: removal of what is elapsed`)
  const governed = `${backKey('governed')}?versionId=${ids.get('governed')}`
  isError(t, await destroy(governed, true), 'ServiceUnavailable', `${name}: a bypass`)
  const shorter = { mode: 'GOVERNANCE', until: later(DAY, high) }
  const loosened = await setRetention(server, backKey('governed'), shorter, { headers: [BYPASS] })
  isError(t, loosened, 'ServiceUnavailable', `${name}: a shorter retention`)
  isError(t, await destroy(governed), 'ServiceUnavailable', `${name}: without the bypass`)
  for (const part of ['elapsed', 'governed']) {
    t.equal(
      (await server.raw('GET', `/${backKey(part)}?versionId=${ids.get(part)}`)).status,
      200,
      `${name}: ${part} is there`,
    )
  }
  const bare = await put(server, backKey('bare'), 'written while the clock is behind')
  isDone(t, await destroy(`${backKey('bare')}?versionId=${bare}`), 204, `${name}: a version without a lock`)
  const marker = await destroy(backKey('governed'))
  isDone(t, marker, 204, `${name}: a marker hides, and releases nothing`)
  isDone(
    t,
    await destroy(`${backKey('governed')}?versionId=${String(marker.headers['x-amz-version-id'])}`),
    204,
    'marker',
  )
  const longer = { mode: 'GOVERNANCE', until: later(10 * DAY, high) }
  isDone(t, await setRetention(server, backKey('governed'), longer), 200, `${name}: a longer retention`)
  const raised = { mode: 'COMPLIANCE', until: later(10 * DAY, high) }
  await put(server, backKey('raised'), 'x', lockLines(longer))
  isDone(t, await setRetention(server, backKey('raised'), raised), 200, `${name}: a higher mode`)
  for (const hold of ['ON', 'OFF']) isDone(t, await setLegalHold(server, elapsed, hold), 200, `${name}: hold ${hold}`)
}

/** Versions that were written before the clock went back, and the time that the journal had reached. */
const ids = new Map<string, string>()
let high = 0

test('specification "S3 errors": with a clock that was set back, retention is released by nothing', async (t) => {
  const rows = [
    ['elapsed', 'GOVERNANCE', 1000],
    ['governed', 'GOVERNANCE', 5 * DAY],
  ] as const
  for (const [part, mode, milliseconds] of rows) {
    ids.set(part, (await retained(`back-${part}`, mode, milliseconds)).split('=')[1] ?? '')
  }
  now += DAY
  await put(server, 'locked/mark', 'the journal has seen this time')
  high = now
  now = high - TOLERANCE - 1
  await releasesNothing(t, 'just over the tolerance')
  now = START - DAY / 2
  await releasesNothing(t, 'before all of it')
})

test('W1: with the clock behind, dates are judged by the time that the journal has reached', async (t) => {
  now = high - DAY
  const between = { mode: 'GOVERNANCE', until: later(-1000, high) }
  const written = await server.raw('PUT', '/locked/between', { body: 'x', headers: lockLines(between) })
  isError(t, written, 'InvalidArgument', 'ahead of the clock, behind the journal')
  const [seen] = (await server.journal()).slice(-1)
  const reached = Math.floor((seen?.timeMicroseconds ?? 0) / 1000)
  t.ok(reached >= high, 'the time of the journal does not go back')
  await setDefaultRetention(server, 'locked', '<Mode>GOVERNANCE</Mode><Days>1</Days>')
  await put(server, 'locked/default', 'x')
  const { until = '' } = lockOf(await server.raw('HEAD', '/locked/default'))
  t.ok(Date.parse(until) >= high + DAY, 'a default counts from there: too long rather than too short')
  isDone(t, await setDefaultRetention(server, 'locked', undefined), 200, 'no default any more')
})

test('the high-water mark outlives a restart, and a replay of the journal', async (t) => {
  now = high - TOLERANCE - DAY
  await server.stop()
  server = await start()
  await releasesNothing(t, 'after a restart')
  await server.stop()
  rmSync(new StorePaths(dataDirectory).projections, { recursive: true })
  server = await start()
  await releasesNothing(t, 'after a replay')
})

test('within the tolerance, and when the clock is right again, time releases as before', async (t) => {
  const entries = await server.journal()
  const reached = Math.floor((entries.at(-1)?.timeMicroseconds ?? 0) / 1000)
  now = reached - TOLERANCE
  isDone(t, await destroy(`locked/back-elapsed?versionId=${ids.get('elapsed')}`), 204, 'the very tolerance')
  now = reached
  const governed = `locked/back-governed?versionId=${ids.get('governed')}`
  isError(t, await destroy(governed), 'AccessDenied', 'governance is judged again')
  isDone(t, await destroy(governed, true), 204, 'and bypassed')
  t.same(server.failures, [])
})
