/** Checksums that clients give with an object, and get back (S3 API reference, GetObject, ChecksumMode). */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { rmSync } from 'node:fs'
import { type Test, test } from 'tap'
import { CHECKSUM_BYTES, type ChecksumAlgorithm } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { startChecksum } from '../../../../planes/s3/request/checksums.ts'
import { complete, createUpload, partTarget } from '../../../support/multipart.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startInThread, temporaryDirectory, type TestServer } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'
import { createBucket, put, setVersioning } from '../../../support/wire-versions.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'

const ALGORITHMS = Object.keys(CHECKSUM_BYTES) as ChecksumAlgorithm[]
const ENABLED: HeaderLine = ['x-amz-checksum-mode', 'ENABLED']

function lineOf(algorithm: ChecksumAlgorithm, body: Buffer): HeaderLine {
  const running = startChecksum(algorithm)
  running.update(body)
  return [`x-amz-checksum-${algorithm}`, running.digest().toString('base64')]
}

/** Every header of an answer that is about checksums. */
function checksumsOf({ headers }: WireAnswer): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-checksum-')))
}

function whole([name, value]: HeaderLine): Record<string, string> {
  return { [name]: value, 'x-amz-checksum-type': 'FULL_OBJECT' }
}

/** GET and HEAD with the mode have these checksums, and without it none. */
async function gives(t: Test, server: TestServer, target: string, expected: Record<string, string>): Promise<void> {
  for (const method of ['GET', 'HEAD']) {
    const asked = await server.raw(method, target, { headers: [ENABLED] })
    isDone(t, asked, 200, `${method} ${target}`)
    t.strictSame(checksumsOf(asked), expected, `${method} ${target} with the mode`)
    t.strictSame(checksumsOf(await server.raw(method, target)), {}, `${method} ${target} without it`)
  }
}

function copy(server: TestServer, source: string, target: string, headers: readonly HeaderLine[] = []) {
  return server.raw('PUT', target, { headers: [['x-amz-copy-source', source], ...headers] })
}

const REPLACE: HeaderLine[] = [
  ['x-amz-metadata-directive', 'REPLACE'],
  ['content-type', 'text/replaced'],
]

test('every algorithm comes back, from small and large objects, as long as the store lives', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true }))
  let server = await startInThread({ dataDirectory })
  await createBucket(server, 'sums')
  const expected = new Map<string, Record<string, string>>()
  for (const algorithm of ALGORITHMS) {
    for (const size of [0, 4096, 200_000]) {
      const body = sampleBytes(size, size)
      const line = lineOf(algorithm, body)
      const target = `/sums/${algorithm}-${size}`
      await put(server, target.slice(1), body, [line])
      expected.set(target, whole(line))
    }
  }
  await put(server, 'sums/without', 'no checksum')
  expected.set('/sums/without', {})
  for (const after of ['the writes', 'a restart', 'a rebuild']) {
    t.comment(`after ${after}`)
    for (const [target, checksums] of expected) await gives(t, server, target, checksums)
    await server.stop()
    if (after === 'a restart') rmSync(server.paths.projections, { recursive: true })
    server = await startInThread({ dataDirectory })
  }
  await server.stop()
})

test('a checksum is of the whole object: no part, no answer without a body, no other mode', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await createBucket(server, 'wholes')
  const body = sampleBytes(1000, 1)
  const line = lineOf('sha256', body)
  await put(server, 'wholes/key', body, [line])
  const etag = String((await server.raw('HEAD', '/wholes/key')).headers.etag)
  const rows: [status: number, target: string, headers: HeaderLine[]][] = [
    [206, '/wholes/key', [ENABLED, ['range', 'bytes=0-9']]],
    [206, '/wholes/key', [ENABLED, ['range', 'bytes=0-999']]],
    [206, '/wholes/key?partNumber=1', [ENABLED]],
    [304, '/wholes/key', [ENABLED, ['if-none-match', etag]]],
    [200, '/wholes/key', [['x-amz-checksum-mode', 'DISABLED']]],
  ]
  for (const [status, target, headers] of rows) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await server.raw(method, target, { headers })
      t.equal(answer.status, status)
      t.strictSame(checksumsOf(answer), {}, `${method} ${target} ${JSON.stringify(headers)}`)
    }
  }
  await gives(t, server, '/wholes/key', whole(line))
  const link = server.wire.presigned('GET', '/wholes/key', { query: [['x-amz-checksum-mode', 'ENABLED']] })
  const linked = await server.raw('GET', link, { sign: false })
  t.strictSame(checksumsOf(linked), whole(line), 'a presigned link asks in its query')
})

test('a copy keeps the checksum, whatever it replaces, and takes none of its own', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await createBucket(server, 'copies')
  const body = sampleBytes(500, 2)
  const line = lineOf('crc32c', body)
  await put(server, 'copies/source', body, [line])
  await put(server, 'copies/plain', body)
  isDone(t, await copy(server, 'copies/source', '/copies/copied'), 200, 'COPY')
  isDone(t, await copy(server, 'copies/source', '/copies/replaced', REPLACE), 200, 'REPLACE')
  isDone(t, await copy(server, 'copies/source', '/copies/source', REPLACE), 200, 'onto itself')
  isDone(t, await copy(server, 'copies/plain', '/copies/plain-copy', [lineOf('crc32', body)]), 200, 'of none')
  for (const key of ['copied', 'replaced', 'source']) await gives(t, server, `/copies/${key}`, whole(line))
  await gives(t, server, '/copies/plain-copy', {})
  t.equal((await server.raw('HEAD', '/copies/replaced')).headers['content-type'], 'text/replaced')
})

test('each version has its own checksum, locked or not, and a write without one has none', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await createBucket(server, 'plain')
  await put(server, 'plain/key', 'first', [lineOf('sha1', Buffer.from('first'))])
  await put(server, 'plain/key', 'second')
  await gives(t, server, '/plain/key', {})
  await createBucket(server, 'versions', [['x-amz-bucket-object-lock-enabled', 'true']])
  await setVersioning(server, 'versions', 'enabled')
  const rows: [id: string | undefined, line: HeaderLine][] = []
  for (const algorithm of ALGORITHMS) {
    const line = lineOf(algorithm, Buffer.from(algorithm))
    rows.push([await put(server, 'versions/key', algorithm, [line]), line])
  }
  const check = async () => {
    for (const [id, line] of rows) await gives(t, server, `/versions/key?versionId=${id}`, whole(line))
  }
  await check()
  const holds = '<LegalHold><Status>ON</Status></LegalHold>'
  for (const [id] of rows) {
    const answer = await server.raw('PUT', `/versions/key?legal-hold&versionId=${id}`, { body: holds })
    isDone(t, answer, 200, 'held')
  }
  await check()
  await server.raw('DELETE', '/versions/key')
  await check()
})

test('a body that fails its checksum stores nothing; a multipart object has no checksum', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await createBucket(server, 'others')
  const wrong = lineOf('crc32', Buffer.from('another body'))
  const refused = await server.raw('PUT', '/others/key', { body: 'a body', headers: [wrong] })
  t.equal(refused.code, 'BadDigest')
  t.equal((await server.raw('HEAD', '/others/key', { headers: [ENABLED] })).status, 404)
  const upload = await createUpload(server, '/others/parts', [['x-amz-checksum-algorithm', 'CRC32']])
  const part = await server.raw('PUT', partTarget('/others/parts', upload, 1), {
    body: 'a part',
    headers: [lineOf('crc32', Buffer.from('a part'))],
  })
  isDone(t, part, 200, 'a part with a checksum')
  const sent = { number: 1, etag: String(part.headers.etag) }
  isDone(t, await complete(server, '/others/parts', upload, [sent]), 200, 'complete')
  await gives(t, server, '/others/parts', {})
})

test('the SDK for JavaScript gets what it gave, and holds what it reads against it', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  await createBucket(server, 'sdk')
  const stored = await server.s3.send(new PutObjectCommand({ Bucket: 'sdk', Key: 'key', Body: 'from the SDK' }))
  const got = await server.s3.send(new GetObjectCommand({ Bucket: 'sdk', Key: 'key', ChecksumMode: 'ENABLED' }))
  t.ok(got.ChecksumCRC32)
  t.equal(got.ChecksumCRC32, stored.ChecksumCRC32)
  t.equal(got.ChecksumType, 'FULL_OBJECT')
  t.equal(await got.Body?.transformToString(), 'from the SDK')
})
