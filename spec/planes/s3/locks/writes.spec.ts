/** Proves: RES-LCK-01, RES-LCK-02, S3-LCK-08. */
import tap, { type Test, test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import {
  createLockBucket,
  DAY,
  later,
  lockDocuments,
  lockLines,
  lockOf,
  type WireLock,
} from '../../../support/wire-locks.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server

const UNTIL = later(DAY)
const FULL: WireLock = { mode: 'GOVERNANCE', until: UNTIL, hold: 'ON' }

await createLockBucket(server, 'locked')

async function hasLock(t: Test, target: string, lock: WireLock, name: string): Promise<void> {
  t.same(lockOf(await raw('GET', `/${target}`)), lock, `${name}: GET`)
  t.same(lockOf(await raw('HEAD', `/${target}`)), lock, `${name}: HEAD`)
  t.same(await lockDocuments(server, target), lock, `${name}: the operations of the lock`)
}

test('s3-wire 11: a presigned PUT carries its lock in the query', async (t) => {
  const query = lockLines(FULL).map(([name, value]) => [name, value] as const)
  const url = wire.presigned('PUT', '/locked/presigned', { query })
  isDone(t, await raw('PUT', url, { sign: false, body: 'bytes' }), 200, 'all three in the query')
  await hasLock(t, 'locked/presigned', FULL, 'presigned')
  const upper = query.map(([name, value]) => [name.replace('x-amz-object', 'X-Amz-Object'), value] as const)
  const other = wire.presigned('PUT', '/locked/presigned-upper', { query: upper })
  isDone(t, await raw('PUT', other, { sign: false, body: 'bytes' }), 200, 'in any case')
  await hasLock(t, 'locked/presigned-upper', FULL, 'presigned')
  const half = wire.presigned('PUT', '/locked/presigned-half', { query: query.slice(0, 1) })
  isError(t, await raw('PUT', half, { sign: false, body: 'x' }), 'InvalidArgument', 'rule 1 holds there too')
  const changed = url.replace(/GOVERNANCE/, 'COMPLIANCE')
  isError(t, await raw('PUT', changed, { sign: false, body: 'x' }), 'SignatureDoesNotMatch', 'changed afterwards')
  const bare = wire.presigned('PUT', '/locked/presigned-bare')
  const added = { sign: false, body: 'x', unsignedHeaders: lockLines(FULL) } as const
  isError(t, await raw('PUT', bare, added), 'AccessDenied', 'S2: a lock that was not signed')
  isError(t, await raw('GET', '/locked/presigned-bare'), 'NoSuchKey', 'nothing was written')
  const signed = wire.presigned('PUT', '/locked/presigned-headers', { headers: lockLines(FULL) })
  isError(t, await raw('PUT', signed, { sign: false, body: 'x' }), 'SignatureDoesNotMatch', 'a signed header left out')
  isDone(t, await raw('PUT', signed, { sign: false, body: 'x', headers: lockLines(FULL) }), 200, 'signed headers')
  await hasLock(t, 'locked/presigned-headers', FULL, 'signed headers')
  const twice = { sign: false, body: 'x', unsignedHeaders: lockLines({ hold: 'OFF' }) } as const
  const contradiction = await raw('PUT', wire.presigned('PUT', '/locked/twice', { query }), twice)
  t.ok([400, 403].includes(contradiction.status), 'S2: the same name with another value in the headers')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
