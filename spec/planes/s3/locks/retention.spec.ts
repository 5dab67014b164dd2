/**
 * Proves: DO-CAP-06, RES-LCK-01, RES-LCK-02, STA-LCK-01, STA-LCK-02, STA-LCK-03, STA-LCK-04, STA-LCK-05, STA-LCK-07,
 * S3-LCK-04, S3-LCK-14, ERR-S3X-01.
 */
import tap, { type Test, test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement } from '../../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  later,
  lockDocuments,
  lockLines,
  lockOf,
  setRetention,
  type WireLock,
} from '../../../support/wire-locks.ts'
import { put } from '../../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

const [SOON, LATER, LATEST] = [later(DAY), later(2 * DAY), '9999-12-31T23:59:59.999Z']
const [G, C] = ['GOVERNANCE', 'COMPLIANCE']

await createLockBucket(server, 'locked')

let keys = 0

/** A new object under a lock. */
async function locked(lock: WireLock): Promise<string> {
  keys += 1
  const target = `locked/k-${keys}`
  await put(server, target, 'bytes', lockLines(lock))
  return target
}

async function hasLock(t: Test, target: string, lock: WireLock, name: string): Promise<void> {
  t.same(lockOf(await raw('HEAD', `/${target}`)), lock, `${name}: HEAD`)
  t.same(await lockDocuments(server, target), lock, `${name}: documents`)
}

test('W4, Object Lock rule 6: what each mode lets be done to it, without and with the bypass', async (t) => {
  type Outcome = 'done' | 'needs bypass' | 'never'
  const rows: readonly [from: WireLock, to: WireLock, outcome: Outcome][] = [
    [{}, { mode: G, until: SOON }, 'done'],
    [{}, { mode: C, until: SOON }, 'done'],
    [{}, {}, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: SOON }, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: LATER }, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: LATEST }, 'done'],
    [{ mode: G, until: SOON }, { mode: C, until: SOON }, 'done'],
    [{ mode: G, until: SOON }, { mode: C, until: LATER }, 'done'],
    [{ mode: G, until: LATER }, { mode: G, until: SOON }, 'needs bypass'],
    [{ mode: G, until: LATER }, { mode: C, until: SOON }, 'needs bypass'],
    [{ mode: G, until: LATER }, {}, 'needs bypass'],
    [{ mode: C, until: SOON }, { mode: C, until: SOON }, 'done'],
    [{ mode: C, until: SOON }, { mode: C, until: LATER }, 'done'],
    [{ mode: C, until: SOON }, { mode: C, until: LATEST }, 'done'],
    [{ mode: C, until: LATER }, { mode: C, until: SOON }, 'never'],
    [{ mode: C, until: SOON }, { mode: G, until: SOON }, 'never'],
    [{ mode: C, until: SOON }, { mode: G, until: LATEST }, 'never'],
    [{ mode: C, until: SOON }, {}, 'never'],
  ]
  for (const [from, to, outcome] of rows) {
    for (const hold of [undefined, 'ON']) {
      const held = hold === undefined ? {} : { hold }
      const target = await locked({ ...from, ...held })
      const name = `${JSON.stringify({ ...from, ...held })} to ${JSON.stringify(to)}`
      const plain = await setRetention(server, target, to)
      if (outcome === 'done') isDone(t, plain, 200, name)
      else isError(t, plain, 'AccessDenied', name)
      await hasLock(t, target, { ...(outcome === 'done' ? to : from), ...held }, name)
      if (outcome === 'done') continue
      t.match(
        firstElement(plain.text, 'Message'),
        outcome === 'never' ? /compliance retention/ : /governance retention/,
      )
      const bypassed = await setRetention(server, target, to, { headers: [BYPASS] })
      if (outcome === 'never') isError(t, bypassed, 'AccessDenied', `${name} with the bypass`)
      else isDone(t, bypassed, 200, `${name} with the bypass`)
      await hasLock(t, target, { ...(outcome === 'never' ? from : to), ...held }, `${name} with the bypass`)
    }
  }
})

test('one millisecond less is less', async (t) => {
  const until = '2140-01-01T00:00:00.500Z'
  for (const mode of [G, C]) {
    const target = await locked({ mode, until })
    for (const earlier of ['2140-01-01T00:00:00.499Z', '2140-01-01T00:00:00Z', '2140-01-01T00:00:00.499999999Z']) {
      const answer = await setRetention(server, target, { mode, until: earlier })
      if (earlier.endsWith('999999Z')) isDone(t, answer, 200, 'a fraction finer than milliseconds is rounded up')
      else isError(t, answer, 'AccessDenied', earlier)
    }
    isDone(t, await setRetention(server, target, { mode, until: '2140-01-01T00:00:00.501Z' }), 200, 'more')
    await hasLock(t, target, { mode, until: '2140-01-01T00:00:00.501Z' }, mode)
    isError(t, await setRetention(server, target, { mode, until }), 'AccessDenied', 'back again')
    const zone = '2140-01-01T02:00:00.501+02:00'
    isDone(t, await setRetention(server, target, { mode, until: zone }), 200, 'the same moment in another zone')
  }
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
