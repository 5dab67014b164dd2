import { createHash, hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { startChecksum } from '../../../planes/s3/checksums.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'

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

test('a stream whose length is known', async (t) => {
  const credentials = { accessKeyId: server.accessKey, secretAccessKey: server.secretKey }
  const options = { endpoint: server.endpoint, forcePathStyle: true, region: 'us-east-1', credentials, maxAttempts: 1 }
  const streaming = new S3Client({ ...options, requestChecksumCalculation: 'WHEN_REQUIRED' })
  const bytes = sampleBytes(200_000)
  const ContentLength = bytes.length
  const command = () => new PutObjectCommand({ Bucket, Key: 'streamed', Body: Readable.from([bytes]), ContentLength })
  t.equal((await streaming.send(command())).ETag, `"${hash('md5', bytes, 'hex')}"`)
  t.equal(await errorName(s3.send(command())), 'NotImplemented', 'with a trailing checksum it is refused by name')
  streaming.destroy()
})

const ALGORITHMS = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const

test('checksums sent as headers are verified and echoed', async (t) => {
  for (const size of [0, 11, 100_000]) {
    const body = sampleBytes(size)
    for (const algorithm of ALGORITHMS) {
      const running = startChecksum(algorithm)
      running.update(body)
      const right = running.digest()
      const name = `x-amz-checksum-${algorithm}`
      const text = right.toString('base64')
      const stored = await put('sum', body, [[name, text]])
      isDone(t, stored, 200, `${algorithm} of ${size} bytes`)
      t.equal(stored.headers[name], text)
      const wrong = Buffer.from(right)
      wrong[0] = (wrong[0] ?? 0) ^ 1
      isError(t, await put('sum-bad', body, [[name, wrong.toString('base64')]]), 'BadDigest', `wrong ${algorithm}`)
      isError(
        t,
        await put('sum-bad', body, [[name, right.toString('hex')]]),
        'InvalidRequest',
        `malformed ${algorithm}`,
      )
    }
  }
  const body = sampleBytes(100_000)
  const cases: [headers: HeaderLine[], code: S3ErrorCode][] = [
    [[['content-md5', hash('md5', 'other', 'base64')]], 'BadDigest'],
    [[['content-md5', 'bm90IG1kNQ==']], 'InvalidDigest'],
    [[['content-md5', '']], 'InvalidDigest'],
    [[['content-md5', hash('md5', body, 'hex')]], 'InvalidDigest'],
    [[['x-amz-checksum-md5', hash('md5', body, 'base64')]], 'NotImplemented'],
    [
      [
        ['x-amz-checksum-sha1', hash('sha1', body, 'base64')],
        ['x-amz-checksum-sha256', hash('sha256', body, 'base64')],
      ],
      'InvalidRequest',
    ],
  ]
  for (const [headers, code] of cases) isError(t, await put('sum-bad', body, headers), code, JSON.stringify(headers))
  isError(t, await raw('GET', `/${Bucket}/sum-bad`), 'NoSuchKey', 'nothing was stored')
  const right: HeaderLine[] = [['content-md5', createHash('md5').update(body).digest('base64')]]
  isDone(t, await put('md5', body, right), 200, 'a right Content-MD5')
})

test('the same through the SDK', async (t) => {
  for (const ChecksumAlgorithm of ['CRC32', 'SHA1', 'SHA256'] as const) {
    const stored = await s3.send(new PutObjectCommand({ Bucket, Key: 'sdk-sum', Body: 'bytes', ChecksumAlgorithm }))
    t.ok(stored[`Checksum${ChecksumAlgorithm}`], ChecksumAlgorithm)
  }
  const wrong = new PutObjectCommand({ Bucket, Key: 'sdk-sum', Body: 'bytes', ChecksumCRC32: 'AAAAAA==' })
  t.equal(await errorName(s3.send(wrong)), 'BadDigest')
  const md5 = new PutObjectCommand({ Bucket, Key: 'sdk-sum', Body: 'bytes', ContentMD5: hash('md5', 'x', 'base64') })
  t.equal(await errorName(s3.send(md5)), 'BadDigest')
})

test('content headers and user metadata come back as they were sent', async (t) => {
  const headers: HeaderLine[] = [
    ['cache-control', 'no-cache, max-age=5'],
    ['content-disposition', 'attachment; filename="a b.txt"'],
    ['content-encoding', 'gzip'],
    ['content-language', 'de, en'],
    ['content-type', 'text/plain; charset=utf-8'],
    ['expires', 'Thu, 01 Dec 2033 16:00:00 GMT'],
    ['x-amz-meta-empty', ''],
    ['x-amz-meta-__proto__', 'a'],
    ['x-amz-meta-constructor', 'b'],
    ['x-amz-meta-text', 'grüße & <co> "x"'],
    ['x-amz-storage-class', 'STANDARD'],
  ]
  isDone(t, await put('described', 'x', headers), 200, 'put')
  for (const method of ['GET', 'HEAD']) {
    const answer = await raw(method, `/${Bucket}/described`)
    for (const [name, value] of headers) {
      if (name === 'x-amz-storage-class') continue
      t.equal(Buffer.from(String(answer.headers[name]), 'latin1').toString(), value, `${method} ${name}`)
    }
  }
  const bare = await put('bare', 'x')
  isDone(t, bare, 200, 'no headers')
  t.equal((await raw('GET', `/${Bucket}/bare`)).headers['content-type'], 'binary/octet-stream')
  isDone(
    t,
    await put('joined', 'x', [
      ['x-amz-meta-a', '1'],
      ['x-amz-meta-a', '2'],
      ['content-type', ''],
    ]),
    200,
    'twice',
  )
  const joined = await raw('HEAD', `/${Bucket}/joined`)
  t.match(joined.headers, { 'x-amz-meta-a': '1,2', 'content-type': 'binary/octet-stream' })
  await s3.send(new PutObjectCommand({ Bucket, Key: 'mixed', Body: 'x', Metadata: { MixedCase: 'Value' } }))
  t.same((await s3.send(new HeadObjectCommand({ Bucket, Key: 'mixed' }))).Metadata, { mixedcase: 'Value' })
})

test('what cannot be kept as a header is refused, and kept bounded', async (t) => {
  isDone(t, await put('meta', 'x', [['x-amz-meta-a', 'v'.repeat(2047)]]), 200, '2,048 bytes of metadata')
  isError(t, await put('meta-bad', 'x', [['x-amz-meta-a', 'v'.repeat(2048)]]), 'MetadataTooLarge', '2,049 bytes')
  isError(t, await put('meta-bad', 'x', [['x-amz-meta-a', `v${'ü'.repeat(1023)}v`]]), 'MetadataTooLarge', 'as UTF-8')
  for (const value of ['a\xffb', `a${'\xff'.repeat(12_000)}b`]) {
    const answer = await raw('PUT', `/${Bucket}/meta-bad`, { body: 'x', unsignedHeaders: [['cache-control', value]] })
    isError(t, answer, 'InvalidArgument', `${value.length} bytes that are no UTF-8`)
  }
  const long: HeaderLine[] = [['content-disposition', 'd'.repeat(12_000)]]
  isDone(t, await put('long', 'x', long), 200, 'a long header')
  t.equal((await raw('GET', `/${Bucket}/long`)).headers['content-disposition']?.length, 12_000)
  isError(t, await raw('GET', `/${Bucket}/meta-bad`), 'NoSuchKey', 'nothing was stored')
})

test('writing over an object', async (t) => {
  const before = payloadFiles()
  for (const [round, size] of [200_000, 10, 150_000, 0, 70_000].entries()) {
    const body = sampleBytes(size, round)
    isDone(t, await put('over', body), 200, `${size} bytes`)
    t.ok((await raw('GET', `/${Bucket}/over`)).body.equals(body))
  }
  isDone(t, await raw('DELETE', `/${Bucket}/over`), 204, 'delete')
  while (payloadFiles().length > before.length) await new Promise((resolve) => setImmediate(resolve))
  t.same(payloadFiles().toSorted(), before.toSorted(), 'bytes that nobody refers to are removed')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(readdirSync(paths.uploads), [], 'no upload is left behind')
})
