import { ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../support/wire-client.ts'
import {
  createBucket,
  put,
  remove,
  setVersioning,
  type VersionQuery,
  versionPage,
  versionsIn,
} from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const VERSION =
  /^<Key>[^<]+<\/Key><VersionId>[^<]+<\/VersionId><IsLatest>(true|false)<\/IsLatest><LastModified>[^<]+\.\d{3}Z<\/LastModified><ETag>&quot;[0-9a-f]{32}&quot;<\/ETag><Size>\d+<\/Size><Owner><ID>[0-9a-f]{32}<\/ID><DisplayName>root<\/DisplayName><\/Owner><StorageClass>STANDARD<\/StorageClass>$/
const MARKER =
  /^<Key>[^<]+<\/Key><VersionId>[^<]+<\/VersionId><IsLatest>(true|false)<\/IsLatest><LastModified>[^<]+\.\d{3}Z<\/LastModified><Owner><ID>[0-9a-f]{32}<\/ID><DisplayName>root<\/DisplayName><\/Owner>$/

await createBucket(server, 'tree')
await setVersioning(server, 'tree', 'enabled')
const ids = new Map<string, string>()
for (const key of ['a', 'a/1', 'a/2', 'b/1', 'b/c/1', 'z']) {
  ids.set(`${key} old`, String(await put(server, `tree/${key}`, 'old')))
  ids.set(`${key} new`, String(await put(server, `tree/${key}`, 'newer')))
}
ids.set('a/2 marker', String(await remove(server, 'tree/a/2')))

async function keysOf(query: VersionQuery): Promise<string[]> {
  const { entries, prefixes } = await versionPage(server, 'tree', query)
  return [...entries.map(({ key }) => key), ...prefixes]
}

async function idsOf(query: VersionQuery): Promise<string[]> {
  return (await versionPage(server, 'tree', query)).entries.map(({ id }) => id)
}

test('s3-wire 2: what the document says of itself', async (t) => {
  const marker = `key-marker=a&version-id-marker=${ids.get('a new')}`
  const { text } = await raw('GET', `/tree?versions&prefix=a&delimiter=%2F&max-keys=1&${marker}`)
  t.match(text, '<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>tree</Name>')
  const names = [
    'Prefix',
    'KeyMarker',
    'VersionIdMarker',
    'NextKeyMarker',
    'NextVersionIdMarker',
    'MaxKeys',
    'Delimiter',
  ]
  const values = names.map((name) => firstElement(text, name))
  t.same(values, ['a', 'a', ids.get('a new'), 'a', ids.get('a old'), '1', '/'])
  t.equal(firstElement(text, 'IsTruncated'), 'true')
  t.same(versionsIn(text), [
    { kind: 'version', key: 'a', id: ids.get('a old'), isLatest: false, etag: versionsIn(text)[0]?.etag, size: 3 },
  ])
  const plain = (await raw('GET', '/tree/?versions')).text
  t.match(plain, '<Prefix></Prefix><KeyMarker></KeyMarker><VersionIdMarker></VersionIdMarker><MaxKeys>1000</MaxKeys>')
  for (const name of ['NextKeyMarker', 'NextVersionIdMarker', 'Delimiter', 'EncodingType', 'CommonPrefixes']) {
    t.notOk(plain.includes(`<${name}>`), name)
  }
  t.equal(firstElement(plain, 'IsTruncated'), 'false')
  t.ok(blocks(plain, 'Version').every((block) => VERSION.test(block)))
  t.equal(blocks(plain, 'Version').length, 12)
  t.ok(
    blocks(plain, 'DeleteMarker').every((block) => MARKER.test(block)),
    'a marker has no ETag and no size',
  )
  t.equal(blocks(plain, 'DeleteMarker').length, 1)
})

test('s3-wire 2: by key, newest first within a key, one of each the latest', async (t) => {
  const { entries } = await versionPage(server, 'tree')
  const expected = ['a', 'a/1', 'a/2', 'b/1', 'b/c/1', 'z'].flatMap((key) => [
    ...(key === 'a/2' ? [`${key} marker`] : []),
    `${key} new`,
    `${key} old`,
  ])
  t.same(
    entries.map(({ id }) => id),
    expected.map((name) => ids.get(name)),
  )
  t.same(
    entries.filter(({ isLatest }) => isLatest).map(({ id }) => id),
    ['a new', 'a/1 new', 'a/2 marker', 'b/1 new', 'b/c/1 new', 'z new'].map((name) => ids.get(name)),
  )
  const head = await raw('HEAD', `/tree/a?versionId=${ids.get('a old')}`)
  t.match(entries[1], { etag: head.headers.etag, size: 3 })
})

test('s3-wire 2: prefix and delimiter', async (t) => {
  t.same(await keysOf({ prefix: 'a/' }), ['a/1', 'a/1', 'a/2', 'a/2', 'a/2'])
  t.same(await keysOf({ delimiter: '/' }), ['a', 'a', 'z', 'z', 'a/', 'b/'])
  t.same(await keysOf({ prefix: 'b/', delimiter: '/' }), ['b/1', 'b/1', 'b/c/'])
  t.same(await keysOf({ prefix: 'b', delimiter: '/c' }), ['b/1', 'b/1', 'b/c'])
  t.same(await keysOf({ prefix: 'none' }), [])
  t.same(await keysOf({ prefix: 'a'.repeat(1025) }), [])
  t.same(await keysOf({ delimiter: 'x'.repeat(2000), prefix: 'z' }), ['z', 'z'])
  t.same(await keysOf({ prefix: 'a/', delimiter: '', maxKeys: 2 }), ['a/1', 'a/1'])
  const { text } = await raw('GET', '/tree?versions&delimiter=')
  t.notOk(text.includes('<Delimiter>'), 'an empty delimiter is none')
})

test('s3-wire 2: markers are exclusive, and need not be there', async (t) => {
  const all = await idsOf({})
  t.same(await idsOf({ keyMarker: 'a' }), all.slice(2), 'a key alone: behind all its versions')
  t.same(await idsOf({ keyMarker: 'a', versionIdMarker: String(ids.get('a new')) }), all.slice(1))
  t.same(await idsOf({ keyMarker: 'a', versionIdMarker: String(ids.get('a old')) }), all.slice(2))
  t.same(await idsOf({ keyMarker: 'a/10' }), all.slice(4), 'no key')
  t.same(await idsOf({ keyMarker: 'zz' }), [])
  t.same(await idsOf({ keyMarker: 'a'.repeat(3000) }), all.slice(7), 'longer than any key')
  t.same(await idsOf({ keyMarker: 'A', prefix: 'z' }), all.slice(-2), 'before the prefix')
  t.same(await idsOf({ keyMarker: 'zz', prefix: 'a' }), [], 'behind the prefix')
  t.same(await keysOf({ keyMarker: 'a/', delimiter: '/' }), ['z', 'z', 'b/'], 'behind a common prefix')
  t.same(await keysOf({ keyMarker: 'b/c/', prefix: 'b/', delimiter: '/' }), [], 'behind a common prefix')
})

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

test('s3-wire 2: sizes of pages, and parameters that are not valid', async (t) => {
  const none = await versionPage(server, 'tree', { maxKeys: 0 })
  t.match(none, { entries: [], prefixes: [], truncated: false, maxKeys: 0 })
  t.equal((await versionPage(server, 'tree', { maxKeys: 13 })).truncated, false, 'a page that ends on the last one')
  t.equal((await versionPage(server, 'tree', { maxKeys: 12 })).truncated, true)
  t.match(await versionPage(server, 'tree', { maxKeys: 5000 }), { maxKeys: 1000, truncated: false })
  const id = ids.get('a new')
  for (const query of [
    'max-keys=-1',
    'max-keys=a',
    'max-keys=1.5',
    'encoding-type=xml',
    'encoding-type=',
    `version-id-marker=${id}`,
    'version-id-marker=null',
    `key-marker=&version-id-marker=${id}`,
    'key-marker=a&version-id-marker=no%20id',
    'key-marker=a&version-id-marker=null',
    `key-marker=a&version-id-marker=${'A'.repeat(22)}`,
  ]) {
    isError(t, await raw('GET', `/tree?versions&${query}`), 'InvalidArgument', query)
  }
  for (const query of ['max-keys=', 'version-id-marker=', 'key-marker=', 'prefix=']) {
    isDone(t, await raw('GET', `/tree?versions&${query}`), 200, `${query} empty is absent`)
  }
  isError(t, await raw('GET', '/no-such-bucket?versions'), 'NoSuchBucket', 'no bucket')
})

test('s3-wire 2: a bucket that was never versioned has one version null of each key', async (t) => {
  await createBucket(server, 'plain')
  await put(server, 'plain/k', 'one')
  await put(server, 'plain/k', 'two!')
  await put(server, 'plain/other', '')
  const { entries } = await versionPage(server, 'plain')
  t.match(entries, [
    { kind: 'version', key: 'k', id: 'null', isLatest: true, size: 4 },
    { kind: 'version', key: 'other', id: 'null', isLatest: true, size: 0 },
  ])
  const first = await versionPage(server, 'plain', { maxKeys: 1 })
  const versionIdMarker = String(first.nextVersionIdMarker)
  t.match((await versionPage(server, 'plain', { keyMarker: 'k', versionIdMarker })).entries, [{ key: 'other' }])
  const byName = await versionPage(server, 'plain', { keyMarker: 'k', versionIdMarker: 'null' })
  t.match(byName.entries, [{ key: 'other' }], 'null as a marker')
})

test('s3-wire 2: keys in XML, and percent-encoded', async (t) => {
  await createBucket(server, 'odd')
  await setVersioning(server, 'odd', 'enabled')
  const odd = ['\n\r', ' ', '%2F', '&<>"\'', '+', 'a\u0000', 'a\u0000b', 'a', '\u0001', 'ü', '\uffff', '😀']
  for (const key of odd) await put(server, `odd/${encodeURIComponent(key)}`, key)
  const sorted = odd.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
  const { entries } = await versionPage(server, 'odd')
  t.same(
    entries.map(({ key }) => key),
    sorted,
  )
  const plain = await raw('GET', '/odd?versions&prefix=%26')
  t.match(plain.text, '<Key>&amp;&lt;&gt;&quot;&apos;</Key>')
  t.match(plain.text, '<Prefix>&amp;</Prefix>')
  const encoded = await raw('GET', '/odd?versions&encoding-type=url&prefix=%20&delimiter=%2B&key-marker=%20%00')
  const names = ['EncodingType', 'Prefix', 'Delimiter', 'KeyMarker'].map((name) => firstElement(encoded.text, name))
  t.same(names, ['url', '%20', '%2B', '%20%00'])
  t.same(elements((await raw('GET', '/odd?versions&encoding-type=url&prefix=a%00')).text, 'Key'), ['a%00', 'a%00b'])
  const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: 'odd', EncodingType: 'url' }))
  t.same(
    Versions.map(({ Key }) => decodeURIComponent(Key ?? '')),
    sorted,
    'the SDK reads them too',
  )
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
