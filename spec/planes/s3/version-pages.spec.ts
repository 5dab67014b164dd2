/** Paging through versions: whatever the size of the pages and whatever goes on in between. */
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import {
  createBucket,
  historyOf,
  put,
  remove,
  setVersioning,
  type VersionQuery,
  versionPage,
  versionPages,
} from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server
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
  const ids = ['null']
  for (let batch = 0; batch < MANY / 15; batch += 1) {
    const written = Array.from({ length: 15 }, () => put(server, 'many/k', `${batch}`))
    ids.push(...(await Promise.all(written)).map(String))
  }
  await put(server, 'many/l', 'x')
  const first = await versionPage(server, 'many', { prefix: 'k' })
  t.equal(first.entries.length, 1000)
  t.equal(first.truncated, true)
  const pages = await versionPages(server, 'many', { prefix: 'k' }, 1000)
  const all = pages.flatMap(({ entries }) => entries)
  t.same(all.map(({ id }) => id).toSorted(), ids.toSorted(), 'each once')
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

test('s3-wire 2: one by one gives the same as one page, with versions, markers, nulls and prefixes', async (t) => {
  await createBucket(server, 'mixed')
  const keys = ['a', 'a\u0000', 'a\u0000b', 'a/', 'a/b', 'a/b/c', 'b', 'ü', '\u{10000}']
  for (const key of keys) await put(server, `mixed/${encodeURIComponent(key)}`, 'adopted')
  await setVersioning(server, 'mixed', 'enabled')
  for (const [index, key] of keys.entries()) {
    const target = `mixed/${encodeURIComponent(key)}`
    if (index % 2 === 0) await put(server, target, 'above')
    if (index % 3 !== 0) await remove(server, target)
    if (index % 4 === 0) await put(server, target, 'newest')
  }
  await setVersioning(server, 'mixed', 'suspended')
  for (const key of keys.slice(3, 7)) await remove(server, `mixed/${encodeURIComponent(key)}`)
  for (const query of [
    {},
    { delimiter: '/' },
    { prefix: 'a' },
    { prefix: 'a', delimiter: '\u0000' },
    { prefix: 'a/', delimiter: '/' },
    { prefix: 'a/b', delimiter: '/' },
    { delimiter: 'a' },
  ]) {
    const { entries, prefixes } = await versionPage(server, 'mixed', query)
    const whole = [...entries.map(({ key, id }) => `${key} ${id}`), ...prefixes].toSorted()
    for (const size of [1, 2, 3, 7]) {
      const pages = await listed('mixed', query, size)
      t.same(pages.toSorted(), whole, `${JSON.stringify(query)} in pages of ${size}`)
    }
    const latest = (await versionPages(server, 'mixed', query, 1)).flatMap((page) => page.entries)
    t.same(latest, entries, `${JSON.stringify(query)}: each entry is the same alone`)
  }
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

test('s3-wire 2: a page goes on behind a version that is deleted meanwhile', async (t) => {
  await createBucket(server, 'deleted')
  await setVersioning(server, 'deleted', 'enabled')
  const ids: string[] = []
  for (let index = 0; index < 6; index += 1) ids.unshift(String(await put(server, 'deleted/k', `${index}`)))
  await put(server, 'deleted/l', 'x')
  const first = await versionPage(server, 'deleted', { maxKeys: 2 })
  t.equal(first.nextVersionIdMarker, ids[1])
  const rest = { keyMarker: 'k', versionIdMarker: String(first.nextVersionIdMarker) }
  const expected = ids.slice(2)
  const after = async () =>
    (await versionPage(server, 'deleted', rest)).entries.map(({ key, id }) => (key === 'k' ? id : key))
  t.same(await after(), [...expected, 'l'])
  await remove(server, 'deleted/k', ids[1])
  t.same(await after(), [...expected, 'l'], 'the marker is gone')
  await remove(server, 'deleted/k', ids[0])
  t.same(await after(), [...expected, 'l'], 'everything before it is gone: what follows is current now')
  t.equal((await versionPage(server, 'deleted', rest)).entries[0]?.isLatest, true)
  await put(server, 'deleted/k', 'new')
  t.same(await after(), [...expected, 'l'], 'what is newer than the marker stands before it')
  t.ok((await versionPage(server, 'deleted', rest)).entries.every(({ key, isLatest }) => key === 'l' || !isLatest))
  await remove(server, 'deleted/k')
  t.same(await after(), [...expected, 'l'])
  for (const { id } of (await versionPage(server, 'deleted', { prefix: 'k' })).entries)
    await remove(server, 'deleted/k', id)
  t.same(await after(), ['l'], 'the key is gone')
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

test('s3-wire 2: no version is missed or told twice while others come and go', async (t) => {
  let buckets = 0
  const change = fc.record({ at: fc.nat(), kind: fc.constantFrom('put', 'delete', 'remove') })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 6 }), fc.integer({ min: 1, max: 3 }), async (changes, maxKeys) => {
      buckets += 1
      const bucket = `moving-${buckets}`
      await createBucket(server, bucket)
      await setVersioning(server, bucket, 'enabled')
      for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await put(server, `${bucket}/${key}`, 'x')
      const before = (await versionPage(server, bucket)).entries
      const seen: string[] = []
      const gone = new Set<string>()
      let query: VersionQuery = { maxKeys }
      for (let page = 0; ; page += 1) {
        const { entries, nextKeyMarker, nextVersionIdMarker } = await versionPage(server, bucket, query)
        seen.push(...entries.map(({ id }) => id))
        if (nextKeyMarker === undefined) break
        query = { maxKeys, keyMarker: nextKeyMarker, versionIdMarker: String(nextVersionIdMarker) }
        const next = changes[page]
        const victim = before[(next?.at ?? 0) % before.length]
        if (next === undefined || victim === undefined) continue
        if (next.kind === 'put') await put(server, `${bucket}/${victim.key}`, 'y')
        else await remove(server, `${bucket}/${victim.key}`, next.kind === 'delete' ? undefined : victim.id)
        if (next.kind === 'remove') gone.add(victim.id)
      }
      t.equal(new Set(seen).size, seen.length, 'none twice')
      const stayed = before.map(({ id }) => id).filter((id) => !gone.has(id))
      t.same(
        stayed.filter((id) => !seen.includes(id)),
        [],
        'what was there all the time is listed',
      )
    }),
    { numRuns: 40 },
  )
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
