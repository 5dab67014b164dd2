/**
 * Every way over the wire to lose a version, tried on versions under every lock (S7, W4).
 * Proves: RES-OBJ-04, RES-OBJ-05, STA-LCK-03, STA-LCK-05, STA-LCK-06, STA-OBJ-01, S3-LCK-18, ERR-S3X-01.
 */
import { rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement } from '../../../support/wire-client.ts'
import { BYPASS, createLockBucket, DAY, later, lockLines, lockOf, type WireLock } from '../../../support/wire-locks.ts'
import { historyOf, put, remove } from '../../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const server = await startInThread({ dataDirectory })
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
