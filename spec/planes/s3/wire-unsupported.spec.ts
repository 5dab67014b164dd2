import {
  DeleteObjectsCommand,
  GetObjectAclCommand,
  ListObjectsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { type Operation, OPERATIONS } from '../../../planes/s3/operation-table.ts'
import { UNSUPPORTED_HEADERS } from '../../../planes/s3/unsupported-headers.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const Bucket = 'plain-bucket'
const TARGETS = { service: '/', bucket: `/${Bucket}`, object: `/${Bucket}/k` } as const

await raw('PUT', `/${Bucket}`)
await raw('PUT', `/${Bucket}/k`, { body: 'bytes' })

/** A request that asks for an operation, from its row of the table. */
function requestFor(row: Operation): { target: string; headers: HeaderLine[] } {
  const query = row.subresource === undefined ? [] : [row.subresource]
  const headers: HeaderLine[] = []
  if (row.mark?.query !== undefined) query.push(`${row.mark.query}=${row.mark.value ?? 'x'}`)
  else if (row.mark !== undefined) headers.push([row.mark.header, `${Bucket}/k`])
  if (row.accepts.includes('partNumber') && !row.implemented) query.push('partNumber=1')
  const text = query.length === 0 ? '' : `?${query.join('&')}`
  return { target: TARGETS[row.level] + text, headers }
}

test('every other operation of the S3 API answers NotImplemented by its name', async (t) => {
  const rows = OPERATIONS.filter((row) => !row.implemented)
  t.ok(rows.length > 80)
  for (const row of rows) {
    const { target, headers } = requestFor(row)
    const body = row.bodyBytesMaximum > 0 ? '<Anything/>' : ''
    const answer = await raw(row.method, target, { headers, body })
    isError(t, answer, 'NotImplemented', row.name)
    t.equal(firstElement(answer.text, 'Message'), `${row.name} is not supported by this server.`)
    const stranger = await raw(row.method, target, { sign: false, headers, body })
    isError(t, stranger, 'NotImplemented', `${row.name} without a signature`)
    t.equal(firstElement(stranger.text, 'Message'), firstElement(answer.text, 'Message'))
  }
  const entries = (await server.journal()).filter((entry) => entry.details.get('error') === 'NotImplemented')
  const audited = entries.map(
    (entry) => `${entry.principal} ${entry.details.get('api')} ${entry.operation} ${entry.result}`,
  )
  t.same(
    audited,
    rows.flatMap((row) => ['system:root', 'anonymous'].map((who) => `${who} ${row.name} s3:${row.method} failure`)),
    'and each is in the journal, once, by its name',
  )
})

test('the list of what is not supported, through the SDK', async (t) => {
  const Delete = { Objects: [{ Key: 'k' }] }
  const CopySource = `${Bucket}/k`
  const calls = {
    listV1: () => s3.send(new ListObjectsCommand({ Bucket })),
    batchDelete: () => s3.send(new DeleteObjectsCommand({ Bucket, Delete })),
    partCopy: () => s3.send(new UploadPartCopyCommand({ Bucket, Key: 'c', CopySource, PartNumber: 1, UploadId: 'u' })),
    acl: () => s3.send(new GetObjectAclCommand({ Bucket, Key: 'k' })),
    tagging: () => s3.send(new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', Tagging: 'a=b' })),
    encryption: () => s3.send(new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', ServerSideEncryption: 'AES256' })),
    tiering: () => s3.send(new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', StorageClass: 'GLACIER' })),
    publicly: () => s3.send(new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', ACL: 'public-read' })),
  }
  for (const [name, call] of Object.entries(calls)) t.equal(await errorName(call()), 'NotImplemented', name)
  const held = new PutObjectCommand({ Bucket, Key: 'c', Body: 'x', ObjectLockLegalHoldStatus: 'ON' })
  t.equal(await errorName(s3.send(held)), 'InvalidRequest', 'a bucket without Object Lock holds nothing')
  const { Versions } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
  t.match(Versions, [{ Key: 'k', VersionId: 'null', IsLatest: true }], 'without versioning there is the version null')
  await s3.send(new PutObjectCommand({ Bucket, Key: 'private', Body: 'x', ACL: 'private', StorageClass: 'STANDARD' }))
  isError(t, await raw('GET', `/${Bucket}/c`), 'NoSuchKey', 'nothing was stored')
})

test('every header that asks for more is refused, wherever it stands', async (t) => {
  for (const row of UNSUPPORTED_HEADERS) {
    const name = row.name.replace('*', 'x')
    const value = 'something'
    if (name === 'x-amz-security-token') continue
    // An operation that does what a header asks for reads it; any other refuses it.
    const isRead = row.operations?.includes('PutObject') === true
    const [method, body] = isRead ? ['GET', ''] : ['PUT', 'x']
    const refused = await raw(method, `/${Bucket}/h`, { body, headers: [[name, value]] })
    isError(t, refused, 'NotImplemented', name)
    t.equal(firstElement(refused.text, 'Header'), name)
    const target = server.wire.presigned(method, `/${Bucket}/h`, { query: [[name, value]] })
    isError(t, await raw(method, target, { body, sign: false }), 'NotImplemented', `${name} in the query`)
    if (isRead)
      isError(t, await raw('PUT', `/${Bucket}/h`, { body: 'x', headers: [[name, value]] }), 'InvalidArgument', name)
    for (const accepted of row.accepted ?? []) {
      const done = await raw('PUT', `/${Bucket}/accepted`, { body: 'x', headers: [[name, accepted.toUpperCase()]] })
      isDone(t, done, 200, `${name}: ${accepted}`)
    }
  }
  isError(t, await raw('GET', `/${Bucket}/h`), 'NoSuchKey', 'nothing was stored')
})

test('aws-chunked bodies and trailing checksums are refused, and not stored as they came', async (t) => {
  const chunk = '5;chunk-signature=0\r\nhello\r\n0;chunk-signature=0\r\n\r\n'
  const modes = ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']
  for (const payloadHash of [...modes, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER']) {
    const answer = await raw('PUT', `/${Bucket}/chunked`, { body: chunk, sign: { payloadHash } })
    isError(t, answer, 'NotImplemented', payloadHash)
  }
  const lines: HeaderLine[] = [
    ['content-encoding', 'aws-chunked'],
    ['content-encoding', 'gzip,AWS-Chunked'],
    ['x-amz-trailer', 'x-amz-checksum-crc32'],
    ['x-amz-decoded-content-length', '5'],
  ]
  for (const line of lines) {
    isError(
      t,
      await raw('PUT', `/${Bucket}/chunked`, { body: chunk, headers: [line] }),
      'NotImplemented',
      line.join(' '),
    )
  }
  isError(t, await raw('GET', `/${Bucket}/chunked`), 'NoSuchKey', 'nothing was stored')
})

test('parameters that S3 does not know are let pass, two that exclude each other are not', async (t) => {
  isDone(t, await raw('GET', `/${Bucket}/k?x-id=GetObject&unknown=1&ACL`), 200, 'unknown')
  isDone(t, await raw('GET', `/${Bucket}?list-type=2&x-id=ListObjectsV2`), 200, 'unknown on a bucket')
  isError(t, await raw('GET', `/${Bucket}?max-keys=1`), 'NotImplemented', 'ListObjects V1 with a parameter')
  isError(t, await raw('GET', `/${Bucket}?list-type=1`), 'NotImplemented', 'another list type')
  isError(t, await raw('GET', `/${Bucket}/k?acl&tagging`), 'InvalidArgument', 'two at once')
  isError(t, await raw('DELETE', `/${Bucket}/k?acl`), 'MethodNotAllowed', 'no such method')
  isDone(t, await raw('GET', `/${Bucket}/k`), 200, 'the object is still there')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
