import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { elements, firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const Bucket = 'key-bucket'

await raw('PUT', `/${Bucket}`)

/** A request target with every byte of the key escaped but those that need none and the slash. */
function target(key: string): string {
  return `/${Bucket}/${encodeURIComponent(key).replaceAll('%2F', '/')}`
}

/** Keys that a careless reader of URLs would take for one another. */
const FAMILIES: readonly (readonly string[])[] = [
  ['a', '/a', '//a', 'a/', 'a//', '/a/'],
  ['d/e', 'd//e', 'd/./e', 'd/../e', 'd/e/.', './d/e', '../d/e', 'd\\e'],
  ['.', '..', '/', '//', './', '../'],
  ['p q', 'p+q', 'p%20q', 'p%2Bq', 'p%2520q', 'p%q'],
  ['x/y', 'x%2Fy', 'x%2fy', 'x%252Fy'],
  ['é', 'e\u0301', '%C3%A9', '%c3%a9', 'Ã©'],
  ['q?r', 'q', 'q?', 'q?acl', 'q&acl', 'q#r', 'q=r'],
  ['n\u0000', 'n', 'n\u0001', 'n\n', 'n\r', 'n\r\n', 'n\t', 'n\u007f', 'n\u0085'],
  ['😀', '😀😀', '\uffff', '\ufffd', '\ue000', '\u{10ffff}'],
  ['<a>&"\'', '&lt;a&gt;', '&#1;', '&amp;'],
  ['__proto__', 'constructor', 'toString', 'null', 'undefined', '0'],
]

test('keys are bytes, and no two of them are one', async (t) => {
  for (const family of FAMILIES) {
    for (const key of family)
      isDone(t, await raw('PUT', target(key), { body: `body of ${key}` }), 200, JSON.stringify(key))
    for (const key of family) {
      const answer = await raw('GET', target(key))
      t.equal(answer.text, `body of ${key}`, JSON.stringify(key))
    }
  }
  const listing = await raw('GET', `/${Bucket}?list-type=2&encoding-type=url`)
  const listed = elements(listing.text, 'Key').map((key) => decodeURIComponent(key))
  const keys = FAMILIES.flat()
  t.same(
    listed,
    keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
  )
  for (const key of keys) {
    isDone(t, await raw('DELETE', target(key)), 204, JSON.stringify(key))
    isError(t, await raw('GET', target(key)), 'NoSuchKey', JSON.stringify(key))
  }
  t.equal(firstElement((await raw('GET', `/${Bucket}?list-type=2`)).text, 'KeyCount'), '0')
})

test('the same through the SDK', async (t) => {
  for (const Key of FAMILIES.flat().filter((key) => !['.', '..', './', '../'].includes(key))) {
    const Body = `body of ${Key}`
    await s3.send(new PutObjectCommand({ Bucket, Key, Body }))
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }))
    t.equal(await got.Body?.transformToString(), Body, JSON.stringify(Key))
    t.equal((await s3.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength, Buffer.byteLength(Body))
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, EncodingType: 'url' }))
    t.same(
      Contents.map((object) => decodeURIComponent(object.Key ?? '')),
      [Key],
    )
    const CopySource = `${Bucket}/${encodeURIComponent(Key)}`
    await s3.send(new CopyObjectCommand({ Bucket, Key: `${Key}.copy`, CopySource }))
    for (const key of [Key, `${Key}.copy`]) await s3.send(new DeleteObjectCommand({ Bucket, Key: key }))
  }
})

test('the length of a key', async (t) => {
  for (const key of ['k'.repeat(1024), 'ü'.repeat(512), '😀'.repeat(256), '/'.repeat(1024), '\u0001'.repeat(1024)]) {
    isDone(t, await raw('PUT', target(key), { body: 'long' }), 200, `${key.length} characters`)
    t.equal((await raw('GET', target(key))).text, 'long')
    const listing = await raw('GET', `/${Bucket}?list-type=2&encoding-type=url&max-keys=1`)
    t.equal(decodeURIComponent(firstElement(listing.text, 'Key') ?? ''), key)
    const copied = await s3.send(
      new CopyObjectCommand({
        Bucket,
        Key: key,
        CopySource: `${Bucket}/${encodeURIComponent(key)}`,
        MetadataDirective: 'REPLACE',
      }),
    )
    t.ok(copied.CopyObjectResult)
    isDone(t, await raw('DELETE', target(key)), 204, 'delete')
  }
  for (const key of ['k'.repeat(1025), 'ü'.repeat(512) + 'k', '😀'.repeat(257), 'k'.repeat(10_000)]) {
    for (const method of ['PUT', 'GET', 'DELETE']) {
      isError(t, await raw(method, target(key)), 'KeyTooLongError', `${method} of ${key.length} characters`)
    }
  }
})

test('a path of bytes that are no UTF-8 names nothing', async (t) => {
  for (const path of ['%ff', 'a%80', '%c3', '%ed%a0%80', '%f4%90%80%80', '%c0%af', '%zz', '%', '%4']) {
    isError(t, await raw('GET', `/${Bucket}/${path}`, { sign: false }), 'InvalidURI', path)
  }
})

test('any key at all', async (t) => {
  const character = fc.oneof(
    fc.constantFrom('/', '.', '%', '+', ' ', '&', '?', '\u0000', '\u00ff', '\uffff', '😀'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
  )
  const key = fc.array(character, { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(key, async (text) => {
      const stored = await raw('PUT', target(text), { body: text })
      const got = await raw('GET', target(text))
      const query = `list-type=2&encoding-type=url&prefix=${encodeURIComponent(text)}`
      const listed = elements((await raw('GET', `/${Bucket}?${query}`)).text, 'Key').map((one) =>
        decodeURIComponent(one),
      )
      const deleted = await raw('DELETE', target(text))
      const statuses = [stored.status, got.status, deleted.status]
      t.same([...statuses, got.text, ...listed], [200, 200, 204, text, text], JSON.stringify(text))
    }),
    { numRuns: 60 },
  )
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
