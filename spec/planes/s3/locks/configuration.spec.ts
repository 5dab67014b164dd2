/**
 * The default retention of a bucket; spec/answers has its documents.
 * Proves: DO-CAP-06, RES-LCK-03, S3-LCK-03, S3-LCK-06, S3-LCK-09, S3-LCK-10, LIM-VAL-20.
 */
import tap, { test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { complete, createUpload, sendPart } from '../../../support/multipart.ts'
import { createLockBucket, DAY, later, lockLines, lockOf, setDefaultRetention } from '../../../support/wire-locks.ts'
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

test('an upload keeps the default that it was begun under, and gets one that is stricter at its end', async (t) => {
  const bucket = 'begun-defaults'
  await createLockBucket(server, bucket)
  const [short, long] = ['<Mode>GOVERNANCE</Mode><Days>1</Days>', '<Mode>GOVERNANCE</Mode><Days>9</Days>']
  const strict = '<Mode>COMPLIANCE</Mode><Days>2</Days>'
  const asked = lockLines({ mode: 'GOVERNANCE', until: later(5 * DAY, now.milliseconds) })
  const rows: [
    begun: string | undefined,
    ended: string | undefined,
    headers: HeaderLine[],
    lock: [string, number] | [],
  ][] = [
    [short, undefined, [], ['GOVERNANCE', 1]],
    [undefined, short, [], ['GOVERNANCE', 1]],
    [long, short, [], ['GOVERNANCE', 9]],
    [short, long, [], ['GOVERNANCE', 9]],
    [long, strict, [], ['COMPLIANCE', 9]],
    [strict, long, [], ['COMPLIANCE', 9]],
    [strict, strict, asked, ['GOVERNANCE', 5]],
    [undefined, undefined, [], []],
  ]
  for (const [index, [begun, ended, headers, [mode, days = 0]]] of rows.entries()) {
    const target = `/${bucket}/${index}`
    isDone(t, await setDefaultRetention(server, bucket, begun), 200, 'set')
    const upload = await createUpload(server, target, headers)
    const part = await sendPart(server, target, upload, 1, 'the only part')
    isDone(t, await setDefaultRetention(server, bucket, ended), 200, 'set')
    isDone(t, await complete(server, target, upload, [part]), 200, 'complete')
    const until = new Date(now.milliseconds + days * DAY).toISOString()
    const answer = await raw('HEAD', target)
    t.match(lockOf(answer), mode === undefined ? { mode: undefined } : { mode, until }, `row ${index}`)
  }
})

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
