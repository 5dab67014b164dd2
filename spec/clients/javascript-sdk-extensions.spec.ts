/** The SDK for JavaScript with its defaults, over HTTP and over TLS, against servers in `compatible`. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { Readable } from 'node:stream'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  PutObjectCommand,
  RenameObjectCommand,
  S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startBoth, type Target } from './both-servers.ts'
import { chunksOf, digestOf, upload } from './javascript-uploads.ts'

const both = await startBoth({ extended: true })
const Bucket = 'sdk-bucket'
const MEBIBYTE = 1024 ** 2
const bytes = sampleBytes(20 * MEBIBYTE + 12_345)
const WHOLE = { Bucket, Key: 'parts' }

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function clientOf({ endpoint, accessKey, secretKey, authority }: Target): S3Client {
  const trusting = authority === undefined ? {} : { httpsAgent: new Agent({ ca: readFileSync(authority) }) }
  return new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestHandler: trusting,
  })
}

async function streams(t: Test, s3: S3Client): Promise<void> {
  for (const [Key, size] of [
    ['nothing', 0],
    ['one byte', 1],
    ['several chunks', 300_001],
    ['large', bytes.length],
  ] as const) {
    const Body = Readable.from(chunksOf(bytes.subarray(0, size), 100_003))
    const sent = await s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: size }))
    t.equal(await digestOf(s3, { Bucket, Key }), sha256(bytes.subarray(0, size)), `a stream: ${Key}`)
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
    t.ok(sent.ChecksumCRC32)
    t.match(head, { ChecksumCRC32: sent.ChecksumCRC32, ContentLength: size, ContentEncoding: undefined })
  }
  const Body = Readable.from([sampleBytes(100), sampleBytes(9000)])
  const small = s3.send(new PutObjectCommand({ Bucket, Key: 'small', Body, ContentLength: 9100 }))
  await t.rejects(small, { name: 'InvalidChunkSizeError' }, 'as on S3, which wants chunks of 8 KiB')
}

async function parts(t: Test, s3: S3Client): Promise<void> {
  const done = await upload(s3, WHOLE, chunksOf(bytes, 1_000_003), 4)
  t.match(done.ETag, /-5"$/)
  t.equal(await digestOf(s3, WHOLE), sha256(bytes))
}

async function copies(t: Test, s3: S3Client): Promise<void> {
  const copy = { Bucket, Key: 'copy' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(copy))
  const ranges = [
    [0, 6 * MEBIBYTE],
    [7 * MEBIBYTE + 1, 13 * MEBIBYTE],
    [5, 10],
  ] as const
  const Parts = []
  for (const [index, [first, end]] of ranges.entries()) {
    const PartNumber = index + 1
    const CopySourceRange = `bytes=${first}-${end - 1}`
    const part = { ...copy, UploadId, PartNumber, CopySource: `${Bucket}/parts`, CopySourceRange }
    const { CopyPartResult } = await s3.send(new UploadPartCopyCommand(part))
    Parts.push({ PartNumber, ETag: CopyPartResult?.ETag })
  }
  await s3.send(new CompleteMultipartUploadCommand({ ...copy, UploadId, MultipartUpload: { Parts } }))
  const expected = Buffer.concat(ranges.map(([first, end]) => bytes.subarray(first, end)))
  t.equal(await digestOf(s3, copy), sha256(expected), 'a copy of ranges')
}

async function appends(t: Test, s3: S3Client): Promise<void> {
  const log = { Bucket, Key: 'log' }
  const pieces = [Buffer.from('one '), bytes.subarray(0, 300_001), Buffer.from('the end')]
  let WriteOffsetBytes = 0
  for (const Body of pieces) {
    await s3.send(new PutObjectCommand({ ...log, Body, WriteOffsetBytes }))
    WriteOffsetBytes += Body.length
  }
  const late = s3.send(new PutObjectCommand({ ...log, Body: 'late', WriteOffsetBytes: 4 }))
  await t.rejects(late, { name: 'InvalidWriteOffset' }, 'an offset that is not the end')
  t.equal(await digestOf(s3, log), sha256(Buffer.concat(pieces)), 'what was appended')
  const renamed = { Bucket, Key: 'a/renamed log' }
  await s3.send(new RenameObjectCommand({ ...renamed, RenameSource: log.Key }))
  t.equal(await digestOf(s3, renamed), sha256(Buffer.concat(pieces)), 'under its new key')
  await t.rejects(s3.send(new HeadObjectCommand(log)), { name: 'NotFound' }, 'and not under the old one')
}

async function emptied(t: Test, s3: S3Client): Promise<void> {
  const keys: (string | undefined)[] = []
  let Marker: string | undefined
  do {
    const page = await s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2, ...(Marker && { Marker }) }))
    keys.push(...(page.Contents ?? []).map(({ Key }) => Key))
    Marker = page.IsTruncated === true ? keys.at(-1) : undefined
  } while (Marker !== undefined)
  t.same(keys, ['a/renamed log', 'copy', 'large', 'nothing', 'one byte', 'parts', 'several chunks'])
  const Objects = keys.map((Key = '') => ({ Key }))
  const removed = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  t.same(removed.Deleted?.map(({ Key }) => Key).toSorted(), keys)
  t.equal(removed.Errors, undefined)
}

for (const target of both.targets) {
  test(target.name, async (t) => {
    await target.makeBucket(Bucket)
    const s3 = clientOf(target)
    await t.test('streams', (each) => streams(each, s3))
    await t.test('parts', (each) => parts(each, s3))
    await t.test('copies of parts', (each) => copies(each, s3))
    await t.test('appends and a rename', (each) => appends(each, s3))
    await t.test('pages of the first listing, and a batch', (each) => emptied(each, s3))
    t.same(await target.heldBy(Bucket), [], 'nothing is left, no open upload either')
    s3.destroy()
  })
}

test('end', async () => {
  await both.stop()
})
