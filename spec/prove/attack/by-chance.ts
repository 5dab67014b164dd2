/** Requests made by chance to both planes: whatever they say, each is answered, recorded, and no fault of the server. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { Route } from '../../../planes/management/routing/define-route.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import { completionOf } from '../../support/multipart.ts'
import { ENDLESS } from './management-routes.ts'
import { disagreements } from '../../support/pages/openapi-check.ts'
import { firstElement } from '../../support/wire-client.ts'
import { CHANCE_BUCKET as BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { apiBytes, signed } from './signed-requests.ts'
import { anyCharacter } from '../../support/any-character.ts'

const REQUESTS = 1500

const VALUES = '|0|1|2|-1|1e9|x|true|null|*|"|a/b|%|+| |,|=|&|ü.'.split('|')
const LONG = ['k'.repeat(1024), 'k'.repeat(1100)]
const WEIRD = ['\u0000', '\n', '\u007f', '😀', '\uffff', '__proto__', `${BUCKET}/k`, ...LONG]
const TIMES = 'Sun, 06 Nov 1994 08:49:37 GMT|20130524T000000Z|AAAAAA==|bytes=0-1|bytes=-|COPY|REPLACE'.split('|')
const SUBRESOURCES = [
  ...new Set(OPERATIONS.flatMap(({ subresource }) => (subresource === undefined ? [] : [subresource]))),
]
const QUERY_NAMES = [
  ...SUBRESOURCES,
  ...'list-type prefix delimiter max-keys start-after continuation-token encoding-type versionId partNumber'.split(' '),
  ...'uploadId x-id response-content-type response-expires max-buckets fetch-owner id key-marker'.split(' '),
  ...'upload-id-marker version-id-marker part-number-marker max-parts max-uploads X-Amz-Meta-A x-amz-acl'.split(' '),
  ...'x-amz-copy-source x-amz-checksum-crc32 X-Amz-Expires X-Amz-Date'.split(' '),
  '',
]
const HEADER_NAMES = [
  ...'range if-match if-none-match if-modified-since if-unmodified-since content-md5 content-type origin'.split(' '),
  ...'content-encoding cache-control expires x-amz-meta-a x-amz-acl x-amz-tagging x-amz-trailer'.split(' '),
  ...'x-amz-copy-source x-amz-copy-source-if-match x-amz-metadata-directive x-amz-checksum-crc32'.split(' '),
  ...'x-amz-mp-object-size x-amz-checksum-type x-amz-checksum-algorithm x-amz-object-lock-mode'.split(' '),
  ...'x-amz-checksum-sha256 x-amz-sdk-checksum-algorithm x-amz-storage-class x-amz-unknown'.split(' '),
]
const COMPLETION = completionOf([{ number: 1, etag: '9dd4e461268c8034f5c8564e155c67a6' }])

/** Values that HTTP can carry in a header, some of them as bytes that are not UTF-8. */
const headerValue = fc.oneof(
  fc.constantFrom(...[...VALUES, ...TIMES, ...WEIRD].filter((text) => /^[\t\x20-\x7e]*$/.test(text))),
  fc.constantFrom('a\xffb', `a${'\xc3'.repeat(1200)}b`),
)

/** @param upload the id of an upload in progress */
function s3Request(upload: string) {
  const value = fc.constantFrom(...VALUES, ...WEIRD, ...TIMES, upload)
  const buckets = [BUCKET, BUCKET, BUCKET, 'no-such-bucket', 'B', '', '\0', 'b'.repeat(2500)]
  const bodies = ['', '', 'x', '<CreateBucketConfiguration/>', COMPLETION, 'b'.repeat(70_000)]
  return fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH'),
    bucket: fc.constantFrom(...buckets),
    key: fc.option(fc.oneof(value, fc.constant('k'), fc.string({ unit: anyCharacter, maxLength: 20 }))),
    query: fc.array(fc.tuple(fc.constantFrom(...QUERY_NAMES), fc.oneof(value, fc.constant(''))), { maxLength: 4 }),
    headers: fc.array(fc.tuple(fc.constantFrom(...HEADER_NAMES), headerValue), { maxLength: 4 }),
    body: fc.constantFrom(...bodies),
    isSigned: fc.boolean(),
  })
}

function isSteering([name]: HeaderLine): boolean {
  return name.startsWith('x-amz-')
}

/** What is wrong with an answer of the S3 plane, beside what holds for every answer; undefined when nothing is. */
function s3Fault({ status, code, body }: RawAnswer, method: string): string | undefined {
  if (status < 400 || status === 431 || method === 'HEAD') return undefined
  if (code === undefined || !Object.hasOwn(S3_ERRORS, code)) return `${code} is not in the table of errors`
  return firstElement(body, 'Message') ? undefined : 'the error has no message'
}

export async function attackByChance(assault: Assault): Promise<void> {
  const { arena, ledger, random } = assault
  const requests = fc.sample(s3Request(arena.uploads.chance), {
    numRuns: assault.fewer(REQUESTS),
    seed: random.below(2 ** 31),
  })
  await assault.onS3('requests to S3 by chance', requests, async (lane, request) => {
    const { method, bucket, key, query, headers, isSigned } = request
    const path = `/${bucket}${key === null ? '' : `/${key}`}`
    const body = method === 'HEAD' ? '' : request.body
    const name = `by chance: ${JSON.stringify(request).slice(0, 500)}`
    // Bytes that are not UTF-8 cannot be signed by their text, so only headers that steer are signed.
    const sent = signed(arena, { name, method, path, query, headers: headers.filter(isSteering), body })
    const lines = isSigned ? sent.headers : sent.headers.filter(([header]) => header !== 'authorization')
    const all = [...lines, ...headers.filter((line) => !isSteering(line))]
    const bytes = requestBytes(method, sent.target, all, body)
    const answer = await assault.ask(lane, { name, method, bytes, mayChange: true })
    const fault = answer === undefined ? undefined : s3Fault(answer, method)
    if (fault !== undefined) ledger.fault('wrong', name, fault, bytes)
  })
  await attackManagement(assault)
}

const AWKWARD = ['__proto__', 'constructor', '..', '.', '%00', '%2F', '%', '%zz', '%ff', '%F0%9F%98%80', '{id}', '*']
const segment = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).map(encodeURIComponent),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~!$&()*+,;=:@%'), minLength: 1, maxLength: 40 }),
)
const parameter = fc.oneof(
  fc.constantFrom('', '0', '-1', '1000', '1e9', '9'.repeat(30), 'null', 'true', '2026-01-01T00:00:00Z', '%', '+'),
  fc.string({ unit: 'grapheme', maxLength: 60 }).map(encodeURIComponent),
)
/** Names of fields that some route takes, and others. */
const FIELDS =
  'name description enabled expires_in_seconds role statements effect actions resources quota bytes objects mode status ' +
  'default_retention period unit value object_lock source_bucket source_key source_version_id version_id maximum_entries ' +
  'dry_run __proto__ x'
const WORDS = ['allow', 's3:*', 'bucket:*', 'limit', 'unlimited', 'Enabled', 'GOVERNANCE', 'days', 'auditor']
const leaf = fc.oneof(
  fc.constantFrom(...WORDS, BUCKET),
  fc.constantFrom(true, false, null, 0, 1, -1, 60, 1e21, 0.1, 2 ** 53),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('document'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...FIELDS.split(' ')), tie('document')), { maxLength: 4 })
      .map((members) => Object.fromEntries(members)),
  ),
}))
const apiBody = fc.oneof(
  { weight: 5, arbitrary: document.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 200 }) },
)
const apiHeader = fc.tuple(
  fc.constantFrom('x-request-id', 'if-none-match', 'content-type', 'accept', 'range', 'cookie', 'x'),
  fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 80 }).map((text) => text.trim()),
    fc.constantFrom('*', 'bytes=0-', 'Bearer x', '\u00ff\u0080', 'a'.repeat(2000)),
  ),
)
const apiRequest = fc.constantFrom(...routeList.filter(({ path }) => path !== ENDLESS)).chain((route) =>
  fc.record({
    route: fc.constant(route),
    segments: fc.array(fc.option(segment, { nil: undefined, freq: 2 }), { minLength: 3, maxLength: 3 }),
    query: fc.array(
      fc.tuple(
        fc.constantFrom('x', '__proto__', '%', ...Object.keys(route.query), ...Object.keys(route.query)),
        parameter,
      ),
      {
        maxLength: 4,
      },
    ),
    headers: fc.array(apiHeader, { maxLength: 3 }),
    body: route.body === 'none' ? fc.constant('') : apiBody,
    token: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: segment }),
  }),
)

function targetOf(
  { path }: Route,
  segments: readonly (string | undefined)[],
  query: readonly (readonly [string, string])[],
  known: Readonly<Record<string, string>>,
): string {
  let index = 0
  const target = path.replaceAll(/\{\w+\}/g, (name) => segments[index++] ?? known[name] ?? 'none')
  return query.length === 0 ? target : `${target}?${query.map((pair) => pair.join('=')).join('&')}`
}

async function attackManagement(assault: Assault): Promise<void> {
  const { arena, ledger, random } = assault
  const requests = fc.sample(apiRequest, { numRuns: assault.fewer(REQUESTS), seed: random.below(2 ** 31) })
  await assault.onApi('requests to the management plane by chance', requests, async (lane, request) => {
    const { route, segments, query, body, token } = request
    // What is there stays for the requests to come.
    const method = route.method === 'DELETE' ? 'GET' : route.method
    const target = targetOf(route, segments, query, arena.victims)
    const name = `by chance: ${method} ${target.slice(0, 500)}`
    const bytes = apiBytes(arena, method, target, { body, headers: request.headers, ...(token && { token }) })
    const question = { name, method, bytes, mayChange: true, isRecorded: false, showsSecret: true }
    const answer = await assault.ask(lane, question)
    if (answer === undefined) return
    for (const fault of apiFaults(answer, method, target)) ledger.fault('wrong', name, fault, bytes)
    const isOpen = typeof route.roles === 'string'
    const isRefused = answer.status >= 400
    if (token !== undefined && !isOpen && !isRefused)
      ledger.fault('let in', name, `${answer.status} with ${token}`, bytes)
  })
}

/** What the OpenAPI document does not say of an answer. */
function apiFaults(answer: RawAnswer, method: string, target: string): string[] {
  const { status, body: text, code } = answer
  if (status === 431 || code === 'BadRequest') return []
  const headers = Object.fromEntries(answer.headers)
  const isJson = headers['content-type'] === 'application/json'
  if (status >= 400 && method !== 'HEAD' && !isJson) return [`${status} is not in the envelope: ${text.slice(0, 200)}`]
  const json = isJson && text !== '' ? (JSON.parse(Buffer.from(text, 'latin1').toString()) as unknown) : undefined
  return disagreements(method, target, { status, headers, text, json, code })
}
