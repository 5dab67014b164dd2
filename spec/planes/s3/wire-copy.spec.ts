import { CopyObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const LARGE = sampleBytes(200_000)
const OTHER_ETAG = '"00000000000000000000000000000000"'

await raw('PUT', '/from-bucket')
await raw('PUT', '/to-bucket')

const described: HeaderLine[] = [
  ['content-type', 'text/plain'],
  ['cache-control', 'no-store'],
  ['x-amz-meta-colour', 'blue'],
]

async function store(key: string, body: Buffer | string): Promise<string> {
  const answer = await raw('PUT', `/from-bucket/${key}`, { body, headers: described })
  return String(answer.headers.etag)
}

function copy(source: string, target: string, headers: readonly HeaderLine[] = []) {
  return raw('PUT', target, { headers: [['x-amz-copy-source', source], ...headers] })
}

test('a copy has the bytes, the ETag and the description of its source', async (t) => {
  for (const [key, body] of [
    ['small', 'bytes'],
    ['large', LARGE],
    ['empty', ''],
  ] as const) {
    const etag = await store(key, body)
    for (const target of [`/from-bucket/copy-of-${key}`, `/to-bucket/${key}`]) {
      const copied = await copy(`from-bucket/${key}`, target, [
        ['x-amz-meta-colour', 'red'],
        ['content-type', 'text/html'],
      ])
      isDone(t, copied, 200, target)
      t.match(copied.text, '<CopyObjectResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LastModified>20')
      t.equal(firstElement(copied.text, 'ETag'), etag)
      const got = await raw('GET', target)
      t.ok(got.body.equals(Buffer.from(body)))
      const kept = { 'content-type': 'text/plain', 'cache-control': 'no-store', 'x-amz-meta-colour': 'blue', etag }
      t.match(got.headers, kept, 'headers of the request are ignored')
    }
  }
})

test('REPLACE takes what the request says, and only that', async (t) => {
  await store('replace', 'bytes')
  const replaced: HeaderLine[] = [
    ['x-amz-metadata-directive', 'REPLACE'],
    ['content-type', 'text/html'],
    ['x-amz-meta-size', 'L'],
  ]
  isDone(t, await copy('/from-bucket/replace', '/to-bucket/replace', replaced), 200, 'copy')
  const { headers, text } = await raw('GET', '/to-bucket/replace')
  t.match(headers, { 'content-type': 'text/html', 'x-amz-meta-size': 'L' })
  t.notMatch(headers, { 'cache-control': String })
  t.notMatch(headers, { 'x-amz-meta-colour': String })
  t.equal(text, 'bytes')
  const bare: HeaderLine[] = [['x-amz-metadata-directive', 'REPLACE']]
  isDone(t, await copy('from-bucket/replace', '/to-bucket/bare', bare), 200, 'with nothing')
  t.equal((await raw('HEAD', '/to-bucket/bare')).headers['content-type'], 'binary/octet-stream')
  const wrong: HeaderLine[] = [['x-amz-metadata-directive', 'MERGE']]
  isError(t, await copy('from-bucket/replace', '/to-bucket/merge', wrong), 'InvalidArgument', 'another directive')
  const large: HeaderLine[] = [...bare, ['x-amz-meta-a', 'v'.repeat(2048)]]
  isError(t, await copy('from-bucket/replace', '/to-bucket/merge', large), 'MetadataTooLarge', 'too much metadata')
})

test('onto itself only with another description', async (t) => {
  const etag = await store('itself', 'bytes')
  const illegal = await copy('from-bucket/itself', '/from-bucket/itself')
  isError(t, illegal, 'InvalidRequest', 'COPY')
  const sentence =
    "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes."
  t.equal(firstElement(illegal.text, 'Message'), sentence)
  const replace: HeaderLine[] = [
    ['x-amz-metadata-directive', 'REPLACE'],
    ['x-amz-meta-a', 'b'],
  ]
  isDone(t, await copy('from-bucket/itself', '/from-bucket/itself', replace), 200, 'REPLACE')
  const { headers, text } = await raw('GET', '/from-bucket/itself')
  t.match(headers, { etag, 'x-amz-meta-a': 'b' })
  t.equal(text, 'bytes')
})

test('a copy does not depend on its source', async (t) => {
  for (const [key, body] of [
    ['life-small', 'bytes'],
    ['life-large', LARGE],
  ] as const) {
    await store(key, body)
    await copy(`from-bucket/${key}`, `/to-bucket/${key}-1`)
    await copy(`to-bucket/${key}-1`, `/to-bucket/${key}-2`)
    await store(key, 'something else')
    const read = async (target: string) => (await raw('GET', target)).body.equals(Buffer.from(body))
    t.ok(await read(`/to-bucket/${key}-1`), 'source overwritten')
    isDone(t, await raw('DELETE', `/from-bucket/${key}`), 204, 'source deleted')
    isDone(t, await raw('DELETE', `/to-bucket/${key}-1`), 204, 'copy deleted')
    t.ok(await read(`/to-bucket/${key}-2`), 'the copy of the copy is still there')
    isDone(t, await copy(`to-bucket/${key}-2`, `/to-bucket/${key}-3`), 200, 'and can be copied')
    isDone(t, await raw('DELETE', `/to-bucket/${key}-2`), 204, 'deleted')
    t.ok(await read(`/to-bucket/${key}-3`))
  }
})

function sourceCondition(name: string, value: string): HeaderLine {
  return [`x-amz-copy-source-if-${name}`, value]
}

test('conditions on the source, and on the target', async (t) => {
  const etag = await store('condition', 'bytes')
  const { headers } = await raw('HEAD', '/from-bucket/condition')
  const modified = String(headers['last-modified'])
  const past = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const cases: [code: S3ErrorCode | undefined, conditions: HeaderLine[]][] = [
    [undefined, [sourceCondition('match', etag)]],
    ['PreconditionFailed', [sourceCondition('match', OTHER_ETAG)]],
    [undefined, [sourceCondition('none-match', OTHER_ETAG)]],
    ['PreconditionFailed', [sourceCondition('none-match', etag)]],
    [undefined, [sourceCondition('unmodified-since', modified)]],
    ['PreconditionFailed', [sourceCondition('unmodified-since', past)]],
    [undefined, [sourceCondition('modified-since', past)]],
    ['PreconditionFailed', [sourceCondition('modified-since', modified)]],
    [undefined, [sourceCondition('match', etag), sourceCondition('unmodified-since', past)]],
    ['PreconditionFailed', [sourceCondition('none-match', etag), sourceCondition('modified-since', past)]],
    ['PreconditionFailed', [['if-none-match', '*']]],
    ['PreconditionFailed', [['if-match', OTHER_ETAG]]],
    [undefined, [['if-match', '*']]],
  ]
  await copy('from-bucket/condition', '/to-bucket/conditional')
  for (const [code, conditions] of cases) {
    const answer = await copy('from-bucket/condition', '/to-bucket/conditional', conditions)
    if (code === undefined) isDone(t, answer, 200, JSON.stringify(conditions))
    else isError(t, answer, code, JSON.stringify(conditions))
  }
  isDone(t, await copy('from-bucket/condition', '/to-bucket/fresh', [['if-none-match', '*']]), 200, 'a fresh target')
})

test('the source is read once and exactly', async (t) => {
  const keys = ['a b', 'a+b', 'a%20b', 'ü/ä', '//', '..', 'q?versionId=1', 'percent%', '😀', 'ümlaut?a=b&c', '/lead']
  for (const key of keys) {
    const path = encodeURIComponent(key)
    isDone(t, await raw('PUT', `/from-bucket/${path}`, { body: key }), 200, `put ${key}`)
    for (const from of [`from-bucket/${path}`, `/from-bucket/${path}`, `from-bucket%2F${path}`]) {
      isDone(t, await copy(from, '/to-bucket/exact'), 200, from)
      t.equal((await raw('GET', '/to-bucket/exact')).text, key)
    }
    const CopySource = `from-bucket/${path}`
    await s3.send(new CopyObjectCommand({ Bucket: 'to-bucket', Key: `sdk ${key}`, CopySource }))
    const got = await s3.send(new GetObjectCommand({ Bucket: 'to-bucket', Key: `sdk ${key}` }))
    t.equal(await got.Body?.transformToString(), key)
  }
  isDone(t, await copy('from-bucket/a+b', '/to-bucket/exact'), 200, 'a plus is a plus')
  t.equal((await raw('GET', '/to-bucket/exact')).text, 'a+b')
  isDone(t, await copy('from-bucket/%C3%BC/%C3%A4?versionId=null', '/to-bucket/exact'), 200, 'the version null')
  const refused: [source: string, code: S3ErrorCode][] = [
    ['from-bucket', 'InvalidArgument'],
    ['from-bucket/', 'InvalidArgument'],
    ['/', 'InvalidArgument'],
    ['', 'InvalidArgument'],
    ['//key', 'InvalidArgument'],
    ['from-bucket/%zz', 'InvalidArgument'],
    ['from-bucket/%ff', 'InvalidArgument'],
    ['from-bucket/a%20b?versionId=', 'InvalidArgument'],
    ['from-bucket/a%20b?versionId=%20', 'InvalidArgument'],
    ['from-bucket/a%20b?versionId=abc', 'NoSuchVersion'],
    ['from-bucket/missing', 'NoSuchKey'],
    ['no-such-bucket/k', 'NoSuchBucket'],
    [`from-bucket/${'k'.repeat(1025)}`, 'KeyTooLongError'],
    [`${'b'.repeat(5000)}/k`, 'NoSuchBucket'],
  ]
  for (const [from, code] of refused) isError(t, await copy(from, '/to-bucket/never'), code, from.slice(0, 50))
  isError(t, await raw('GET', '/to-bucket/never'), 'NoSuchKey', 'nothing came of it')
})

test('a copy that races with writes of its source is of one of them', async (t) => {
  await store('moving', sampleBytes(100, 0))
  const writes = Array.from({ length: 20 }, (_, index) => store('moving', sampleBytes(100, index)))
  const copies = Array.from({ length: 20 }, (_, index) => copy('from-bucket/moving', `/to-bucket/moving-${index}`))
  await Promise.all(writes)
  for (const [index, answer] of (await Promise.all(copies)).entries()) {
    if (answer.code === 'OperationAborted') continue
    isDone(t, answer, 200, 'copied')
    const { body } = await raw('GET', `/to-bucket/moving-${index}`)
    t.ok(Array.from({ length: 20 }).some((_, seed) => sampleBytes(100, seed).equals(body)))
  }
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
