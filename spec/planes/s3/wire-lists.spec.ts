import { ListObjectsV2Command, paginateListObjectsV2 } from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import { byUtf8, listPage, listPages, modelEntries, PREFIX_MARK } from '../../support/list-model.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server

/** Makes a bucket with empty objects, many at a time. */
async function fill(bucket: string, keys: readonly string[]): Promise<void> {
  await raw('PUT', `/${bucket}`)
  const rest = [...keys]
  const work = async () => {
    for (let key = rest.pop(); key !== undefined; key = rest.pop()) {
      const answer = await raw('PUT', `/${bucket}/${encodeURIComponent(key)}`)
      if (answer.status !== 200) throw new Error(`${key}: ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: 32 }, work))
}

const MANY = Array.from({ length: 2500 }, (_, index) => `dir-${index % 50}/${String(index).padStart(5, '0')}`)
const MIXED = [
  ['a', 'a/b', 'a/b/c', 'a/b/d', 'a/c', 'a//', 'a//b', 'a-b', 'a::b', 'a::b::c', 'b::', 'b', 'b/', 'b/b'],
  ['ü', 'ü/a', '\uffff', '\uffff/x', '😀', '😀/x', '\ue000', '\u{10000}', '/', '//', 'z z', 'z+z', 'z%z', 'z<&>"'],
  ['\u0001', '\u0001/a', 'n\n', 'n\r', '\u007f'],
].flat()
await fill('many-bucket', MANY)
await fill('mixed-bucket', MIXED)

test('pages of any size add up to the whole, in order and without repeats', async (t) => {
  const whole = modelEntries(MANY, {})
  for (const size of [13, 99, 499, 500, 833, 834, 999, 1000]) {
    const pages = await listPages(server, 'many-bucket', {}, size)
    t.same(
      pages.flatMap((page) => page.entries),
      whole,
      `pages of ${size}`,
    )
    t.equal(pages.length, Math.ceil(whole.length / size))
  }
  for (const [maxKeys, count] of [
    [1001, 1000],
    [2 ** 40, 1000],
    [1000, 1000],
  ] as const) {
    const page = await listPage(server, 'many-bucket', { maxKeys })
    t.match(page, { keyCount: count, maxKeys: 1000, truncated: true })
  }
  t.match(await listPage(server, 'many-bucket', {}), { keyCount: 1000, maxKeys: 1000, truncated: true })
  const none = await listPage(server, 'many-bucket', { maxKeys: 0 })
  t.match(none, { keyCount: 0, maxKeys: 0, truncated: false, next: undefined })
  const keys: string[] = []
  for await (const page of paginateListObjectsV2({ client: s3 }, { Bucket: 'many-bucket' })) {
    keys.push(...(page.Contents ?? []).map((object) => object.Key ?? ''))
  }
  t.same(keys, whole, 'the paginator of the SDK')
})

test('every page size, with and without a delimiter', async (t) => {
  for (const query of [{}, { delimiter: '/' }, { delimiter: '::' }, { prefix: 'a', delimiter: '/' }]) {
    const whole = modelEntries(MIXED, query)
    for (let size = 1; size <= whole.length + 1; size += 1) {
      const pages = await listPages(server, 'mixed-bucket', query, size)
      t.same(
        pages.flatMap((page) => page.entries),
        whole,
        `${JSON.stringify(query)}, pages of ${size}`,
      )
      t.equal(pages.length, Math.max(1, Math.ceil(whole.length / size)))
    }
  }
  const folders = await listPages(server, 'many-bucket', { delimiter: '/' }, 7)
  t.same(
    folders.flatMap((page) => page.entries),
    modelEntries(MANY, { delimiter: '/' }),
    '50 folders of 50',
  )
})

test('any query against the model', async (t) => {
  const pieces = fc.constantFrom(
    '',
    'a',
    'a/',
    'a/b',
    'a//',
    '/',
    '//',
    'b',
    ':',
    '::',
    'b::',
    'ü',
    '😀',
    '\uffff',
    'z',
    ' ',
    '+',
    '\u0001',
    'n\r',
    'zz',
  )
  const text = fc.oneof(
    pieces,
    fc.tuple(pieces, pieces).map((pair) => pair.join('')),
    fc.constantFrom(...MIXED),
  )
  const query = fc.record({ prefix: text, delimiter: text, startAfter: text })
  await fc.assert(
    fc.asyncProperty(query, fc.integer({ min: 1, max: 12 }), async (wanted, size) => {
      const pages = await listPages(server, 'mixed-bucket', wanted, size)
      t.same(
        pages.flatMap((page) => page.entries),
        modelEntries(MIXED, wanted),
        JSON.stringify(wanted),
      )
    }),
    { numRuns: 150 },
  )
})

test('keys of any bucket against the model', async (t) => {
  const key = fc
    .array(fc.constantFrom('a', 'b', '/', 'ab', 'ü', '😀', '\uffff'), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(''))
  let buckets = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 12 }),
      fc.constantFrom('/', 'a', 'ab', 'ü', ''),
      async (keys, delimiter) => {
        buckets += 1
        const bucket = `model-${buckets}`
        await fill(bucket, keys)
        for (const size of [1, 2, 5]) {
          const pages = await listPages(server, bucket, { delimiter }, size)
          t.same(
            pages.flatMap((page) => page.entries),
            modelEntries(keys, { delimiter }),
            JSON.stringify(keys),
          )
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('the order is that of UTF-8, not that of JavaScript', async (t) => {
  const above = ['\uffff', '😀', '\u{10000}', '\ue000']
  t.notSame(above.toSorted(), above.toSorted(byUtf8))
  const page = await listPage(server, 'mixed-bucket', { startAfter: 'ü/a' })
  t.same(page.entries, ['\ue000', '\uffff', '\uffff/x', '\u{10000}', '😀', '😀/x'])
})

test('a prefix comes once over all pages, also when its keys change in between', async (t) => {
  await fill('moving-bucket', ['a/1', 'a/2', 'b/1', 'c'])
  const first = await listPage(server, 'moving-bucket', { delimiter: '/', maxKeys: 1 })
  t.same(first.entries, [`a/${PREFIX_MARK}`])
  await raw('PUT', '/moving-bucket/a%2F3')
  await raw('DELETE', '/moving-bucket/b/1')
  const rest = await listPage(server, 'moving-bucket', { delimiter: '/', token: first.next })
  t.same(rest.entries, ['c'])
})

test('what a page says of itself and of its objects', async (t) => {
  const query = 'list-type=2&prefix=a&delimiter=%2F&start-after=a%2Fb&max-keys=2&fetch-owner=true'
  const { text } = await raw('GET', `/mixed-bucket?${query}`)
  const names = ['Name', 'Prefix', 'StartAfter', 'KeyCount', 'MaxKeys', 'Delimiter', 'IsTruncated']
  const values = names.map((name) => firstElement(text, name))
  t.same(values, ['mixed-bucket', 'a', 'a/b', '2', '2', '/', 'true'])
  t.match(text, '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">')
  const token = String(firstElement(text, 'NextContinuationToken'))
  const second = await raw('GET', `/mixed-bucket?${query}&continuation-token=${encodeURIComponent(token)}`)
  t.equal(firstElement(second.text, 'ContinuationToken'), token, 'the token is echoed')
  t.equal(firstElement(second.text, 'StartAfter'), 'a/b', 'beside a start-after that counts no more')
  const object = blocks(text, 'Contents')[0] ?? ''
  t.match(
    object,
    /^<Key>[^<]+<\/Key><LastModified>[^<]+\.\d{3}Z<\/LastModified><ETag>&quot;[0-9a-f]{32}&quot;<\/ETag><Size>0<\/Size><Owner><ID>[0-9a-f]{32}<\/ID><DisplayName>root<\/DisplayName><\/Owner><StorageClass>STANDARD<\/StorageClass>$/,
  )
  await raw('PUT', '/mixed-bucket/zz', { body: 'bytes' })
  const last = blocks((await raw('GET', '/mixed-bucket?list-type=2&prefix=zz')).text, 'Contents')[0] ?? ''
  const { headers } = await raw('HEAD', '/mixed-bucket/zz')
  t.equal(firstElement(last, 'ETag'), headers.etag)
  t.equal(firstElement(last, 'Size'), headers['content-length'])
  t.equal(new Date(firstElement(last, 'LastModified') ?? '').toUTCString(), headers['last-modified'])
  await raw('DELETE', '/mixed-bucket/zz')
  const plain = await raw('GET', '/mixed-bucket/?list-type=2&delimiter=&max-keys=&continuation-token=')
  t.notMatch(plain.text, '<Owner>')
  t.notMatch(plain.text, '<Delimiter>')
  t.notMatch(plain.text, '<EncodingType>')
  t.match(plain.text, '<Prefix></Prefix>')
  t.equal(firstElement(plain.text, 'KeyCount'), String(MIXED.length))
})

test('keys in XML, and percent-encoded', async (t) => {
  const plain = await raw('GET', '/mixed-bucket?list-type=2&prefix=z')
  t.same(elements(plain.text, 'Key'), ['z z', 'z%z', 'z+z', 'z<&>"'])
  t.match(plain.text, '<Key>z&lt;&amp;&gt;&quot;</Key>')
  const controls = await raw('GET', '/mixed-bucket?list-type=2&prefix=n')
  t.same(blocks(controls.text, 'Key'), ['n&#10;', 'n&#13;'], 'no line end is lost to a parser')
  const encoded = await raw(
    'GET',
    '/mixed-bucket?list-type=2&encoding-type=url&prefix=z%20&delimiter=%2B&start-after=a%2Fb%20',
  )
  t.match(encoded.text, '<EncodingType>url</EncodingType>')
  t.same(elements(encoded.text, 'Key'), ['z%20z'])
  const names = ['Prefix', 'Delimiter', 'StartAfter'].map((name) => firstElement(encoded.text, name))
  t.same(names, ['z%20', '%2B', 'a/b%20'])
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'mixed-bucket', Prefix: 'z' }))
  t.same(
    Contents.map((object) => object.Key),
    ['z z', 'z%z', 'z+z', 'z<&>"'],
  )
})

test('parameters that are not valid, and tokens that were not given out', async (t) => {
  const page = await listPage(server, 'mixed-bucket', { maxKeys: 1 })
  const token = String(page.next)
  const foreign = String((await listPage(server, 'many-bucket', { maxKeys: 1 })).next)
  const bytes = Buffer.from(token, 'base64url')
  const flipped = Array.from(bytes, (_, index) => {
    const copy = Buffer.from(bytes)
    copy[index] = (copy[index] ?? 0) ^ 1
    return copy.toString('base64url')
  })
  const tokens = [
    ...flipped,
    foreign,
    'a',
    'AAAA',
    `${token}=`,
    `${token} `,
    ` ${token}`,
    token.slice(0, -1),
    `${token}A`,
    't'.repeat(5000),
  ]
  for (const forged of tokens) {
    const answer = await raw('GET', `/mixed-bucket?list-type=2&continuation-token=${encodeURIComponent(forged)}`)
    isError(t, answer, 'InvalidArgument', forged.slice(0, 60))
  }
  for (const query of [
    'max-keys=-1',
    'max-keys=a',
    'max-keys=1.5',
    'max-keys=1e3',
    'encoding-type=',
    'encoding-type=xml',
  ]) {
    isError(t, await raw('GET', `/mixed-bucket?list-type=2&${query}`), 'InvalidArgument', query)
  }
  const long = 'a'.repeat(5000)
  for (const name of ['prefix', 'start-after', 'delimiter']) {
    const answer = await raw('GET', `/mixed-bucket?list-type=2&${name}=${long}`)
    isDone(t, answer, 200, `a ${name} that no key can have`)
  }
  t.equal((await listPage(server, 'mixed-bucket', { prefix: long })).keyCount, 0)
  t.same(
    (await listPage(server, 'mixed-bucket', { startAfter: `a::b${long}` })).entries,
    modelEntries(MIXED, { startAfter: `a::b${long}` }),
  )
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
