/** Quotas over the wire: they limit current versions, and are judged one write after the other. */
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import type { Quota } from '../../../engine/events/changes.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { auditOf } from '../../support/commands.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread, temporaryDirectory } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { createLockBucket, lockLines } from '../../support/wire-locks.ts'
import { createBucket, historyOf, put, remove, setVersioning } from '../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
let server = await startInThread({ dataDirectory })
tap.teardown(() => server.stop())

async function setQuota(bucket: string, quota: Partial<Quota>): Promise<void> {
  const audit = auditOf('PUT /api/v1/buckets/{bucket}/quota', bucket)
  const limits = { bytes: undefined, objects: undefined, ...quota }
  await server.store.client.execute({ kind: 'set-quota', audit, bucket, quota: limits })
}

async function limited(bucket: string, quota: Partial<Quota>): Promise<void> {
  await createBucket(server, bucket)
  await setQuota(bucket, quota)
}

function usageOf(bucket: string): { readonly objects: number; readonly bytes: number } {
  const id = server.store.catalog.bucket(bucket)?.id ?? 0
  const { objects, bytes } = server.store.catalog.bucketUsage(id)
  return { objects, bytes }
}

function write(target: string, size: number): Promise<WireAnswer> {
  return server.raw('PUT', `/${target}`, { body: sampleBytes(size) })
}

function copy(source: string, target: string, headers: HeaderLine[] = []): Promise<WireAnswer> {
  return server.raw('PUT', `/${target}`, { headers: [['x-amz-copy-source', source], ...headers] })
}

/** Creates an upload with one part; gives how to complete it. */
async function upload(target: string, size: number): Promise<() => Promise<WireAnswer>> {
  const created = await server.raw('POST', `/${target}?uploads`)
  const id = firstElement(created.text, 'UploadId')
  const part = await server.raw('PUT', `/${target}?partNumber=1&uploadId=${id}`, { body: sampleBytes(size) })
  if (part.status !== 200) throw new Error(part.text)
  const list = `<Part><PartNumber>1</PartNumber><ETag>${String(part.headers.etag)}</ETag></Part>`
  const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
  return () => server.raw('POST', `/${target}?uploadId=${id}`, { body })
}

test('specification "Storage accounting": a put, a copy and a completion over the limit of bytes are refused', async (t) => {
  await limited('bytes', { bytes: 100_000 })
  await createBucket(server, 'source')
  for (const size of [1, 100_000, 100_001]) await put(server, `source/${size}`, sampleBytes(size))
  for (const size of [100_001, 200_000]) isError(t, await write('bytes/k', size), 'QuotaExceeded', `${size}`)
  isError(t, await copy('source/100001', 'bytes/k'), 'QuotaExceeded', 'copy')
  const large = await upload('bytes/k', 100_001)
  isError(t, await large(), 'QuotaExceeded', 'completion')
  isError(t, await server.raw('GET', '/bytes/k'), 'NoSuchKey', 'nothing was stored')
  t.same(usageOf('bytes'), { objects: 0, bytes: 0 })
  const exact = await upload('bytes/k', 100_000)
  isDone(t, await exact(), 200, 'the very limit')
  isError(t, await write('bytes/other', 1), 'QuotaExceeded', 'a byte more')
  isDone(t, await write('bytes/empty', 0), 200, 'no bytes are within any limit of bytes')
  isDone(t, await copy('source/100000', 'bytes/k'), 200, 'a copy of the same size over it')
  await remove(server, 'bytes/k')
  isDone(t, await copy('source/1', 'bytes/one'), 200, 'there is room again')
  t.same(usageOf('bytes'), { objects: 2, bytes: 1 })
  await setQuota('bytes', { bytes: 200_000 })
  isDone(t, await large(), 200, 'a completion that was refused can be asked for again')
})

test('an overwrite counts by how much it grows, and one that shrinks always passes', async (t) => {
  await limited('overwrite', { bytes: 1000 })
  isDone(t, await write('overwrite/k', 900), 200, 'first')
  isDone(t, await write('overwrite/k', 1000), 200, 'grows to the limit')
  isError(t, await write('overwrite/k', 1001), 'QuotaExceeded', 'grows over it')
  await setQuota('overwrite', { bytes: 10, objects: 0 })
  isDone(t, await write('overwrite/k', 999), 200, 'smaller, though still over the limit')
  isDone(t, await write('overwrite/k', 999), 200, 'of the same size')
  isError(t, await write('overwrite/k', 1000), 'QuotaExceeded', 'larger')
  isError(t, await write('overwrite/new', 0), 'QuotaExceeded', 'another key')
  isDone(t, await server.raw('DELETE', '/overwrite/k'), 204, 'a deletion passes over the limit')
  isError(t, await write('overwrite/k', 1), 'QuotaExceeded', 'and the object is another one now')
  await setQuota('overwrite', {})
  isDone(t, await write('overwrite/k', 5000), 200, 'unlimited again')
})

test('a limit of objects counts keys', async (t) => {
  await limited('objects', { objects: 2 })
  for (const key of ['a', 'b', 'a', 'b']) isDone(t, await write(`objects/${key}`, 10), 200, key)
  isError(t, await write('objects/c', 0), 'QuotaExceeded', 'put')
  isError(t, await copy('objects/a', 'objects/c'), 'QuotaExceeded', 'copy')
  const complete = await upload('objects/c', 10)
  isError(t, await complete(), 'QuotaExceeded', 'completion')
  isDone(t, await copy('objects/a', 'objects/b'), 200, 'over a key that is there')
  await remove(server, 'objects/a')
  isDone(t, await complete(), 200, 'a key less')
  t.same(usageOf('objects'), { objects: 2, bytes: 20 })
  const none = await server.raw('PUT', '/objects/d', { body: 'x', headers: [['if-none-match', '*']] })
  isError(t, none, 'QuotaExceeded', 'a conditional write')
})

test('specification "Storage accounting": versions and markers do not count, current objects do', async (t) => {
  await limited('versions', { bytes: 1000, objects: 1 })
  await setVersioning(server, 'versions', 'enabled')
  const ids: string[] = []
  for (let index = 0; index < 5; index += 1) ids.push(String(await put(server, 'versions/k', sampleBytes(1000, index))))
  t.same(usageOf('versions'), { objects: 1, bytes: 1000 }, 'five versions')
  isError(t, await write('versions/other', 0), 'QuotaExceeded', 'another key')
  const marker = await remove(server, 'versions/k')
  t.same(usageOf('versions'), { objects: 0, bytes: 0 }, 'behind a marker')
  isDone(t, await write('versions/other', 1000), 200, 'there is room for another key')
  isDone(t, await server.raw('DELETE', `/versions/k?versionId=${marker}`), 204, 'uncovering an object passes')
  t.same(usageOf('versions'), { objects: 2, bytes: 2000 }, 'also over the limit')
  isError(t, await write('versions/k', 1001), 'QuotaExceeded', 'growing does not')
  for (const id of ids) isDone(t, await server.raw('DELETE', `/versions/k?versionId=${id}`), 204, 'a version')
  t.same(usageOf('versions'), { objects: 1, bytes: 1000 })
  await setVersioning(server, 'versions', 'suspended')
  isDone(t, await write('versions/other', 500), 200, 'a null version over another one')
  t.same(usageOf('versions'), { objects: 1, bytes: 500 })
  const restored = `versions/other?versionId=${(await historyOf(server, 'versions', 'other'))[1]}`
  isDone(t, await copy(restored, 'versions/other'), 200, 'an older version restored within the limit')
  t.same(usageOf('versions'), { objects: 1, bytes: 1000 })
})

test('writers at once cannot pass the limit together', async (t) => {
  await limited('race', { bytes: 10_000 })
  const sizes = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 90_000 : 900))
  const answers = await Promise.all(sizes.map((size, index) => write(`race/${index}`, size)))
  const done = answers.filter(({ status }) => status === 200)
  t.equal(done.length, 11, '11 of 900 bytes fit into 10,000')
  t.ok(answers.filter(({ status }) => status !== 200).every(({ code }) => code === 'QuotaExceeded'))
  t.same(usageOf('race'), { objects: 11, bytes: 9900 })
  await limited('race-objects', { objects: 3 })
  const completions = await Promise.all(Array.from({ length: 8 }, (_, index) => upload(`race-objects/${index}`, 5)))
  const completed = await Promise.all([
    ...completions.map((complete) => complete()),
    ...Array.from({ length: 8 }, (_, index) => write(`race-objects/p${index}`, 5)),
  ])
  t.equal(completed.filter(({ status }) => status === 200).length, 3)
  t.same(usageOf('race-objects'), { objects: 3, bytes: 15 })
  const { text } = await server.raw('GET', '/race?list-type=2')
  t.equal(firstElement(text, 'KeyCount'), '11', 'what is listed is what was acknowledged')
})

test('a refusal is 403, names the bucket, and is on record as denied', async (t) => {
  await limited('told', { bytes: 0 })
  const refused = await write('told/k', 1)
  isError(t, refused, 'QuotaExceeded', 'put')
  t.equal(refused.status, 403)
  t.equal(firstElement(refused.text, 'BucketName'), 'told')
  const id = refused.headers['x-amz-request-id']
  const records = (await server.journal()).filter((entry) => entry.requestId === id)
  t.match(records, [{ result: 'attempted' }, { result: 'denied', changes: [] }])
  const files = server.store.catalog.totals().physicalBytes
  for (const size of [70_000, 10]) isError(t, await write('told/k', size), 'QuotaExceeded', `${size} bytes`)
  t.equal(server.store.catalog.totals().physicalBytes, files, 'no bytes of a refused write stay')
})

test('a lock is no way around a quota, nor a quota around a lock', async (t) => {
  await createLockBucket(server, 'both')
  const id = String(await put(server, 'both/k', sampleBytes(100), lockLines({ hold: 'ON' })))
  await setQuota('both', { bytes: 0, objects: 0 })
  isError(t, await write('both/k', 101), 'QuotaExceeded', 'growing')
  isDone(t, await write('both/k', 50), 200, 'shrinking')
  isError(t, await server.raw('DELETE', `/both/k?versionId=${id}`), 'AccessDenied', 'the version is held')
  t.equal((await server.raw('GET', `/both/k?versionId=${id}`)).body.length, 100)
})

test('quotas and usage are the same after a replay of the journal', async (t) => {
  const buckets = ['bytes', 'overwrite', 'objects', 'versions', 'race', 'race-objects', 'both']
  const before = buckets.map(usageOf)
  t.same(server.failures, [])
  await server.stop()
  rmSync(new StorePaths(dataDirectory).projections, { recursive: true })
  server = await startInThread({ dataDirectory })
  t.same(buckets.map(usageOf), before)
  isError(t, await write('race-objects/more', 0), 'QuotaExceeded', 'a limit of objects')
  isError(t, await write('race/more', 101), 'QuotaExceeded', 'a limit of bytes')
  isDone(t, await write('race/more', 100), 200, 'the very limit')
  t.same(server.failures, [])
})
