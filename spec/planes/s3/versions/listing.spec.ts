/**
 * ListObjectVersions: many versions, long keys, and what goes on between two pages.
 * Proves: DO-CAP-04.
 */
import tap, { test } from 'tap'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import {
  createBucket,
  historyOf,
  put,
  remove,
  setVersioning,
  versionPage,
  versionPages,
  type VersionQuery,
} from '../../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

test('s3-wire 2: a key marker that ends with the delimiter is a common prefix only where it can be one', async (t) => {
  await createBucket(server, 'slashes')
  await setVersioning(server, 'slashes', 'enabled')
  for (const key of ['d/', 'd/1', 'd/e/1', 'd/e/2']) await put(server, `slashes/${key}`, 'bytes')
  const list = async (query: VersionQuery) => {
    const { entries, prefixes } = await versionPage(server, 'slashes', query)
    return [...entries.map(({ key }) => key), ...prefixes]
  }
  t.same(await list({ prefix: 'd/', delimiter: '/' }), ['d/', 'd/1', 'd/e/'])
  t.same(await list({ prefix: 'd/', delimiter: '/', keyMarker: 'd/' }), ['d/1', 'd/e/'], 'the key d/, not its prefix')
  t.same(await list({ prefix: 'd/', delimiter: '/', keyMarker: 'd/e/' }), [])
  t.same(await list({ delimiter: '/', keyMarker: 'd/' }), [])
  const uploads = await raw('GET', '/slashes?uploads&prefix=d%2F&delimiter=%2F&key-marker=d%2F')
  isDone(t, uploads, 200, 'the same of uploads')
})

const MANY = 1005

/** What a listing holds over all its pages, as `key id` and common prefixes. */
async function listed(bucket: string, query: VersionQuery, maxKeys: number): Promise<string[]> {
  const pages = await versionPages(server, bucket, query, maxKeys)
  return pages.flatMap(({ entries, prefixes }) => [...entries.map(({ key, id }) => `${key} ${id}`), ...prefixes])
}

test('s3-wire 2: more than 1,000 versions of one key', async (t) => {
  await createBucket(server, 'many')
  await put(server, 'many/before', 'x')
  await put(server, 'many/k', 'adopted')
  await setVersioning(server, 'many', 'enabled')
  const made = ['null']
  for (let batch = 0; batch < MANY / 15; batch += 1) {
    const written = Array.from({ length: 15 }, () => put(server, 'many/k', `${batch}`))
    made.push(...(await Promise.all(written)).map(String))
  }
  await put(server, 'many/l', 'x')
  const first = await versionPage(server, 'many', { prefix: 'k' })
  t.equal(first.entries.length, 1000)
  t.equal(first.truncated, true)
  const pages = await versionPages(server, 'many', { prefix: 'k' }, 1000)
  const all = pages.flatMap(({ entries }) => entries)
  t.same(all.map(({ id }) => id).toSorted(), made.toSorted(), 'each once')
  t.equal(all.at(-1)?.id, 'null', 'the oldest is the last')
  t.same(
    all.filter(({ isLatest }) => isLatest),
    all.slice(0, 1),
  )
  t.same(
    await listed('many', { prefix: 'k' }, 37),
    all.map(({ id }) => `k ${id}`),
  )
  t.equal((await listed('many', {}, 1000)).length, MANY + 3, 'the keys around it are not lost')
  t.same(await listed('many', { delimiter: 'k' }, 2), [
    'before null',
    'k',
    `l ${(await historyOf(server, 'many', 'l'))[0]?.slice(0, -1)}`,
  ])

  for (let index = 0; index < MANY; index += 15) {
    const some = all.slice(index, index + 15).filter(({ id }) => id !== 'null')
    await Promise.all(some.map(({ id }) => remove(server, 'many/k', id)))
  }
  t.same(await historyOf(server, 'many', 'k'), ['null*'])
  t.equal((await raw('GET', '/many/k')).text, 'adopted', 'the last of them is current again')
})

test('S25: pages that are cut off hold on to nothing, however many there are', async (t) => {
  await createBucket(server, 'cut-off')
  await setVersioning(server, 'cut-off', 'enabled')
  for (const key of ['a/1', 'a/2', 'b', 'b', 'c']) await put(server, `cut-off/${key}`, 'x')
  for (const key of ['a/1', 'a/2', 'b']) isDone(t, await raw('POST', `/cut-off/${key}?uploads`), 200, 'upload')
  const listings = [
    'versions',
    'versions&delimiter=%2F',
    'uploads&max-uploads=1',
    'list-type=2',
    'list-type=2&delimiter=%2F',
  ]
  for (let round = 0; round < 200; round += 1) {
    const answers = await Promise.all(listings.map((query) => raw('GET', `/cut-off?${query}&max-keys=1`)))
    for (const answer of answers) if (answer.status !== 200) t.fail(`round ${round}: ${answer.text}`)
  }
  t.same(server.failures, [])
})

test('s3-wire 2: a page goes on behind a null version that is replaced meanwhile', async (t) => {
  await createBucket(server, 'replaced')
  await setVersioning(server, 'replaced', 'enabled')
  const oldest = await put(server, 'replaced/k', 'oldest')
  await setVersioning(server, 'replaced', 'suspended')
  await put(server, 'replaced/k', 'null')
  const first = await versionPage(server, 'replaced', { maxKeys: 1 })
  t.match(first.entries, [{ id: 'null', isLatest: true }])
  await put(server, 'replaced/k', 'another null')
  const rest = { keyMarker: 'k', versionIdMarker: String(first.nextVersionIdMarker) }
  t.match((await versionPage(server, 'replaced', rest)).entries, [{ id: oldest, isLatest: false }])
  await remove(server, 'replaced/k', 'null')
  t.match((await versionPage(server, 'replaced', rest)).entries, [{ id: oldest, isLatest: true }])
  isError(t, await raw('GET', `/replaced/k?versionId=${rest.versionIdMarker}`), 'NoSuchVersion', 'the marker is no id')
  isDone(t, await raw('DELETE', `/replaced/k?versionId=${rest.versionIdMarker}`), 204, 'and deletes nothing')
  t.same(await historyOf(server, 'replaced', 'k'), [`${oldest}*`])
})

test('keys as long as keys can be, of the worst bytes there are', async (t) => {
  await createBucket(server, 'long')
  await setVersioning(server, 'long', 'enabled')
  const keys = ['\u0000'.repeat(1024), `${'\u0000'.repeat(1023)}\u0001`, 'k'.repeat(1024), '\u{10ffff}'.repeat(256)]
  for (const key of keys) {
    const target = `long/${encodeURIComponent(key)}`
    const one = await put(server, target, 'one')
    await put(server, target, 'two')
    const marker = await remove(server, target)
    t.equal((await raw('GET', `/${target}?versionId=${one}`)).text, 'one')
    const page = await versionPage(server, 'long', { prefix: key })
    t.equal(page.entries.length, 3)
    await remove(server, target, marker)
    t.equal((await raw('GET', `/${target}`)).text, 'two')
  }
  const whole = await listed('long', {}, 1000)
  t.equal(whole.length, 8)
  t.same(await listed('long', {}, 1), whole)
  for (const marker of [...keys, '\u0000'.repeat(3000), '\u{10ffff}'.repeat(700), 'k'.repeat(1025)]) {
    const query = { keyMarker: marker, delimiter: '\u0000' }
    isDone(t, await raw('GET', `/long?versions&key-marker=${encodeURIComponent(marker)}`), 200, 'a long marker')
    t.ok(await versionPage(server, 'long', query))
  }
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
