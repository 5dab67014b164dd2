import { createHash, hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { checkProjections } from '../../../projections/check.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { listPage } from '../../support/list-model.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { snapshotOf, type StoreSnapshot } from '../../support/store-snapshot.ts'
import { startInThread, startProcess, temporaryDirectory, type TestServer } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'

const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const SIZES = [0, 1, 1000, 65_536, 65_537, 400_000]

async function put(
  server: TestServer,
  target: string,
  body: Buffer | string,
  headers: HeaderLine[] = [],
): Promise<void> {
  const answer = await server.raw('PUT', target, { body, headers })
  if (answer.status !== 200) throw new Error(`${target}: ${answer.text}`)
}

/** Some of everything that the store can hold. */
async function populate(store: TestServer): Promise<void> {
  const { raw } = store
  for (const bucket of ['first-bucket', 'second-bucket', 'third-bucket', 'gone-bucket'])
    await put(store, `/${bucket}`, '')
  const eu = '<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>'
  await put(store, '/region-bucket', eu)
  await raw('DELETE', '/gone-bucket')
  for (const [index, size] of SIZES.entries()) {
    const described: HeaderLine[] = [
      ['content-type', `text/x-${index}`],
      ['x-amz-meta-index', `nr ${index} ü.`],
    ]
    await put(store, `/first-bucket/size/${size}`, sampleBytes(size, index), described)
    await put(store, `/first-bucket/replaced/${size}`, sampleBytes(size, index + 100))
    await put(store, `/first-bucket/replaced/${size}`, sampleBytes(SIZES.at(-1 - index) ?? 0, index + 200))
    const source: HeaderLine[] = [['x-amz-copy-source', `first-bucket/size/${size}`]]
    await put(store, `/second-bucket/copy/${size}`, '', source)
    await put(store, `/second-bucket/deleted/${size}`, sampleBytes(size, index))
    await raw('DELETE', `/second-bucket/deleted/${size}`)
  }
  for (const key of ['%00', '//', '..', '%F0%9F%98%80', 'a+b', 'a%20b', 'k'.repeat(1024)]) {
    await put(store, `/third-bucket/${key}`, key)
  }
  await raw('PUT', '/first-bucket/refused', { body: 'x', headers: [['content-md5', 'nonsense']] })
}

let before: StoreSnapshot
let token: string | undefined

test('a store is filled, read, and stopped', async (t) => {
  const server = await startInThread({ dataDirectory })
  await populate(server)
  before = await snapshotOf(server)
  token = (await listPage(server, 'first-bucket', { maxKeys: 3 })).next
  t.equal(Object.keys(before.objects).length, 3 * SIZES.length + 7)
  t.equal(before.objects[`first-bucket/size/400000`]?.sha256, hash('sha256', sampleBytes(400_000, 5), 'hex'))
  t.same(server.failures, [])
  await server.stop()
})

test('started again, everything is there', async (t) => {
  const server = await startInThread({ dataDirectory })
  t.match(server.store.report, { created: false, discardedProjections: undefined, cut: undefined })
  t.same(await snapshotOf(server), before)
  const rest = await listPage(server, 'first-bucket', { token })
  t.equal(rest.entries.length, 2 * SIZES.length - 3, 'a continuation token outlives the restart')
  isError(t, await server.raw('GET', '/gone-bucket?location'), 'NoSuchBucket', 'what is gone is gone')
  t.same(server.failures, [])
  await server.stop()
})

test('without its projections the store gives the same answers', async (t) => {
  rmSync(paths.projections, { recursive: true })
  const server = await startInThread({ dataDirectory })
  t.ok(server.store.report.replayedRecords > 100)
  t.same(await snapshotOf(server), before)
  isDone(t, await server.raw('PUT', '/first-bucket/after', { body: 'after' }), 200, 'it takes writes')
  isDone(t, await server.raw('DELETE', '/first-bucket/after'), 204, 'and deletes')
  t.same(await snapshotOf(server), before)
  t.same(server.failures, [])
  await server.stop()
})

test('projections made again are the same, row by row', async (t) => {
  const report = await checkProjections(nodeDisk, paths)
  t.match(report, { differenceCount: 0, differences: [] })
  t.ok(report.rows > 30)
})

test('on a full disk reads and deletes go on, and writes return with the space', async (t) => {
  const full = await startInThread({ dataDirectory, reservedBytes: 2 ** 60 })
  t.same(await snapshotOf(full), before, 'reads')
  for (const body of ['small', sampleBytes(200_000)]) {
    isError(t, await full.raw('PUT', '/first-bucket/full', { body }), 'InsufficientStorage', `${body.length} bytes`)
  }
  isError(t, await full.raw('GET', '/first-bucket/full'), 'NoSuchKey', 'nothing was stored')
  isDone(t, await full.raw('PUT', '/gone-bucket'), 200, 'what needs no space for bytes goes through')
  isDone(t, await full.raw('DELETE', '/gone-bucket'), 204, 'deletes')
  await full.stop()
  const server = await startInThread({ dataDirectory })
  isDone(t, await server.raw('PUT', '/first-bucket/full', { body: sampleBytes(200_000) }), 200, 'there is space again')
  isDone(t, await server.raw('DELETE', '/first-bucket/full'), 204, 'delete')
  t.same(await snapshotOf(server), before)
  await server.stop()
})

test('another master key is refused, and the store is unharmed', async (t) => {
  const masterKey = Buffer.alloc(32, 8)
  await t.rejects(startInThread({ dataDirectory, masterKey }), { name: 'MasterKeyMismatchError' })
  const server = await startInThread({ dataDirectory })
  t.same(await snapshotOf(server), before)
  await server.stop()
})

test('the program serves the same directory, and survives kill -9', async (t) => {
  const first = await startProcess({ dataDirectory })
  t.same(await snapshotOf(first), before)
  const acknowledged = new Map<string, string>()
  const bodies = Array.from({ length: 40 }, (_, index) => sampleBytes(index % 4 === 0 ? 80_000 : 50 * index, index))
  const uploads = bodies.map(async (body, index) => {
    const key = `killed/${index}`
    const answer = await first.raw('PUT', `/first-bucket/${key}`, { body }).catch(() => undefined)
    if (answer?.status !== 200) return
    acknowledged.set(`first-bucket/${key}`, createHash('sha256').update(body).digest('hex'))
    if (acknowledged.size === 20) await first.kill9()
  })
  await Promise.all(uploads)
  t.ok(acknowledged.size >= 20)

  const second = await startProcess({ dataDirectory })
  t.teardown(() => second.stop())
  const after = await snapshotOf(second)
  for (const [name, sha256] of acknowledged) t.equal(after.objects[name]?.sha256, sha256, name)
  for (const [name, object] of Object.entries(before.objects)) t.same(after.objects[name], object, name)
  for (const [name, { sha256 }] of Object.entries(after.objects)) {
    const index = /killed\/(\d+)$/.exec(name)?.[1]
    if (index !== undefined) t.equal(sha256, hash('sha256', bodies[Number(index)] ?? '', 'hex'), 'whole or not at all')
  }
})
