/**
 * What a 501 tells: the client what to set, the log and the record what was refused and why.
 * Proves: DO-NOT-01, DO-NOT-03, DO-NOT-04, DO-NOT-05, DO-NOT-09, DO-NOT-10, ERR-S3X-07.
 */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { type Extension, EXTENSIONS } from '../../../../planes/objects/s3-extensions.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

await raw('PUT', '/unsupported')

interface Case {
  readonly method: string
  readonly target: string
  readonly headers?: readonly HeaderLine[]
  /** In place of the digest of the body. */
  readonly payloadHash?: string
  /** In log and record. */
  readonly refused: string | undefined
  /** In the message. */
  readonly wayOut: RegExp
  /** What the message says of the server's own setting. */
  readonly extension?: Extension
}

const WHEN_REQUIRED = /AWS_REQUEST_CHECKSUM_CALCULATION=when_required/
const OBJECT = '/unsupported/key'

const CASES: readonly Case[] = [
  {
    method: 'PUT',
    target: OBJECT,
    headers: [['x-amz-trailer', 'x-amz-checksum-crc32']],
    refused: 'x-amz-trailer',
    wayOut: WHEN_REQUIRED,
    extension: 'aws-chunked',
  },
  {
    method: 'PUT',
    target: OBJECT,
    headers: [['content-encoding', 'aws-chunked']],
    refused: 'content-encoding',
    wayOut: WHEN_REQUIRED,
    extension: 'aws-chunked',
  },
  {
    method: 'PUT',
    target: OBJECT,
    headers: [['x-amz-decoded-content-length', '5']],
    refused: 'x-amz-decoded-content-length',
    wayOut: WHEN_REQUIRED,
    extension: 'aws-chunked',
  },
  {
    method: 'PUT',
    target: OBJECT,
    payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    refused: 'x-amz-content-sha256',
    wayOut: /aws-chunked .*s3\.profile=compatible.*chunkedEncodingEnabled.*use TLS \(restic, mc, Spark\)/,
    extension: 'aws-chunked',
  },
  {
    method: 'POST',
    target: '/unsupported?delete',
    refused: '?delete',
    wayOut: /DeleteObjects .*fs\.s3a\.multiobjectdelete\.enable=false .*disable_bulk_delete=true .*rm_file/,
    extension: 'delete-objects',
  },
  {
    method: 'GET',
    target: '/unsupported',
    refused: undefined,
    wayOut: /ListObjects .*list-type=2.*list_version = 2/,
    extension: 'list-objects-v1',
  },
  {
    method: 'PUT',
    target: `${OBJECT}?partNumber=1&uploadId=x`,
    headers: [['x-amz-copy-source', '/unsupported/other']],
    refused: 'x-amz-copy-source',
    wayOut: /UploadPartCopy .*multipart copy threshold .*multipart_threshold = 5GB/,
    extension: 'upload-part-copy',
  },
  {
    method: 'PUT',
    target: OBJECT,
    headers: [
      ['x-amz-copy-source', '/unsupported/other'],
      ['x-amz-copy-source-range', 'bytes=0-1'],
    ],
    refused: 'x-amz-copy-source-range',
    wayOut: /a part of an object .*copy_cutoff = 5G/,
    extension: 'upload-part-copy',
  },
  {
    method: 'PUT',
    target: OBJECT,
    headers: [['x-amz-write-offset-bytes', '0']],
    refused: 'x-amz-write-offset-bytes',
    wayOut: /appending to an object/,
    extension: 'append',
  },
  {
    method: 'PUT',
    target: `${OBJECT}?renameObject`,
    headers: [['x-amz-rename-source', '/unsupported/other']],
    refused: '?renameObject',
    wayOut: /RenameObject is not supported/,
    extension: 'rename-object',
  },
  {
    method: 'GET',
    target: `${OBJECT}?attributes`,
    headers: [['x-amz-object-attributes', 'ETag']],
    refused: '?attributes',
    wayOut: /GetObjectAttributes is not supported/,
    extension: 'checksums',
  },
  {
    method: 'GET',
    target: `${OBJECT}?tagging`,
    refused: '?tagging',
    wayOut: /GetObjectTagging is not supported/,
    extension: 'tagging',
  },
  {
    method: 'PUT',
    target: `${OBJECT}?acl`,
    refused: '?acl',
    wayOut: /PutObjectAcl is not supported/,
    extension: 'bucket-reads',
  },
  {
    method: 'PUT',
    target: '/unsupported?policy',
    refused: '?policy',
    wayOut: /PutBucketPolicy is not supported.*s3\.profile=compatible.*object-store policy create/,
    extension: 'bucket-policy',
  },
  {
    method: 'PUT',
    target: '/unsupported?lifecycle',
    refused: '?lifecycle',
    wayOut: /PutBucketLifecycleConfiguration is not supported.*object-store lifecycle create/,
    extension: 'lifecycle-api',
  },
  {
    method: 'GET',
    target: '/unsupported?events=s3:ObjectCreated:*&events=s3:ObjectRemoved:*',
    refused: '?events',
    wayOut: /ListenBucketNotification is not supported.*s3\.profile=compatible.*object-store events follow/,
    extension: 'listen',
  },
  {
    method: 'PUT',
    target: `${OBJECT}?tagging`,
    refused: '?tagging',
    wayOut: /PutObjectTagging is not supported/,
    extension: 'tagging',
  },
  {
    method: 'PUT',
    target: OBJECT,
    headers: [['x-amz-tagging', 'a=b']],
    refused: 'x-amz-tagging',
    wayOut: /object tags are not supported/,
    extension: 'tagging',
  },
  {
    method: 'GET',
    target: `${OBJECT}?torrent`,
    refused: '?torrent',
    wayOut: /^GetObjectTorrent is not supported by this server\.$/,
  },
]

/** The metadata of the first record of a request. */
async function detailsOf(id: unknown): Promise<ReadonlyMap<string, unknown>> {
  return (await server.journal()).find((entry) => entry.requestId === id)?.details ?? new Map()
}

test('a 501 says what to set, and log and record name what was refused', async (t) => {
  for (const { method, target, headers = [], payloadHash, refused, wayOut, extension } of CASES) {
    const name = `${method} ${target} ${headers.join()} ${payloadHash ?? ''}`
    const body = method === 'GET' ? '' : 'bytes'
    const sign = payloadHash === undefined ? {} : { payloadHash }
    const answer = await raw(method, target, { headers, body, sign })
    isError(t, answer, 'NotImplemented', name)
    const message = /<Message>(.*)<\/Message>/.exec(answer.text)?.[1] ?? ''
    t.match(message, wayOut, name)
    const setting = /the server does it with s3\.profile=compatible, or with (\S+) in s3\.extensions/i.exec(
      message,
    )?.[1]
    t.equal(setting, extension, name)
    const requestId = answer.headers['x-amz-request-id']
    const logged = server.finished.find((request) => request.requestId === requestId)
    t.strictSame(logged?.unsupported, { refused, reason: message }, name)
    const records = (await server.journal()).filter((entry) => entry.requestId === requestId)
    t.ok(records.length > 0)
    for (const { details } of records) {
      t.equal(details.get('refused'), refused, name)
      t.equal(details.get('reason'), message, name)
    }
  }
})

test('there is a refusal for each extension', (t) => {
  // Links of version 2 are refused before their sender is known: spec/planes/s3/identity/version-two-links.spec.ts.
  // A form is refused by its operation, without a header or a parameter: spec/planes/s3/forms/post-object.spec.ts.
  const elsewhere: readonly string[] = ['presign-v2', 'post-object']
  const named = EXTENSIONS.filter((extension) => !elsewhere.includes(extension))
  t.strictSame([...new Set(CASES.flatMap(({ extension }) => extension ?? []))].toSorted(), named)
  t.end()
})

test('what is recorded of a refused header is bounded, and other refusals carry nothing of it', async (t) => {
  const long = `x-amz-grant-${'a'.repeat(4000)}`
  const refused = await raw('PUT', OBJECT, { headers: [[long, 'v']], body: 'bytes' })
  isError(t, refused, 'NotImplemented', 'a long header')
  const missing = await raw('GET', OBJECT)
  isError(t, missing, 'NoSuchKey', 'no 501')
  const details = await detailsOf(refused.headers['x-amz-request-id'])
  t.match(details.get('refused'), /^x-amz-grant-a+\.\.\. sha256:[0-9a-f]{64}$/)
  t.ok(String(details.get('reason')).length < 512)
  const other = await detailsOf(missing.headers['x-amz-request-id'])
  t.equal(other.get('error'), 'object-not-found')
  t.notOk(other.has('refused') || other.has('reason'))
})
