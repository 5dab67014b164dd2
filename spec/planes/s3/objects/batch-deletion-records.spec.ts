/** Records of DeleteObjects are those of single deletions; and what a kill leaves of one. */
import { rmSync } from 'node:fs'
import { test } from 'tap'
import { compilePolicies } from '../../../../engine/access/policy.ts'
import type { Credential } from '../../../../planes/s3/signing/identity.ts'
import { allow, deny } from '../../../support/identities.ts'
import { journalEntries, type JournalEntry } from '../../../support/journal-entries.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import { removeAll, sendDeletions, type WireDeletion } from '../../../support/wire-deletions.ts'
import { BYPASS, createLockBucket, DAY, later, lockLines } from '../../../support/wire-locks.ts'
import { createBucket, put } from '../../../support/wire-versions.ts'

/** May delete in two buckets, but for one key of each, and bypass governance for some. */
const TWIN: Credential = {
  accessKey: 'twin',
  secretKey: 'the secret of twin',
  principal: 'service_account:twin',
  credentialId: 'twin-1',
  policies: compilePolicies(
    ['twin-a', 'twin-b'].flatMap((bucket) => [
      allow(['s3:DeleteObject*', 's3:BypassGovernanceRetention'], `bucket:${bucket}/*`),
      deny(['s3:*'], `bucket:${bucket}/denied`),
    ]),
  ),
}
const SIGN = { accessKey: TWIN.accessKey, secretKey: TWIN.secretKey }

const OPTIONS = { credentials: [TWIN], extensions: ['delete-objects'] } as const

/** What a record says, without what no two requests share. */
function shape(entry: JournalEntry, first: number, bucket: string): object {
  const { result, principal, credentialId, sourceAddress, operation, resource, intent, metadata, changes } = entry
  const named = JSON.stringify({ changes, metadata }, (name, value: unknown) =>
    name === 'bucketId' || name === 'version' || name === 'promotes' ? typeof value : value,
  ).replaceAll(/"version_id","[^"]{20,}"/g, '"version_id","some"')
  return {
    result,
    principal,
    credentialId,
    sourceAddress,
    operation,
    resource: resource.replace(`bucket:${bucket}`, 'bucket:'),
    intent: intent === undefined ? undefined : intent - first,
    named,
  }
}

test('records are those of single deletions, one by one', async (t) => {
  const server = await startInThread(OPTIONS)
  t.teardown(() => server.stop())
  const fill = async (bucket: string): Promise<WireDeletion[]> => {
    await createLockBucket(server, bucket)
    const locked = async (key: string, mode: string) =>
      String(await put(server, `${bucket}/${key}`, 'bytes', lockLines({ mode, until: later(DAY) })))
    const version = String(await put(server, `${bucket}/a`, 'bytes'))
    await put(server, `${bucket}/b`, 'bytes')
    return [
      { Key: 'a', VersionId: version },
      { Key: 'b' },
      { Key: 'none' },
      { Key: 'c', VersionId: await locked('c', 'COMPLIANCE') },
      { Key: 'd', VersionId: await locked('d', 'GOVERNANCE') },
      { Key: 'denied' },
      { Key: 'a', VersionId: `${version.slice(0, -2)}${version.endsWith('AA') ? 'BB' : 'AA'}` },
      { Key: 'none', VersionId: 'null' },
      { Key: 'é 😀' },
    ]
  }
  const deletions = { 'twin-a': await fill('twin-a'), 'twin-b': await fill('twin-b') }
  const before = (await server.journal()).length
  for (const { Key = '', VersionId } of deletions['twin-a']) {
    const query = VersionId === undefined ? '' : `?versionId=${VersionId}`
    await server.raw('DELETE', `/twin-a/${encodeURIComponent(Key)}${query}`, { sign: SIGN, headers: [BYPASS] })
  }
  const between = (await server.journal()).length
  await removeAll(server, 'twin-b', deletions['twin-b'], { sign: SIGN, headers: [BYPASS] })
  const entries = await server.journal()
  const single = entries.slice(before, between)
  const batch = entries.slice(between)
  t.equal(single.length, 2 * 8 + 1 + 3 * 2, 'a pair for each that is authorized, and for each bypass')
  t.same(
    batch.map((entry) => shape(entry, batch[0]?.sequence ?? 0, 'twin-b')),
    single.map((entry) => shape(entry, single[0]?.sequence ?? 0, 'twin-a')),
  )
  t.equal(new Set(batch.map(({ requestId }) => requestId)).size, 1, 'all have the id of the request')
})

test('a request that fails as a whole has one pair of records', async (t) => {
  const server = await startInThread(OPTIONS)
  t.teardown(() => server.stop())
  await createBucket(server, 'keys')
  const before = (await server.journal()).length
  const answer = await sendDeletions(server, 'keys', '<Delete/>')
  isError(t, answer, 'MalformedXML', 'wrong')
  const entries = (await server.journal()).slice(before)
  t.match(entries, [
    { result: 'attempted', operation: 's3:POST', resource: 'bucket:keys' },
    { result: 'failure', operation: 's3:POST', resource: 'bucket:keys' },
  ])
  t.equal(entries[1]?.details.get('error'), 'malformed-xml')
})

test('a refusal of a key is on its record, with what was refused', async (t) => {
  const server = await startInThread(OPTIONS)
  t.teardown(() => server.stop())
  await createBucket(server, 'keys')
  const before = (await server.journal()).length
  const long = 'k'.repeat(2000)
  await removeAll(server, 'keys', [{ Key: 'a', Size: '5' }, { Key: long }, { Key: 'a', VersionId: 'a b' }])
  await removeAll(server, 'keys', [{ Key: 'a' }], { sign: SIGN })
  const told = (await server.journal()).slice(before).map(({ result, details }) => [result, details.get('error')])
  t.same(told, [
    ['failure', 'not-implemented'],
    ['failure', 'key-too-long-error'],
    ['attempted', undefined],
    ['failure', 'version-not-found'],
    ['denied', 'access-denied'],
  ])
  const [refused, tooLong] = (await server.journal()).slice(before)
  t.equal(refused?.details.get('refused'), 'Size')
  t.match(refused?.details.get('reason'), /Size/)
  t.ok((tooLong?.resource.length ?? 0) < 1200, 'a key that is too long does not fill the journal')
})

test('a kill right after the answer, and a restart: what was told as deleted is, and the rest is whole', async (t) => {
  const root = temporaryDirectory()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const options = { ...OPTIONS, dataDirectory: root }
  const first = await startInThread(options)
  await createBucket(first, 'killed')
  for (let index = 0; index < 20; index += 1) await put(first, `killed/k${index}`, `bytes ${index}`)
  const deletions = Array.from({ length: 10 }, (_, index) => ({ Key: `k${index * 2}` }))
  t.equal((await removeAll(first, 'killed', deletions)).length, 10)
  await first.abandon()
  rmSync(first.paths.projections, { recursive: true, force: true })
  const second = await startInThread(options)
  t.teardown(() => second.stop())
  for (let index = 0; index < 20; index += 1) {
    const answer = await second.raw('GET', `/killed/k${index}`)
    if (index % 2 === 0) isError(t, answer, 'NoSuchKey', `k${index}`)
    else t.equal(answer.text, `bytes ${index}`)
  }
  t.equal(journalEntries(root).filter(({ operation }) => operation === 's3:DELETE').length, 20)
})
