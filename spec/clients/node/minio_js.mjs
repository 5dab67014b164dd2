/** minio-js with its defaults: objects, parts, composition, batches, links, tags, rules and the stream of events. */
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { Client, CopyDestinationOptions, CopySourceOptions } from 'minio'
import {
  accessKey,
  bucket,
  check,
  digest,
  end,
  endpoint,
  extended,
  isTls,
  sample,
  secretKey,
  where,
} from './checks.mjs'

const { hostname, port } = new URL(endpoint)
const client = new Client({ endPoint: hostname, port: Number(port), useSSL: isTls, accessKey, secretKey })
const data = sample(80 * 1024 ** 2 + 1)

const read = async (name) => digest(await buffer(await client.getObject(bucket, name)))
const namesOf = async (stream) => (await Readable.from(stream).toArray()).map(({ name }) => name).toSorted()

await where(true, 'put', async () => (await client.putObject(bucket, 'one', 'bytes'), read('one')), digest('bytes'))
await where(true, 'parts', async () => (await client.putObject(bucket, 'large', data), read('large')), digest(data))
const streamed = async () => {
  await client.putObject(bucket, 'stream', Readable.from([data.subarray(0, 70_000_000), data.subarray(70_000_000)]))
  return read('stream')
}
await where(true, 'a stream', streamed, digest(data))
check('a range', String(await buffer(await client.getPartialObject(bucket, 'one', 1, 3))), 'yte')
const copied = async () => (await client.copyObject(bucket, 'copy', `/${bucket}/large`), read('copy'))
await where(true, 'a copy', copied, digest(data))
const composed = async () => {
  const source = new CopySourceOptions({ Bucket: bucket, Object: 'large' })
  await client.composeObject(new CopyDestinationOptions({ Bucket: bucket, Object: 'composed' }), [source, source])
  return read('composed')
}
// It swallows the refusal of the parts, so that the object is missed when it is read.
await where(extended, 'composed', composed, digest(Buffer.concat([data, data])), 'NoSuchKey')
const linked = async () => (await fetch(await client.presignedGetObject(bucket, 'one', 60))).text()
await where(true, 'a link', linked, 'bytes')
const tagged = async () => {
  await client.setObjectTagging(bucket, 'one', { a: 'b c' })
  return client.getObjectTagging(bucket, 'one')
}
await where(extended, 'tags', tagged, [{ Key: 'a', Value: 'b c' }], 'not supported')
const rules = async () => {
  const Rule = [{ ID: 'r', Status: 'Enabled', Filter: { Prefix: 'old/' }, Expiration: { Days: 3 } }]
  await client.setBucketLifecycle(bucket, { Rule })
  return String((await client.getBucketLifecycle(bucket)).Rule.Expiration.Days)
}
await where(extended, 'lifecycle', rules, '3', 'not supported')
const told = async () => {
  const poller = client.listenBucketNotification(bucket, '', '', ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'])
  const first = new Promise((resolve, reject) => {
    poller.on('notification', ({ eventName, s3 }) => resolve(`${eventName} ${s3.object.key}`))
    poller.on('error', reject)
  })
  // The stream begins when it likes.
  let written = Promise.resolve()
  const writing = setInterval(() => (written = written.then(() => client.putObject(bucket, 'event', 'x'))), 100)
  try {
    return await first
  } finally {
    clearInterval(writing)
    poller.stop()
    await written
    await client.removeObject(bucket, 'event')
  }
}
await where(extended, 'events', told, 's3:ObjectCreated:Put event', 'not supported')
const names = ['composed', 'copy', 'large', 'one', 'stream']
const present = extended ? names : ['copy', 'large', 'one', 'stream']
check('listObjectsV2', await namesOf(client.listObjectsV2(bucket, '', true)), present)
await where(extended, 'listObjects', () => namesOf(client.listObjects(bucket, '', true)), names, 'not supported')
const removed = async () => {
  await client.removeObjects(bucket, names)
  return namesOf(client.listObjectsV2(bucket, '', true))
}
await where(extended, 'removeObjects', removed, [], 'not supported')
await client.removeObject(bucket, 'one')
check('removeObject', (await namesOf(client.listObjectsV2(bucket, '', true))).includes('one'), false)
end()
process.exit()
