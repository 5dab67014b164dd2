/** The SDK for JavaScript: uploads of streams in parallel parts, as its storage library makes them, and the rest. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { test } from 'tap'
import { etagOf, PART_BYTES } from '../support/multipart.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess } from '../support/test-server.ts'
import { errorName } from '../support/wire-assertions.ts'
import { chunksOf, digestOf, upload } from './javascript-uploads.ts'

const server = await startProcess()
const Bucket = 'sdk-bucket'

function clientWith(settings: Partial<S3ClientConfig>): S3Client {
  return new S3Client({
    endpoint: server.endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
    ...settings,
  })
}

const bytes = sampleBytes(48 * 1024 ** 2 + 12_345)
const sha256 = createHash('sha256').update(bytes).digest('hex')

for (const [name, settings] of [
  ['its defaults', {}],
  ['checksums where they are required', { requestChecksumCalculation: 'WHEN_REQUIRED' }],
] as const) {
  test(`an upload of a stream with ${name}`, async (t) => {
    const s3 = clientWith(settings)
    await s3.send(new CreateBucketCommand({ Bucket }))
    for (const workers of [1, 6]) {
      const Key = `${name}/${workers}`
      const done = await upload(s3, { Bucket, Key }, chunksOf(bytes, 1_000_003), workers)
      const parts = Array.from({ length: 10 }, (_, index) =>
        bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
      )
      t.equal(done.ETag, etagOf(parts))
      t.equal(done.Location, `${server.endpoint}/${Bucket}/${encodeURIComponent(Key).replaceAll('%2F', '/')}`)
      t.equal(await digestOf(s3, { Bucket, Key }), sha256, `${workers} at once`)
      const part = await s3.send(new GetObjectCommand({ Bucket, Key, PartNumber: 10 }))
      t.equal(part.PartsCount, 10)
      t.ok(Buffer.from((await part.Body?.transformToByteArray()) ?? []).equals(parts[9] ?? Buffer.alloc(0)))
    }
    s3.destroy()
  })
}

async function* brokenSource(): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, PART_BYTES + 1)
  throw new RangeError('the source is broken')
}

test('an upload that fails is given up', async (t) => {
  const s3 = clientWith({})
  t.equal(await errorName(upload(s3, { Bucket, Key: 'broken' }, brokenSource(), 3)), 'RangeError')
  t.equal((await s3.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads, undefined)
  t.equal(await errorName(s3.send(new HeadObjectCommand({ Bucket, Key: 'broken' }))), 'NotFound')
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'small parts' }))
  const place = { Bucket, Key: 'small parts', UploadId }
  const Parts: CompletedPart[] = []
  for (const PartNumber of [1, 2]) {
    const { ETag } = await s3.send(new UploadPartCommand({ ...place, PartNumber, Body: 'small' }))
    Parts.push({ PartNumber, ETag })
  }
  const complete = new CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts } })
  t.equal(await errorName(s3.send(complete)), 'EntityTooSmall')
  t.match(await s3.send(new ListPartsCommand(place)), { Parts: [{ PartNumber: 1, Size: 5 }, { PartNumber: 2 }] })
  const copy = { ...place, PartNumber: 3, CopySource: `${Bucket}/a` }
  t.equal(await errorName(s3.send(new UploadPartCopyCommand(copy))), 'NotImplemented')
  await s3.send(new AbortMultipartUploadCommand(place))
  t.equal(await errorName(s3.send(new ListPartsCommand(place))), 'NoSuchUpload')
  s3.destroy()
})

test('a part by link', async (t) => {
  for (const settings of [{}, { requestChecksumCalculation: 'WHEN_REQUIRED' }] as const) {
    const s3 = clientWith(settings)
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'by link' }))
    const place = { Bucket, Key: 'by link', UploadId }
    const url = await getSignedUrl(s3, new UploadPartCommand({ ...place, PartNumber: 1 }), { expiresIn: 60 })
    const sent = await fetch(url, { method: 'PUT', body: 'by link' })
    t.equal(sent.status, 200)
    const Parts = [{ PartNumber: 1, ETag: sent.headers.get('etag') ?? '' }]
    await s3.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts } }))
    const link = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'by link' }), { expiresIn: 60 })
    t.equal(await (await fetch(link)).text(), 'by link')
    s3.destroy()
  }
})

function putOfStream(): PutObjectCommand {
  const Body = Readable.from([bytes.subarray(0, 100_000)])
  return new PutObjectCommand({ Bucket, Key: 'stream', Body, ContentLength: 100_000 })
}

test('a stream in one request', async (t) => {
  const standard = clientWith({})
  t.equal(await errorName(standard.send(putOfStream())), 'NotImplemented', 'a checksum behind the body')
  const required = clientWith({ requestChecksumCalculation: 'WHEN_REQUIRED' })
  t.equal(await errorName(required.send(putOfStream())), 'no error')
  standard.destroy()
  required.destroy()
})

test('versions and locks', async (t) => {
  const s3 = clientWith({})
  const there = { Bucket: 'sdk-locked', Key: 'k' }
  await s3.send(new CreateBucketCommand({ Bucket: there.Bucket, ObjectLockEnabledForBucket: true }))
  const suspended = { Bucket: there.Bucket, VersioningConfiguration: { Status: 'Suspended' } } as const
  t.equal(await errorName(s3.send(new PutBucketVersioningCommand(suspended))), 'InvalidBucketState')
  const until = new Date('2140-01-01T00:00:00Z')
  const locked = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until } as const
  const { VersionId } = await s3.send(new PutObjectCommand({ ...there, Body: 'kept', ...locked }))
  const remove = { ...there, VersionId }
  t.equal(await errorName(s3.send(new DeleteObjectCommand(remove))), 'AccessDenied')
  const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: until } as const
  await s3.send(new PutObjectRetentionCommand({ ...remove, Retention }))
  t.same((await s3.send(new GetObjectRetentionCommand(remove))).Retention, Retention)
  const bypass = new DeleteObjectCommand({ ...remove, BypassGovernanceRetention: true })
  t.equal(await errorName(s3.send(bypass)), 'AccessDenied')
  const marker = await s3.send(new DeleteObjectCommand(there))
  t.equal(marker.DeleteMarker, true)
  const listed = await s3.send(new ListObjectVersionsCommand({ Bucket: there.Bucket }))
  t.match(listed, { Versions: [{ VersionId }], DeleteMarkers: [{ VersionId: marker.VersionId, IsLatest: true }] })
  s3.destroy()
})

test('end', async () => {
  await server.stop()
})
