/** PutObject with an offset: bytes after those that are there. */
import { hash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import tap, { type Test, test } from 'tap'
import { checkProjections } from '../../../../projections/replay/check.ts'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { bucketIdOf, payloadIdOf } from '../../../../engine/brands.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { MultipartDigest } from '../../../../workers/digest-multipart.ts'
import { largePart, settledFiles, uploadWhole } from '../../../support/multipart.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread, temporaryDirectory, type InThreadServer } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'
import { createLockBucket } from '../../../support/wire-locks.ts'
import { historyOf, put, remove, setVersioning } from '../../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
const server = await startInThread({ dataDirectory, extensions: ['append'] })
tap.teardown(() => rmSync(dataDirectory, { recursive: true }))
const { raw } = server

await raw('PUT', '/plain-bucket')
await raw('PUT', '/versioned-bucket')
await setVersioning(server, 'versioned-bucket', 'enabled')
await createLockBucket(server, 'lock-bucket')

function append(
  at: InThreadServer,
  target: string,
  offset: number | string,
  body: Buffer | string,
  more: readonly HeaderLine[] = [],
): Promise<WireAnswer> {
  return at.raw('PUT', target, { body, headers: [['x-amz-write-offset-bytes', String(offset)], ...more] })
}

/** Bytes below and above the limit of a volume, none, and more than a block. */
const PIECES = [10, 70_000, 0, 1, 65_536, 200_000, 3].map((size, index) => sampleBytes(size, index))

async function grows(t: Test, at: InThreadServer, target: string, first: Buffer | undefined): Promise<void> {
  let whole = first ?? Buffer.alloc(0)
  const etags = new Set<unknown>()
  for (const piece of PIECES) {
    const answer = await append(at, target, whole.length, piece)
    isDone(t, answer, 200, `${piece.length} bytes at ${whole.length}`)
    whole = Buffer.concat([whole, piece])
    t.equal(answer.headers['x-amz-object-size'], String(whole.length))
    if (piece.length > 0) t.notOk(etags.has(answer.headers.etag), 'each has an ETag of its own')
    etags.add(answer.headers.etag)
    const got = await at.raw('GET', target)
    t.ok(got.body.equals(whole), `${whole.length} bytes read back`)
    t.equal(got.headers.etag, answer.headers.etag)
    const from = Math.floor(whole.length / 3)
    const range = await at.raw('GET', target, { headers: [['range', `bytes=${from}-${whole.length - 2}`]] })
    if (whole.length > 1) t.ok(range.body.equals(whole.subarray(from, whole.length - 1)), 'a range over the borders')
  }
}

for (const encryptionEnabled of [false, true]) {
  test(`an object grows, ${encryptionEnabled ? 'encrypted' : 'plain'}`, async (t) => {
    const at = encryptionEnabled ? await startInThread({ encryptionEnabled, extensions: ['append'] }) : server
    if (encryptionEnabled) {
      t.teardown(() => at.stop())
      await at.raw('PUT', '/plain-bucket')
    }
    await grows(t, at, '/plain-bucket/from-nothing', undefined)
    await put(at, 'plain-bucket/from-small', 'a few bytes')
    await grows(t, at, '/plain-bucket/from-small', Buffer.from('a few bytes'))
    await put(at, 'plain-bucket/from-large', sampleBytes(100_000, 9))
    await grows(t, at, '/plain-bucket/from-large', sampleBytes(100_000, 9))
    await put(at, 'plain-bucket/from-empty', '')
    await grows(t, at, '/plain-bucket/from-empty', Buffer.alloc(0))
    const parts = [largePart(1), Buffer.from('the last part')]
    await uploadWhole(at, '/plain-bucket/from-parts', parts)
    await grows(t, at, '/plain-bucket/from-parts', Buffer.concat(parts))
    t.same(at.failures, [])
  })
}

test('the offset is the size of the object, and nothing else', async (t) => {
  await put(server, 'plain-bucket/offset', '12345')
  for (const offset of [0, 4, 6, 999_999_999_999]) {
    const answer = await append(server, '/plain-bucket/offset', offset, 'x')
    isError(t, answer, 'InvalidWriteOffset', `offset ${offset}`)
    t.match(answer.text, '<ActualObjectSize>5</ActualObjectSize>')
  }
  for (const offset of ['', '-1', '5.0', '0x5', '+5', '5 5', '9'.repeat(16), 'five', 'NaN']) {
    isError(t, await append(server, '/plain-bucket/offset', offset, 'x'), 'InvalidArgument', `offset ${offset}`)
  }
  isError(t, await append(server, '/plain-bucket/not-there', 1, 'x'), 'InvalidWriteOffset', 'nothing is there')
  isError(t, await append(server, '/no-such-bucket/key', 0, 'x'), 'NoSuchBucket', 'no bucket')
  t.equal((await raw('GET', '/plain-bucket/offset')).text, '12345')
  const link = server.wire.presigned('PUT', '/plain-bucket/offset', { query: [['x-amz-write-offset-bytes', '5']] })
  isDone(t, await raw('PUT', link, { sign: false, body: '678' }), 200, 'in a link')
  t.equal((await raw('GET', '/plain-bucket/offset')).text, '12345678')
  const others: readonly (readonly [string, string])[] = [
    ['POST', '/plain-bucket/offset?uploads'],
    ['DELETE', '/plain-bucket/offset'],
  ]
  for (const [method, target] of others) {
    const answer = await raw(method, target, { headers: [['x-amz-write-offset-bytes', '8']] })
    isError(t, answer, 'NotImplemented', `${method} does not append`)
  }
  const copy = await append(server, '/plain-bucket/offset', 8, '', [['x-amz-copy-source', 'plain-bucket/offset']])
  isError(t, copy, 'NotImplemented', 'nor does a copy')
})

test('what is appended is held against its checksums, and a wrong one changes nothing', async (t) => {
  await put(server, 'plain-bucket/checked', 'begin')
  const wrong: HeaderLine[][] = [
    [['content-md5', Buffer.alloc(16).toString('base64')]],
    [['x-amz-checksum-sha256', Buffer.alloc(32).toString('base64')]],
  ]
  for (const headers of wrong)
    isError(t, await append(server, '/plain-bucket/checked', 5, 'end', headers), 'BadDigest', 'wrong')
  const right: HeaderLine = ['x-amz-checksum-sha256', hash('sha256', 'end', 'base64')]
  isDone(t, await append(server, '/plain-bucket/checked', 5, 'end', [right]), 200, 'right')
  const got = await raw('GET', '/plain-bucket/checked', { headers: [['x-amz-checksum-mode', 'ENABLED']] })
  t.equal(got.text, 'beginend')
  t.equal(got.headers['x-amz-checksum-sha256'], undefined, 'that of a part says nothing of the whole')
})

test('headers and metadata are those of the object, and conditions are judged', async (t) => {
  const target = '/plain-bucket/described'
  const described: HeaderLine[] = [
    ['content-type', 'text/plain'],
    ['x-amz-meta-colour', 'blue'],
  ]
  isDone(t, await append(server, target, 0, 'one', described), 200, 'created')
  const second = await append(server, target, 3, 'two', [['content-type', 'text/other']])
  isDone(t, second, 200, 'appended')
  t.match((await raw('HEAD', target)).headers, { 'content-type': 'text/plain', 'x-amz-meta-colour': 'blue' })
  isError(t, await append(server, target, 6, 'x', [['x-amz-meta-a', 'b']]), 'InvalidRequest', 'metadata')
  const etag = String(second.headers.etag)
  isError(t, await append(server, target, 6, 'x', [['if-match', '"other"']]), 'PreconditionFailed', 'another ETag')
  isError(t, await append(server, target, 6, 'x', [['if-none-match', '*']]), 'PreconditionFailed', 'it is there')
  isDone(t, await append(server, target, 6, 'three', [['if-match', etag]]), 200, 'the same ETag')
  isDone(t, await append(server, '/plain-bucket/new', 0, 'x', [['if-none-match', '*']]), 200, 'it is not there')
  t.equal((await raw('GET', target)).text, 'onetwothree')
})

test('of many that append at one offset, one wins', async (t) => {
  const target = '/plain-bucket/race'
  for (const size of [10, 100_000]) {
    const { headers } = await raw('HEAD', target)
    const offset = Number(headers['content-length'] ?? 0)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => append(server, target, offset, sampleBytes(size, index))),
    )
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
    t.equal(winners.length, 1, `${size} bytes`)
    t.equal(answers.filter(({ code }) => code === 'InvalidWriteOffset').length, 11)
    const { body } = await raw('GET', target)
    t.ok(body.subarray(offset).equals(sampleBytes(size, winners[0])))
  }
  const used = (await settledFiles(server)).length
  t.ok(used > 0, 'and the bytes of the others are gone from the disk')
  t.same(readdirSync(server.paths.uploads), [])
})

test('a new version shares the bytes of the one before, and outlives it', async (t) => {
  const target = '/versioned-bucket/log'
  const files = (await settledFiles(server)).length
  const large = sampleBytes(150_000)
  const first = await put(server, 'versioned-bucket/log', large)
  const second = await append(server, target, large.length, 'more')
  const third = await append(server, target, large.length + 4, large)
  t.equal((await settledFiles(server)).length, files + 2, 'two files, whatever the number of versions')
  const read = async (id: unknown) => (await raw('GET', `${target}?versionId=${id}`)).body
  t.ok((await read(first)).equals(large))
  t.equal((await read(second.headers['x-amz-version-id'])).length, large.length + 4)
  t.equal((await historyOf(server, 'versioned-bucket', 'log')).length, 3)
  await remove(server, 'versioned-bucket/log', first)
  await remove(server, 'versioned-bucket/log', String(second.headers['x-amz-version-id']))
  t.equal((await settledFiles(server)).length, files + 2)
  t.ok((await raw('GET', target)).body.equals(Buffer.concat([large, Buffer.from('more'), large])))
  await remove(server, 'versioned-bucket/log', String(third.headers['x-amz-version-id']))
  t.equal((await settledFiles(server)).length, files, 'nothing is left of it')
})

test('a lock is that of each version: the one before keeps its own', async (t) => {
  const target = '/lock-bucket/ledger'
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const lock: HeaderLine[] = [
    ['x-amz-object-lock-mode', 'COMPLIANCE'],
    ['x-amz-object-lock-retain-until-date', until],
  ]
  const first = await put(server, 'lock-bucket/ledger', 'one', lock)
  const second = await append(server, target, 3, 'two')
  isDone(t, second, 200, 'a locked version is appended to, as it is overwritten: by a new one')
  t.equal((await raw('HEAD', target)).headers['x-amz-object-lock-mode'], undefined, 'which inherits nothing')
  const gone = await raw('DELETE', `${target}?versionId=${first}`)
  isError(t, gone, 'AccessDenied', 'and the locked one stays')
  const third = await append(server, target, 6, 'three', lock)
  t.equal((await raw('HEAD', target)).headers['x-amz-object-lock-mode'], 'COMPLIANCE')
  isError(t, await raw('DELETE', `${target}?versionId=${third.headers['x-amz-version-id']}`), 'AccessDenied', 'locked')
  isError(t, await append(server, '/plain-bucket/lock', 0, 'x', lock), 'InvalidRequest', 'no Object Lock')
})

test('records and events are those of a write, with two records', async (t) => {
  await put(server, 'plain-bucket/recorded', 'begin')
  const answer = await append(server, '/plain-bucket/recorded', 5, 'end')
  const refused = await append(server, '/plain-bucket/recorded', 5, 'end')
  const entries = await server.journal()
  const of = ({ headers }: WireAnswer) => entries.filter(({ requestId }) => requestId === headers['x-amz-request-id'])
  t.same(
    of(answer).map(({ result, changes }) => [result, ...changes.map(({ name }) => name)]),
    [['attempted'], ['success', 'payload.appended', 'object.written']],
  )
  t.same(
    of(refused).map(({ result }) => result),
    ['attempted', 'failure'],
  )
  for (const { details } of of(answer)) t.match(Object.fromEntries(details), { api: 'PutObject', write_offset: 5 })
})

test('the digest of the whole is computed, and goes on from the append before', async (t) => {
  const { client, catalog } = server.store
  const worker = new MultipartDigest(client, catalog, server.services.payloads)
  const settle = async () => {
    while ((await worker.step()) === 'more');
  }
  await settle()
  const target = '/plain-bucket/digested'
  let whole = Buffer.from('begin, ')
  await put(server, target.slice(1), whole)
  for (const piece of PIECES) {
    if (piece.length === 0) continue
    isDone(t, await append(server, target, whole.length, piece), 200, 'append')
    whole = Buffer.concat([whole, piece])
    await settle()
    const snapshot = catalog.snapshot()
    const object = snapshot.object(bucketIdOf(snapshot.bucket('plain-bucket')?.id ?? 0), 'digested')
    const location = snapshot.payload(payloadIdOf(object?.payload ?? 0))
    t.match(location, { kind: 'parts', digest: hash('sha256', whole, 'buffer') })
  }
  t.same(catalog.snapshot().digestsPending(10), [])
})

test('after a restart without projections all of it is there', async (t) => {
  const target = '/plain-bucket/long'
  let whole = ''
  for (let count = 0; count < 230; count += 1) {
    const answer = await append(server, target, whole.length, `line ${count}\n`)
    if (answer.status !== 200) t.fail(answer.text)
    whole += `line ${count}\n`
  }
  const keys = ['long', 'from-parts', 'from-large', 'race', 'digested']
  const before = await Promise.all(keys.map(async (key) => (await raw('GET', `/plain-bucket/${key}`)).body))
  t.equal(before[0]?.toString(), whole)
  t.equal((await raw('HEAD', `${target}?partNumber=230`)).headers['x-amz-mp-parts-count'], '230')
  await server.stop()
  t.match(await checkProjections(nodeDisk, server.paths), { differenceCount: 0 })
  rmSync(server.paths.projections, { recursive: true })
  const again = await startInThread({ dataDirectory })
  t.teardown(() => again.stop())
  for (const [index, key] of keys.entries()) {
    t.ok((await again.raw('GET', `/plain-bucket/${key}`)).body.equals(before[index] as Buffer), key)
  }
  isError(t, await append(again, target, whole.length, 'x'), 'NotImplemented', 'and refused again')
  for (const key of keys) await again.raw('DELETE', `/plain-bucket/${key}`)
  t.same(again.failures, [])
})
