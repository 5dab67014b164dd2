/**
 * Retention and the clock: what time releases, and what a clock that was set back does not (specification, S3 errors).
 * Proves: STA-LCK-09, ERR-S3X-06, LIM-VAL-16.
 */
import { rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import { CLOCK_TOLERANCE_SECONDS, startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  later,
  lockLines,
  setLegalHold,
  setRetention,
} from '../../../support/wire-locks.ts'
import { put } from '../../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const START = Math.ceil(Date.now() / 1000) * 1000 + DAY
const TOLERANCE = CLOCK_TOLERANCE_SECONDS * 1000
let now = START
const start = () => startInThread({ dataDirectory, clock: () => now })
const server = await start()
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
