import * as fc from 'fast-check'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { S3_ERRORS } from '../../../planes/s3/errors.ts'
import { OPERATIONS } from '../../../planes/s3/operation-table.ts'
import { completionOf, createUpload } from '../../support/multipart.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone } from '../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

await raw('PUT', '/any-bucket')
await raw('PUT', '/any-bucket/k', { body: 'bytes' })
const upload = await createUpload(server, '/any-bucket/k')

const VALUES = [
  '',
  '0',
  '1',
  '2',
  '-1',
  '1e9',
  'x',
  'true',
  'null',
  '*',
  '"',
  'a/b',
  '%',
  '+',
  ' ',
  ',',
  '=',
  '&',
  'ü.',
]
const WEIRD = [
  '\u0000',
  '\n',
  '\u007f',
  '😀',
  '\uffff',
  '__proto__',
  'k'.repeat(1024),
  'k'.repeat(1100),
  'any-bucket/k',
  upload,
]
const TIMES = [
  'Sun, 06 Nov 1994 08:49:37 GMT',
  '20130524T000000Z',
  'AAAAAA==',
  'bytes=0-1',
  'bytes=-',
  'COPY',
  'REPLACE',
]
const SUBRESOURCES = [...new Set(OPERATIONS.flatMap((row) => (row.subresource === undefined ? [] : [row.subresource])))]
const QUERY_NAMES = [
  SUBRESOURCES,
  ['list-type', 'prefix', 'delimiter', 'max-keys', 'start-after', 'continuation-token', 'encoding-type', 'versionId'],
  ['partNumber', 'uploadId', 'x-id', 'response-content-type', 'response-expires', 'max-buckets', 'fetch-owner', 'id'],
  ['key-marker', 'upload-id-marker', 'version-id-marker', 'part-number-marker', 'max-parts', 'max-uploads'],
  ['X-Amz-Meta-A', 'x-amz-acl', 'x-amz-copy-source', 'x-amz-checksum-crc32', 'X-Amz-Expires', 'X-Amz-Date', ''],
].flat()
const HEADER_NAMES = [
  ['range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'content-md5', 'content-type'],
  ['content-encoding', 'cache-control', 'expires', 'x-amz-meta-a', 'x-amz-acl', 'x-amz-tagging', 'x-amz-trailer'],
  ['x-amz-copy-source', 'x-amz-copy-source-if-match', 'x-amz-metadata-directive', 'x-amz-checksum-crc32'],
  ['x-amz-mp-object-size', 'x-amz-checksum-type', 'x-amz-checksum-algorithm', 'x-amz-object-lock-mode'],
  ['x-amz-checksum-sha256', 'x-amz-sdk-checksum-algorithm', 'x-amz-storage-class', 'x-amz-unknown', 'origin'],
].flat()

const COMPLETION = completionOf([{ number: 1, etag: '9dd4e461268c8034f5c8564e155c67a6' }])

const value = fc.constantFrom(...VALUES, ...WEIRD, ...TIMES)
const parameter = fc.tuple(fc.constantFrom(...QUERY_NAMES), fc.option(value))
/** Values that HTTP can carry in a header, some of them as bytes that are no UTF-8. */
const headerValue = fc.oneof(
  fc.constantFrom(...VALUES, ...TIMES, ...WEIRD).filter((text) => /^[\t\x20-\x7e]*$/.test(text)),
  fc.constantFrom('a\xffb', `a${'\xc3'.repeat(1200)}b`),
)
const anyRequest = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH'),
  bucket: fc.constantFrom('any-bucket', 'any-bucket', 'any-bucket', 'no-such-bucket', 'B', '', '%00', 'b'.repeat(2500)),
  key: fc.option(fc.oneof(value, fc.constant('k'), fc.string({ unit: 'binary', maxLength: 20 }))),
  query: fc.array(parameter, { maxLength: 4 }),
  headers: fc.array(fc.tuple(fc.constantFrom(...HEADER_NAMES), headerValue), { maxLength: 4 }),
  body: fc.constantFrom('', '', 'x', '<CreateBucketConfiguration/>', COMPLETION, 'b'.repeat(70_000)),
  signed: fc.boolean(),
})
type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer R> ? R : never

function targetOf({ bucket, key, query }: AnyRequest): string {
  const path = `/${bucket}${key === null ? '' : `/${encodeURIComponent(key)}`}`
  const pieces = query.map(([name, text]) => (text === null ? name : `${name}=${encodeURIComponent(text)}`))
  return pieces.length === 0 ? path : `${path}?${pieces.join('&')}`
}

function isSteering([name]: HeaderLine): boolean {
  return name.startsWith('x-amz-')
}

function send(request: AnyRequest): Promise<WireAnswer> {
  const { method, headers, body, signed } = request
  // Bytes that are no UTF-8 cannot be signed by their text, so only headers that steer are signed.
  return raw(method, targetOf(request), {
    body: method === 'HEAD' ? '' : body,
    headers: headers.filter(isSteering),
    unsignedHeaders: headers.filter((line) => !isSteering(line)),
    ...(signed ? {} : { sign: false as const }),
  })
}

/** What is wrong with an answer, or undefined. */
function faultOf(answer: WireAnswer, method: string): string | undefined {
  if (!answer.complete) return 'the answer is cut short'
  if (answer.status >= 500 && answer.status !== 501) return `status ${answer.status}`
  if (!/^[0-9A-F]{18}$/.test(String(answer.headers['x-amz-request-id']))) return 'no request id'
  if (answer.status < 400 || method === 'HEAD') return undefined
  const known = answer.code !== undefined && Object.hasOwn(S3_ERRORS, answer.code)
  if (!known) return 'no error of the table'
  return firstElement(answer.text, 'Message') ? undefined : 'no message'
}

test('nothing that a client can say is a fault of the server, and all of it is in the journal', async (t) => {
  const ids: string[] = []
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const answer = await send(request)
      ids.push(String(answer.headers['x-amz-request-id']))
      const fault = faultOf(answer, request.method) ?? server.failures.map(String).join()
      if (fault !== '') throw new Error(`${fault}: ${answer.text.slice(0, 1000)}`)
      await raw('PUT', '/any-bucket')
    }),
    { numRuns: 400 },
  )
  t.equal(new Set(ids).size, ids.length)
  const recorded = new Set((await server.journal()).map((entry) => entry.requestId))
  t.same(
    ids.filter((id) => !recorded.has(id)),
    [],
  )
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  isDone(t, await raw('GET', '/any-bucket?list-type=2&encoding-type=url'), 200, 'and the server still serves')
})
