/** Every way over the wire to lose a version, tried on versions under every lock (S7, W4). */
import { rmSync } from 'node:fs'
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'
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
  type WireLock,
} from '../../support/wire-locks.ts'
import { historyOf, put, remove } from '../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
let server = await startInThread({ dataDirectory })
tap.teardown(() => server.stop())
const UNTIL = later(DAY)

interface Row {
  readonly name: string
  readonly lock: WireLock
  /** What the refusal must name. */
  readonly reason: RegExp
  readonly bypassable: boolean
}

const LOCKS: readonly Row[] = [
  { name: 'governance', lock: { mode: 'GOVERNANCE', until: UNTIL }, reason: /governance retention/, bypassable: true },
  { name: 'compliance', lock: { mode: 'COMPLIANCE', until: UNTIL }, reason: /compliance retention/, bypassable: false },
  { name: 'hold', lock: { hold: 'ON' }, reason: /legal hold/, bypassable: false },
  {
    name: 'held-governance',
    lock: { mode: 'GOVERNANCE', until: UNTIL, hold: 'ON' },
    reason: /legal hold/,
    bypassable: false,
  },
  {
    name: 'held-compliance',
    lock: { mode: 'COMPLIANCE', until: UNTIL, hold: 'ON' },
    reason: /legal hold|compliance retention/,
    bypassable: false,
  },
]

/** A version that must never be lost, and its bytes. */
interface Kept {
  readonly target: string
  readonly id: string
  readonly body: Buffer
  readonly lock: WireLock
}

const kept: Kept[] = []

async function lockedVersion(row: Row, size: number): Promise<Kept> {
  const target = `locked/${row.name}-${kept.length}`
  const body = sampleBytes(size, kept.length)
  const id = String(await put(server, target, body, lockLines(row.lock)))
  const one = { target, id, body, lock: row.lock }
  kept.push(one)
  return one
}

/** The version is there, byte for byte, under the same lock. */
async function isKept(t: Test, { target, id, body, lock }: Kept, name: string): Promise<void> {
  const got = await server.raw('GET', `/${target}?versionId=${id}`)
  t.equal(got.status, 200, name)
  t.ok(got.body.equals(body), `${name}: bytes`)
  t.same(lockOf(got), lock, `${name}: lock`)
}

await createLockBucket(server, 'locked')

test('Object Lock rule 9: a deletion by id is 403 and says why; without an id it writes a marker', async (t) => {
  for (const row of LOCKS) {
    for (const size of [0, 500, 200_000]) {
      const one = await lockedVersion(row, size)
      const { target, id } = one
      const refused = await server.raw('DELETE', `/${target}?versionId=${id}`)
      isError(t, refused, 'AccessDenied', row.name)
      t.match(firstElement(refused.text, 'Message'), row.reason)
      await isKept(t, one, row.name)
      if (!row.bypassable) {
        const bypass = await server.raw('DELETE', `/${target}?versionId=${id}`, { headers: [BYPASS] })
        isError(t, bypass, 'AccessDenied', `${row.name}: the bypass changes nothing`)
      }
      const marker = await server.raw('DELETE', `/${target}`, { headers: [BYPASS] })
      isDone(t, marker, 204, 'without an id')
      t.equal(marker.headers['x-amz-delete-marker'], 'true')
      isError(t, await server.raw('GET', `/${target}`), 'NoSuchKey', 'hidden')
      await isKept(t, one, `${row.name} behind a marker`)
      isError(t, await server.raw('DELETE', `/${target}?versionId=${id}`), 'AccessDenied', 'noncurrent')
    }
  }
})

test('S7: overwriting, copying and completing an upload keep the old version', async (t) => {
  const source: HeaderLine[] = [['x-amz-copy-source', 'locked/source']]
  await put(server, 'locked/source', 'source')
  for (const row of LOCKS) {
    const one = await lockedVersion(row, 1000)
    const { target, id } = one
    await put(server, target, 'overwritten')
    await isKept(t, one, `${row.name} overwritten`)
    isDone(t, await server.raw('PUT', `/${target}`, { headers: source }), 200, 'copy')
    await isKept(t, one, `${row.name} copied over`)
    isDone(t, await server.raw('PUT', `/${target}`, { body: 'x', headers: [['if-match', '*']] }), 200, 'conditional')
    const created = await server.raw('POST', `/${target}?uploads`)
    const uploadId = firstElement(created.text, 'UploadId')
    const part = await server.raw('PUT', `/${target}?partNumber=1&uploadId=${uploadId}`, { body: 'part' })
    const list = `<Part><PartNumber>1</PartNumber><ETag>${String(part.headers.etag)}</ETag></Part>`
    const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
    isDone(t, await server.raw('POST', `/${target}?uploadId=${uploadId}`, { body }), 200, 'upload')
    await isKept(t, one, `${row.name} uploaded over`)
    const history = await historyOf(server, 'locked', target.slice('locked/'.length))
    t.equal(history.length, 5)
    t.equal(history.at(-1), id)
    for (const other of history.slice(0, 4)) await remove(server, target, other.replace('*', ''))
    await isKept(t, one, `${row.name} current again`)
    t.equal((await server.raw('GET', `/${target}`)).body.length, 1000)
  }
})

test('S7: a copy of a locked version is another version, and its end is not that of the locked one', async (t) => {
  for (const row of LOCKS) {
    const one = await lockedVersion(row, 100_000)
    const headers: HeaderLine[] = [['x-amz-copy-source', `${one.target}?versionId=${one.id}`]]
    isDone(t, await server.raw('PUT', '/locked/free', { headers }), 200, 'copy')
    const copied = await server.raw('HEAD', '/locked/free')
    t.same(lockOf(copied), {})
    await remove(server, 'locked/free', String(copied.headers['x-amz-version-id']))
    await isKept(t, one, 'its bytes outlive the copy')
  }
})

test('S7: neither the bucket nor its versioning gives way', async (t) => {
  isError(t, await server.raw('DELETE', '/locked'), 'BucketNotEmpty', 'the bucket')
  isError(t, await server.raw('DELETE', '/locked', { headers: [BYPASS] }), 'NotImplemented', 'nor with the bypass')
  const suspended = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>'
  isError(t, await server.raw('PUT', '/locked?versioning', { body: suspended }), 'InvalidBucketState', 'versioning')
  isDone(t, await setDefaultRetention(server, 'locked', '<Mode>GOVERNANCE</Mode><Days>1</Days>'), 200, 'a default')
  isDone(t, await setDefaultRetention(server, 'locked', undefined), 200, 'and its removal')
  isError(t, await server.raw('PUT', '/locked', { headers: [] }), 'BucketAlreadyOwnedByYou', 'created without a lock')
  const body = '<Delete><Object><Key>k</Key></Object></Delete>'
  isError(t, await server.raw('POST', '/locked?delete', { body }), 'NotImplemented', 'deletions by the list')
  for (const one of kept) await isKept(t, one, one.target)
})

test('W4: governance gives way to the bypass, and to nothing less', async (t) => {
  const row = LOCKS[0] as Row
  const { target, id } = await lockedVersion(row, 1000)
  kept.pop()
  for (const headers of [[], [[BYPASS[0], 'false']]] as HeaderLine[][]) {
    isError(t, await server.raw('DELETE', `/${target}?versionId=${id}`, { headers }), 'AccessDenied', 'no bypass')
  }
  const unsigned = { unsignedHeaders: [BYPASS] }
  isError(t, await server.raw('DELETE', `/${target}?versionId=${id}`, unsigned), 'AccessDenied', 'S2: unsigned')
  isDone(t, await server.raw('DELETE', `/${target}?versionId=${id}`, { headers: [BYPASS] }), 204, 'the bypass')
  isError(t, await server.raw('GET', `/${target}?versionId=${id}`), 'NoSuchVersion', 'gone')
  const other = await lockedVersion(row, 1000)
  kept.pop()
  const Key = other.target.slice('locked/'.length)
  const of = { Bucket: 'locked', Key, VersionId: other.id }
  t.equal(await errorName(server.s3.send(new DeleteObjectCommand(of))), 'AccessDenied')
  await server.s3.send(new DeleteObjectCommand({ ...of, BypassGovernanceRetention: true }))
  t.same(await historyOf(server, 'locked', Key), [])
})

test('Object Lock rule 10: without its hold a version is under its retention alone', async (t) => {
  const row = LOCKS[3] as Row
  const { target, id } = await lockedVersion(row, 1000)
  kept.pop()
  isDone(t, await setLegalHold(server, target, 'OFF'), 200, 'lifted')
  isError(t, await server.raw('DELETE', `/${target}?versionId=${id}`), 'AccessDenied', 'the retention is in force')
  isDone(t, await setRetention(server, target, {}, { headers: [BYPASS] }), 200, 'and taken away')
  isDone(t, await setLegalHold(server, target, 'ON'), 200, 'held again')
  const bypass = { headers: [BYPASS] }
  isError(t, await server.raw('DELETE', `/${target}?versionId=${id}`, bypass), 'AccessDenied', 'the hold alone')
  isDone(t, await setLegalHold(server, target, 'OFF'), 200, 'lifted')
  isDone(t, await server.raw('DELETE', `/${target}?versionId=${id}`), 204, 'free')
})

test('W6: requests that race for a version: a lock that was acknowledged first holds', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const target = `locked/race-${round}`
    const id = String(await put(server, target, 'bytes'))
    const [set, deleted] = await Promise.all([
      setRetention(server, target, { mode: 'COMPLIANCE', until: UNTIL }),
      server.raw('DELETE', `/${target}?versionId=${id}`),
    ])
    const after = await server.raw('GET', `/${target}?versionId=${id}`)
    if (set.status === 200) {
      t.equal(deleted.code, 'AccessDenied', 'the lock was first')
      t.equal(after.status, 200)
    } else {
      t.equal(deleted.status, 204, 'the deletion was first')
      t.ok(['NoSuchKey', 'NoSuchVersion'].includes(set.code ?? ''))
      t.equal(after.status, 404)
    }
  }
})

async function allKept(t: Test, again: InThreadServer): Promise<void> {
  server = again
  for (const one of kept) {
    await isKept(t, one, one.target)
    const target = `/${one.target}?versionId=${one.id}`
    const headers = one.lock.mode === 'GOVERNANCE' && one.lock.hold === undefined ? [] : [BYPASS]
    isError(t, await server.raw('DELETE', target, { headers }), 'AccessDenied', one.target)
  }
  t.same(server.failures, [])
}

test('W7: after a restart every lock holds as before', async (t) => {
  t.ok(kept.length > 20)
  t.same(server.failures, [])
  await server.stop()
  await allKept(t, await startInThread({ dataDirectory }))
})

test('W7: made again from the journal alone, every lock holds as before', async (t) => {
  await server.stop()
  rmSync(new StorePaths(dataDirectory).projections, { recursive: true })
  await allKept(t, await startInThread({ dataDirectory }))
})
