/** The AWS SDK for JavaScript and its lib-storage: a stream of unknown length in parts, links are in javascript-sdk.spec.ts. */
import { Readable } from 'node:stream'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { accessKey, bucket, check, digest, end, endpoint, extended, sample, secretKey, where } from './checks.mjs'

const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey }
const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
const data = sample(12 * 1024 ** 2 + 1)
const stream = () => Readable.from([data.subarray(0, 7_000_000), data.subarray(7_000_000)])

async function read(Key) {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }))
  return digest(await Body.transformToByteArray())
}

const uploaded = async () => {
  await new Upload({ client, params: { Bucket: bucket, Key: 'parts', Body: stream() } }).done()
  return read('parts')
}
await where(true, 'parts of a stream', uploaded, digest(data))
const put = async () => {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'one', Body: stream(), ContentLength: data.length }))
  return read('one')
}
await where(extended, 'a stream', put, digest(data), 'NotImplemented')
const names = extended ? ['one', 'parts'] : ['parts']
const list = async () =>
  ((await client.send(new ListObjectsV2Command({ Bucket: bucket }))).Contents ?? []).map(({ Key }) => Key)
check('keys', await list(), names)
const removed = async () => {
  const Objects = names.map((Key) => ({ Key }))
  await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }))
  return list()
}
await where(extended, 'a batch deleted', removed, [], 'NotImplemented')
end()
