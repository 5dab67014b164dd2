/**
 * The first version of ListObjects, an extension, over the same listing as the second.
 * Proves: DO-NOT-02.
 */
import { ListObjectsCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { compilePolicies } from '../../../../engine/access/policy.ts'
import { allow } from '../../../support/identities.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../../support/wire-client.ts'
import { createBucket, put, remove, setVersioning } from '../../../support/wire-versions.ts'

const READER = {
  accessKey: 'reader',
  secretKey: 'the secret of reader',
  principal: 'service_account:reader',
  credentialId: 'reader-1',
  policies: compilePolicies([allow(['s3:GetObject'], 'bucket:*'), allow(['s3:ListBucket'], 'bucket:theirs')]),
}
const server = await startInThread({ credentials: [READER], extensions: ['list-objects-v1'] })
tap.teardown(() => server.stop())
const { raw, s3 } = server

interface Page {
  readonly keys: string[]
  readonly prefixes: string[]
  readonly truncated: boolean
  readonly nextMarker: string | undefined
}

/** @param query begins with `&` where it is not empty; names are asked for percent-encoded */
async function page(bucket: string, query = ''): Promise<Page> {
  const answer = await raw('GET', `/${bucket}?encoding-type=url${query}`)
  if (answer.status !== 200) throw new Error(answer.text)
  const { text } = answer
  const nextMarker = firstElement(text, 'NextMarker')
  return {
    keys: elements(text, 'Key').map(decodeURIComponent),
    prefixes: blocks(text, 'CommonPrefixes').map((block) => decodeURIComponent(firstElement(block, 'Prefix') ?? '')),
    truncated: firstElement(text, 'IsTruncated') === 'true',
    nextMarker: nextMarker === undefined ? undefined : decodeURIComponent(nextMarker),
  }
}

/** Every page, as clients go on: from the next marker, or without one from the last key. */
async function everything(bucket: string, query: string, maxKeys: number): Promise<string[]> {
  const names: string[] = []
  let marker = ''
  for (;;) {
    const one = await page(bucket, `${query}&max-keys=${maxKeys}&marker=${encodeURIComponent(marker)}`)
    names.push(...one.keys, ...one.prefixes)
    if (!one.truncated) return names
    if (one.keys.length + one.prefixes.length !== maxKeys) throw new Error('a page is cut off before it is full')
    marker = one.nextMarker ?? one.keys.at(-1) ?? ''
  }
}

/** What version 2 lists. */
async function second(bucket: string, query: string): Promise<string[]> {
  const { text } = await raw('GET', `/${bucket}?list-type=2&encoding-type=url${query}`)
  const prefixes = blocks(text, 'CommonPrefixes').map((block) => firstElement(block, 'Prefix') ?? '')
  return [...elements(text, 'Key'), ...prefixes].map(decodeURIComponent)
}

const KEYS = [
  'a',
  'a b',
  'a/',
  'a/1',
  'a/2',
  'a/b/1',
  'a//',
  'b',
  '\r',
  '\u0001',
  '&<>"\'',
  '+%20',
  'é',
  '😀',
  '\uffff',
  'z/1',
]

test('with the extension off, the refusal is the one of before and names the setting', async (t) => {
  const plain = await startInThread()
  t.teardown(() => plain.stop())
  await createBucket(plain, 'plain')
  for (const query of ['', '?prefix=a', '?list-type=1', '?marker=a']) {
    const answer = await plain.raw('GET', `/plain${query}`)
    isError(t, answer, 'NotImplemented', query)
    t.match(firstElement(answer.text, 'Message'), /^ListObjects is not supported .* list-objects-v1 .* s3\.extensions/)
  }
})

test('the document has the elements of S3 in their order', async (t) => {
  await createBucket(server, 'elements')
  await put(server, 'elements/a/1', 'x')
  await put(server, 'elements/b', 'bytes')
  const answer = await raw('GET', '/elements?delimiter=%2F&max-keys=1&marker=A&prefix=')
  isDone(t, answer, 200, 'page')
  const inner = blocks(answer.text.replace(/ListBucketResult [^>]*/, 'ListBucketResult'), 'ListBucketResult')[0]
  t.equal(
    inner,
    '<Name>elements</Name><Prefix></Prefix><Marker>A</Marker><NextMarker>a/</NextMarker><MaxKeys>1</MaxKeys>' +
      '<Delimiter>/</Delimiter><IsTruncated>true</IsTruncated><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>',
  )
  const rest = await raw('GET', '/elements?delimiter=%2F&marker=a%2F')
  t.same(elements(rest.text, 'Key'), ['b'], 'a marker that is a common prefix is behind all of it')
  t.same(elements(rest.text, 'DisplayName'), ['root'], 'with its owner')
  t.equal(firstElement(rest.text, 'ETag'), '"4b3a6218bb3e3a7303e8a171a60fcf92"')
  const { Contents, NextMarker, Marker } = await s3.send(new ListObjectsCommand({ Bucket: 'elements' }))
  t.same(
    Contents?.map(({ Key }) => Key),
    ['a/1', 'b'],
  )
  t.same([NextMarker, Marker], [undefined, ''])
})

test('page by page, it lists what version 2 lists: hostile keys, prefixes, delimiters', async (t) => {
  await createBucket(server, 'keys')
  for (const key of KEYS) await put(server, `keys/${encodeURIComponent(key)}`, key)
  for (const prefix of ['', 'a', 'a/', 'a/b', '\r', 'nothing', 'k'.repeat(2000)]) {
    for (const delimiter of ['', '/', 'b', '//', ' ', '\r']) {
      const query = `&prefix=${encodeURIComponent(prefix)}&delimiter=${encodeURIComponent(delimiter)}`
      const expected = await second('keys', query)
      for (const maxKeys of [1, 2, 7, 1000]) {
        const got = await everything('keys', query, maxKeys)
        t.same(got.toSorted(), expected.toSorted(), `${JSON.stringify(query)} by ${maxKeys}`)
      }
    }
  }
})

test('markers need not be keys, and one that is too long decides by its beginning', async (t) => {
  t.same((await page('keys', '&marker=a%2F1')).keys.slice(0, 2), ['a/2', 'a/b/1'])
  t.same((await page('keys', '&marker=a%2F11')).keys[0], 'a/2')
  t.same(await page('keys', `&marker=${encodeURIComponent('\u{10ffff}')}`), {
    keys: [],
    prefixes: [],
    truncated: false,
    nextMarker: undefined,
  })
  t.same((await page('keys', `&marker=a${'b'.repeat(5000)}`)).keys, (await page('keys', '&marker=ab')).keys)
  t.same((await page('keys', '&marker=')).keys.length, KEYS.length, 'an empty one is none')
})

test('max-keys, and what is refused', async (t) => {
  t.same(await page('keys', '&max-keys=0'), { keys: [], prefixes: [], truncated: false, nextMarker: undefined })
  t.equal((await page('keys', '&max-keys=2')).nextMarker, undefined, 'without a delimiter S3 names no next marker')
  isDone(t, await raw('GET', '/keys?max-keys=100000'), 200, 'more than a page')
  for (const query of [
    'max-keys=-1',
    'max-keys=x',
    'encoding-type=base64',
    'list-type=1',
    'list-type=3',
    'list-type=',
  ]) {
    isError(t, await raw('GET', `/keys?${query}`), 'InvalidArgument', query)
  }
  isError(t, await raw('GET', '/missing'), 'NoSuchBucket', 'no bucket')
  isDone(t, await raw('GET', '/keys?list-type=2'), 200, 'version 2 is what it was')
})

test('who may not list is told nothing; deleted keys and markers are not listed', async (t) => {
  const sign = { accessKey: READER.accessKey, secretKey: READER.secretKey }
  isError(t, await raw('GET', '/keys', { sign }), 'AccessDenied', 'there')
  isError(t, await raw('GET', '/missing', { sign }), 'AccessDenied', 'not there')
  isError(t, await raw('GET', '/keys', { sign: false }), 'AccessDenied', 'a stranger')
  isError(t, await raw('GET', '/theirs', { sign }), 'NoSuchBucket', 'who may list hears that there is none')
  await createBucket(server, 'theirs')
  await setVersioning(server, 'theirs', 'enabled')
  await put(server, 'theirs/a', 'a')
  await put(server, 'theirs/b', 'b')
  await remove(server, 'theirs/a')
  t.same((await page('theirs')).keys, ['b'])
  isDone(t, await raw('GET', '/theirs', { sign }), 200, 'allowed')
  t.same(server.failures, [])
})
