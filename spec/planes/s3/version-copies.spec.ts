import { CopyObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'
import { createBucket, historyOf, put, remove, setVersioning, versionIdOf } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const LARGE = sampleBytes(200_000)
const SOURCE_ID = 'x-amz-copy-source-version-id'

await createBucket(server, 'plain')
await createBucket(server, 'versioned')
await put(server, 'versioned/adopted', 'adopted', [['x-amz-meta-age', 'old']])
await setVersioning(server, 'versioned', 'enabled')

function copy(source: string, target: string, headers: readonly HeaderLine[] = []) {
  return raw('PUT', `/${target}`, { headers: [['x-amz-copy-source', source], ...headers] })
}

test('s3-wire 3: a copy names the version it was made of, and the one that it is', async (t) => {
  const one = await put(server, 'versioned/k', 'one', [['x-amz-meta-nr', '1']])
  const two = await put(server, 'versioned/k', LARGE, [['x-amz-meta-nr', '2']])
  const current = await copy('versioned/k', 'versioned/copy')
  isDone(t, current, 200, 'of the current version')
  t.equal(current.headers[SOURCE_ID], two)
  const older = await copy(`/versioned/k?versionId=${one}`, 'versioned/copy')
  isDone(t, older, 200, 'of an older version')
  t.equal(older.headers[SOURCE_ID], one)
  t.match(versionIdOf(older), /^[\w-]{22}$/)
  t.same(await historyOf(server, 'versioned', 'copy'), [`${versionIdOf(older)}*`, versionIdOf(current)])
  const got = await raw('GET', '/versioned/copy')
  t.equal(got.text, 'one')
  t.match(got.headers, { 'x-amz-meta-nr': '1', etag: firstElement(older.text, 'ETag') })
  t.ok((await raw('GET', `/versioned/copy?versionId=${versionIdOf(current)}`)).body.equals(LARGE))
  const out = await copy(`versioned/k?versionId=${one}`, 'plain/copy')
  t.equal(out.headers[SOURCE_ID], one, 'into a bucket without versions: the source has one')
  t.equal(versionIdOf(out), undefined, 'the copy has none')
  const into = await copy('plain/copy', 'versioned/from-plain')
  t.notMatch(into.headers, { [SOURCE_ID]: String }, 'out of a bucket without versions')
  t.match(versionIdOf(into), /^[\w-]{22}$/)
})

test('s3-wire 3, 5: a copy of the version null, adopted or of a bucket that never had others', async (t) => {
  const adopted = await copy('versioned/adopted?versionId=null', 'versioned/of-null')
  isDone(t, adopted, 200, 'adopted')
  t.equal(adopted.headers[SOURCE_ID], 'null')
  t.match(await raw('GET', '/versioned/of-null'), { text: 'adopted', headers: { 'x-amz-meta-age': 'old' } })
  await put(server, 'versioned/adopted', 'above')
  isDone(
    t,
    await copy('versioned/adopted?versionId=null', 'versioned/of-null'),
    200,
    'and not the current one any more',
  )
  t.equal((await raw('GET', '/versioned/of-null')).text, 'adopted')
  await put(server, 'plain/k', 'plain')
  isDone(t, await copy('plain/k?versionId=null', 'plain/of-null'), 200, 'of a bucket without versions')
  isError(t, await copy('versioned/of-null?versionId=null', 'plain/x'), 'NoSuchVersion', 'there is none of that id')
})

test('s3-wire 3: what cannot be the source of a copy', async (t) => {
  const version = await put(server, 'versioned/source', 'bytes')
  const otherKey = await put(server, 'versioned/other', 'bytes')
  const marker = await remove(server, 'versioned/source')
  const cases: [source: string, code: S3ErrorCode][] = [
    ['versioned/source', 'NoSuchKey'],
    [`versioned/source?versionId=${marker}`, 'InvalidRequest'],
    [`versioned/source?versionId=${otherKey}`, 'NoSuchVersion'],
    [`versioned/source?versionId=${'A'.repeat(22)}`, 'NoSuchVersion'],
    ['versioned/source?versionId=', 'InvalidArgument'],
    ['versioned/source?versionId=a%20b', 'InvalidArgument'],
    [`plain/source?versionId=${version}`, 'NoSuchVersion'],
    [`versioned/never?versionId=${version}`, 'NoSuchVersion'],
    [`no-such-bucket/source?versionId=${version}`, 'NoSuchBucket'],
    [`versioned/source%3FversionId=${version}`, 'NoSuchKey'],
  ]
  for (const [source, code] of cases) {
    isError(t, await copy(source, 'plain/target'), code, source)
  }
  isError(t, await raw('GET', '/plain/target'), 'NoSuchKey', 'nothing came of it')
  isDone(t, await copy(`versioned/source?versionId=${version}`, 'plain/target'), 200, 'a version behind a marker')
})

test('s3-wire 3: an older version copied onto its own key is how it is restored', async (t) => {
  const one = await put(server, 'versioned/restored', 'one', [['x-amz-meta-nr', '1']])
  const two = await put(server, 'versioned/restored', 'two')
  isError(t, await copy('versioned/restored', 'versioned/restored'), 'InvalidRequest', 'without an id')
  const restored = await copy(`versioned/restored?versionId=${one}`, 'versioned/restored')
  isDone(t, restored, 200, 'an older version')
  t.same(await historyOf(server, 'versioned', 'restored'), [`${versionIdOf(restored)}*`, two, one])
  t.match(await raw('GET', '/versioned/restored'), { text: 'one', headers: { 'x-amz-meta-nr': '1' } })
  const marker = await remove(server, 'versioned/restored')
  const again = await copy(`versioned/restored?versionId=${two}`, 'versioned/restored')
  isDone(t, again, 200, 'from behind a marker')
  t.equal((await raw('GET', '/versioned/restored')).text, 'two')
  t.equal((await historyOf(server, 'versioned', 'restored')).length, 5)
  for (const id of [one, two, marker, versionIdOf(restored)]) await remove(server, 'versioned/restored', id)
  t.equal((await raw('GET', '/versioned/restored')).text, 'two', 'the bytes are those of the copy now')
})

test('s3-wire 3: conditions on the source are on the version named', async (t) => {
  const one = await put(server, 'versioned/judged', 'one')
  await put(server, 'versioned/judged', 'two')
  const oldEtag = String((await raw('HEAD', `/versioned/judged?versionId=${one}`)).headers.etag)
  const source = `versioned/judged?versionId=${one}`
  isDone(t, await copy(source, 'plain/judged', [['x-amz-copy-source-if-match', oldEtag]]), 200, 'its ETag')
  const none: HeaderLine[] = [['x-amz-copy-source-if-none-match', oldEtag]]
  isError(t, await copy(source, 'plain/judged', none), 'PreconditionFailed', 'its ETag')
  isDone(t, await copy('versioned/judged', 'plain/judged', none), 200, 'the current one has another')
})

test('a version lives for as long as copies of its bytes do', async (t) => {
  for (const [key, body] of [
    ['small', Buffer.from('small')],
    ['large', LARGE],
  ] as const) {
    const one = await put(server, `versioned/life-${key}`, body)
    await put(server, `versioned/life-${key}`, 'above')
    isDone(t, await copy(`versioned/life-${key}?versionId=${one}`, `plain/life-${key}`), 200, 'copy')
    await remove(server, `versioned/life-${key}`, one)
    t.ok((await raw('GET', `/plain/life-${key}`)).body.equals(body), 'the version is gone')
    isError(t, await raw('GET', `/versioned/life-${key}?versionId=${one}`), 'NoSuchVersion', 'and is gone')
  }
})

test('the SDK copies versions too', async (t) => {
  const one = await put(server, 'versioned/sdk', 'one')
  await put(server, 'versioned/sdk', 'two')
  const CopySource = `versioned/sdk?versionId=${one}`
  const copied = await s3.send(new CopyObjectCommand({ Bucket: 'versioned', Key: 'sdk-copy', CopySource }))
  t.match(copied, { CopySourceVersionId: one, VersionId: /^[\w-]{22}$/ })
  t.equal((await raw('GET', '/versioned/sdk-copy')).text, 'one')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
