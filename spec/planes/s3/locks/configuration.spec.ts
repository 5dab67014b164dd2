/** The default retention of a bucket; spec/answers has its documents. */
import tap, { test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'
import { createLockBucket, DAY, lockOf, setDefaultRetention } from '../../../support/wire-locks.ts'
import { put } from '../../../support/wire-versions.ts'

const now = { milliseconds: Date.UTC(2027, 0, 31, 12, 0, 0, 250) }
const server = await startInThread({ clock: () => now.milliseconds })
tap.teardown(() => server.stop())
const { raw } = server

async function configurationOf(bucket: string): Promise<string> {
  return (await raw('GET', `/${bucket}?object-lock`)).text.replace(/^.*\n/, '')
}

function configuration(inner: string): string {
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
  return `<ObjectLockConfiguration ${namespace}><ObjectLockEnabled>Enabled</ObjectLockEnabled>${inner}</ObjectLockConfiguration>`
}

test('Object Lock rules 2, 3: the default is copied onto each version when it is written', async (t) => {
  await createLockBucket(server, 'defaults')
  const written: [inner: string | undefined, mode: string | undefined, days: number][] = [
    [undefined, undefined, 0],
    ['<Mode>GOVERNANCE</Mode><Days>1</Days>', 'GOVERNANCE', 1],
    ['<Mode>COMPLIANCE</Mode><Years>1</Years>', 'COMPLIANCE', 365],
    ['<Mode>GOVERNANCE</Mode><Years>100</Years>', 'GOVERNANCE', 36_500],
    [undefined, undefined, 0],
  ]
  const expected: [id: string, lock: object][] = []
  for (const [inner, mode, days] of written) {
    isDone(t, await setDefaultRetention(server, 'defaults', inner), 200, 'set')
    const id = String(await put(server, 'defaults/k', 'bytes'))
    const until = new Date(now.milliseconds + days * DAY).toISOString()
    expected.push([id, mode === undefined ? {} : { mode, until }])
    now.milliseconds += 1000
  }
  for (const [id, lock] of expected) {
    const target = `/defaults/k?versionId=${id}`
    t.same(lockOf(await raw('HEAD', target)), lock, 'neither a later default nor its removal alters a version')
    t.same(lockOf(await raw('GET', target)), lock)
  }
  t.equal(await configurationOf('defaults'), configuration(''))
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
