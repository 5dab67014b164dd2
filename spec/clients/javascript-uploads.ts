/** Uploads with the SDK for JavaScript as its storage library makes them, and reading back. */
import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandOutput,
  type CompletedPart,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { PART_BYTES } from '../support/multipart.ts'

interface Place {
  readonly Bucket: string
  readonly Key: string
}

/** Pieces of one size; only the last may be smaller. */
async function* pieces(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    held.push(chunk)
    length += chunk.length
    while (length >= bytes) {
      const all = Buffer.concat(held)
      yield all.subarray(0, bytes)
      held = [all.subarray(bytes)]
      length -= bytes
    }
  }
  if (length > 0) yield Buffer.concat(held)
}

/** An upload of a stream of unknown length: several workers take the next piece as soon as they are free. */
export async function upload(
  s3: S3Client,
  { Bucket, Key }: Place,
  source: AsyncIterable<Buffer>,
  workers: number,
): Promise<CompleteMultipartUploadCommandOutput> {
  const begun = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: 'CRC32' }))
  const place = { Bucket, Key, UploadId: begun.UploadId }
  const parts: CompletedPart[] = []
  const queue = pieces(source, PART_BYTES)
  let last = 0
  const work = async () => {
    for (let next = await queue.next(); !next.done; next = await queue.next()) {
      last += 1
      const PartNumber = last
      const sent = await s3.send(new UploadPartCommand({ ...place, PartNumber, Body: next.value }))
      parts.push({ PartNumber, ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32 })
    }
  }
  try {
    await Promise.all(Array.from({ length: workers }, work))
    const Parts = parts.toSorted((left, right) => (left.PartNumber ?? 0) - (right.PartNumber ?? 0))
    return await s3.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts } }))
  } catch (error) {
    await s3.send(new AbortMultipartUploadCommand(place))
    throw error
  }
}

/** Of what is read; the SDK holds it against the checksum that comes with it. */
export async function digestOf(s3: S3Client, { Bucket, Key }: Place): Promise<string> {
  const digest = createHash('sha256')
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
  for await (const chunk of Body as AsyncIterable<Buffer>) digest.update(chunk)
  return digest.digest('hex')
}

/** A stream that tells nobody how long it is, in chunks that fit no part. */
export async function* chunksOf(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}
