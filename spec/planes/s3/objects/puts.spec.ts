/**
 * Puts around the sizes where storage changes, what cannot be kept, and requests that race.
 * Proves: DO-CAP-01.
 */
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw, paths } = server

const Bucket = 'put-bucket'
const INLINE_LIMIT = 65_536
const SIZES = [0, 1, INLINE_LIMIT - 1, INLINE_LIMIT, INLINE_LIMIT + 1, 300_000, 3 * 1024 ** 2 + 17]

await raw('PUT', `/${Bucket}`)

function put(key: string, body: Buffer | string, headers: readonly HeaderLine[] = []) {
  return raw('PUT', `/${Bucket}/${key}`, { body, headers })
}

/** Names of all payload files, those of uploads on their way included. */
function payloadFiles(): string[] {
  const stored = readdirSync(paths.files).flatMap((directory) => readdirSync(`${paths.files}/${directory}`))
  return [...stored, ...readdirSync(paths.uploads)]
}

test('objects of every size, around the limit of what is packed into a volume too', async (t) => {
  for (const size of SIZES) {
    const Body = sampleBytes(size)
    const Key = `size-${size}`
    const etag = `"${hash('md5', Body, 'hex')}"`
    const stored = await s3.send(new PutObjectCommand({ Bucket, Key, Body }))
    t.equal(stored.ETag, etag, `${size} bytes: ETag`)
    t.ok(stored.ChecksumCRC32, 'the checksum that the SDK sends by default is echoed')
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }))
    const bytes = Buffer.from((await got.Body?.transformToByteArray()) ?? [])
    t.ok(bytes.equals(Body), `${size} bytes come back`)
    t.match(got, { ETag: etag, ContentLength: size, AcceptRanges: 'bytes', ContentType: 'application/octet-stream' })
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }))
    t.match(head, { ETag: etag, ContentLength: size, LastModified: got.LastModified })
  }
  t.equal(payloadFiles().length, SIZES.filter((size) => size > INLINE_LIMIT).length, 'only the large have files')
})

test('what cannot be kept as a header is refused, and kept bounded', async (t) => {
  isDone(t, await put('meta', 'x', [['x-amz-meta-a', 'v'.repeat(2047)]]), 200, '2,048 bytes of metadata')
  isError(t, await put('meta-bad', 'x', [['x-amz-meta-a', 'v'.repeat(2048)]]), 'MetadataTooLarge', '2,049 bytes')
  isError(t, await put('meta-bad', 'x', [['x-amz-meta-a', `v${'ü'.repeat(1023)}v`]]), 'MetadataTooLarge', 'as UTF-8')
  for (const value of ['a\xffb', `a${'\xff'.repeat(12_000)}b`]) {
    const answer = await raw('PUT', `/${Bucket}/meta-bad`, { body: 'x', unsignedHeaders: [['cache-control', value]] })
    isError(t, answer, 'InvalidArgument', `${value.length} bytes that are not UTF-8`)
  }
  const long: HeaderLine[] = [['content-disposition', 'd'.repeat(12_000)]]
  isDone(t, await put('long', 'x', long), 200, 'a long header')
  t.equal((await raw('GET', `/${Bucket}/long`)).headers['content-disposition']?.length, 12_000)
  isError(t, await raw('GET', `/${Bucket}/meta-bad`), 'NoSuchKey', 'nothing was stored')
})

const ROUNDS = 30
const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'

test('a copy of the version null finds one, also when it is replaced meanwhile', async (t) => {
  isDone(t, await raw('PUT', '/replaced'), 200, 'bucket')
  isDone(t, await raw('PUT', '/replaced/a', { body: 'first' }), 200, 'object')
  const codes = new Set<unknown>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const [, copied] = await Promise.all([
      raw('PUT', '/replaced/a', { body: `round ${round}` }),
      raw('PUT', '/replaced/b', { headers: [['x-amz-copy-source', '/replaced/a?versionId=null']] }),
    ])
    codes.add(copied.code ?? copied.status)
  }
  t.same([...codes], [200])
})

test('a deletion names the marker that it made, also when versioning was enabled meanwhile', async (t) => {
  const wrong: unknown[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const bucket = `/enabled-${round}`
    isDone(t, await raw('PUT', bucket), 200, 'bucket')
    const [, deleted] = await Promise.all([
      raw('PUT', `${bucket}?versioning`, { body: VERSIONING }),
      raw('DELETE', `${bucket}/a`),
    ])
    const listed = (await raw('GET', `${bucket}?versions`)).text
    const isMarker = listed.includes('<DeleteMarker>')
    if ((deleted.headers['x-amz-delete-marker'] === 'true') !== isMarker) wrong.push(round)
    if ((deleted.headers['x-amz-version-id'] !== undefined) !== isMarker) wrong.push(round)
  }
  t.same(wrong, [])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(readdirSync(paths.uploads), [], 'no upload is left behind')
})
