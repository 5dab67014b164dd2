/**
 * Headers of features that this store does not have. Ignoring one would be a silent promise (an object public,
 * encrypted, tagged, held), so each is answered 501 by name, in a header or in a presigned query. An operation that
 * supports such a header lists it in its `headers`; while an extension is off, its headers are refused all the same.
 */

import type { HttpRequest } from '../http/exchange.ts'
import { effectiveAmzHeaders, effectiveHeader } from './request/effective-headers.ts'
import { CHUNK_HEADERS, CHUNK_MODES, DECODED_LENGTH, TRAILER } from './bodies/chunk-modes.ts'
import { invalidArgument, S3Error } from './errors/s3-errors.ts'
import { type Extension, type Extensions, turnOn } from '../objects/s3-extensions.ts'
import type { Operation } from './handling/operation.ts'
import { STREAMING_PREFIX } from './signing/signature-v4.ts'
import { CLIENT_HINTS } from './errors/client-hints.ts'
import type { Target } from './request/target.ts'

interface UnsupportedHeader {
  /** Lower-case name, or a prefix with `*` at its end. */
  readonly name: string
  /** Accepted values, which ask for what the store does anyway. Compared in lower case. */
  readonly accepted?: readonly string[]
  readonly why: string
  /** The extension that supports the header. While it is off, every operation refuses the header. */
  readonly extension?: Extension
}

const AWS_CHUNKED = `aws-chunked bodies are not supported; ${CLIENT_HINTS['signed chunks']}`

const LOCK_ON_WRITE = 'a lock is set when an object is written'

export const UNSUPPORTED_HEADERS: readonly UnsupportedHeader[] = [
  {
    name: 'x-amz-acl',
    accepted: ['private', 'bucket-owner-full-control'],
    why: 'ACLs are not supported; policies of the service decide',
  },
  { name: 'x-amz-grant-*', why: 'ACLs are not supported; policies of the service decide' },
  { name: 'x-amz-object-ownership', accepted: ['bucketownerenforced'], why: 'ACLs are not supported' },
  { name: 'x-amz-tagging', why: 'object tags are not supported' },
  { name: 'x-amz-tagging-directive', accepted: ['copy', 'replace'], why: 'object tags are not supported' },
  { name: 'x-amz-object-annotation-directive', accepted: ['copy'], why: 'object annotations are not supported' },
  { name: 'x-amz-server-side-encryption*', why: 'encryption is a setting of the server, not of a request' },
  { name: 'x-amz-copy-source-server-side-encryption*', why: 'encryption is a setting of the server' },
  { name: 'x-amz-website-redirect-location', why: 'static website hosting is not supported' },
  { name: 'x-amz-storage-class', accepted: ['standard'], why: 'STANDARD is the only storage class' },
  {
    name: TRAILER,
    why: `trailing checksums are not supported; ${CLIENT_HINTS['trailing checksums']}`,
    extension: 'aws-chunked',
  },
  { name: DECODED_LENGTH, why: AWS_CHUNKED, extension: 'aws-chunked' },
  { name: 'x-amz-security-token', why: 'session tokens are not supported' },
  { name: 'x-amz-mfa', why: 'MFA delete is not supported' },
  { name: 'x-amz-expected-bucket-owner', why: 'buckets have no account number' },
  { name: 'x-amz-source-expected-bucket-owner', why: 'buckets have no account number' },
  { name: 'x-amz-bucket-namespace', why: 'buckets live in one namespace' },
  {
    name: 'x-amz-copy-source-range',
    why: `copying a part of an object is not supported; ${CLIENT_HINTS['copies of parts']}`,
    extension: 'upload-part-copy',
  },
  { name: 'x-amz-write-offset-bytes', why: 'appending to an object is not supported', extension: 'append' },
  { name: 'x-amz-if-match-*', why: 'conditions on size and time of a deletion are not supported' },
  { name: 'x-amz-object-lock-mode', why: LOCK_ON_WRITE },
  { name: 'x-amz-object-lock-retain-until-date', why: LOCK_ON_WRITE },
  { name: 'x-amz-object-lock-legal-hold', why: LOCK_ON_WRITE },
  { name: 'x-amz-object-lock-*', why: 'a lock has a mode, a date and a legal hold, and nothing else' },
  {
    name: 'x-amz-bucket-object-lock-enabled',
    accepted: ['false'],
    why: 'Object Lock is chosen when a bucket is created',
  },
  { name: 'x-amz-bypass-governance-retention', accepted: ['false'], why: 'there is no retention to bypass' },
]

const BY_NAME: ReadonlyMap<string, UnsupportedHeader> = new Map(UNSUPPORTED_HEADERS.map((row) => [row.name, row]))

const BY_PREFIX: readonly (readonly [prefix: string, row: UnsupportedHeader])[] = UNSUPPORTED_HEADERS.filter((row) =>
  row.name.endsWith('*'),
).map((row) => [row.name.slice(0, -1), row])

/**
 * Refuses a request with a header of the table, or with a body that is aws-chunked.
 * @throws S3Error NotImplemented, naming the header
 */
export function refuseUnsupportedHeaders(
  request: HttpRequest,
  target: Target,
  operation: Operation,
  extensions: Extensions,
): void {
  for (const [name, value] of effectiveAmzHeaders(request, target)) {
    const row = BY_NAME.get(name) ?? findByPrefix(name)
    if (row === undefined || (operation.headers.includes(name) && isOn(row, extensions))) continue
    if (row.accepted?.includes(value.toLowerCase())) continue
    throw notImplemented(name, isOn(row, extensions) ? row.why : refusedWhileOff(row))
  }
  if (extensions.has('aws-chunked')) judgeChunks(request, target, operation)
  else refuseChunks(request, target)
}

const CONTENT_HASH = 'x-amz-content-sha256'

/** Refuses all chunked bodies, while the extension is off. */
function refuseChunks(request: HttpRequest, target: Target): void {
  const why = `${AWS_CHUNKED}; ${turnOn('aws-chunked')}`
  if (isAwsChunked(request.header('content-encoding'))) throw notImplemented('content-encoding', why)
  const payload = effectiveHeader(request, target, CONTENT_HASH)
  if (payload?.startsWith(STREAMING_PREFIX) === true) throw notImplemented(CONTENT_HASH, why)
}

/**
 * Admits an aws-chunked body if its form is known, the operation accepts it, and the request has an Authorization
 * header. A request that is marked as chunked but is not is refused: client and server would disagree about the bytes
 * of the object.
 */
function judgeChunks(request: HttpRequest, target: Target, operation: Operation): void {
  const payload = effectiveHeader(request, target, CONTENT_HASH)
  if (payload?.startsWith(STREAMING_PREFIX) !== true) {
    const marks = CHUNK_HEADERS.filter((name) => effectiveHeader(request, target, name) !== undefined)
    if (isAwsChunked(request.header('content-encoding'))) marks.unshift('content-encoding')
    const [mark] = marks
    if (mark === undefined) return
    throw invalidArgument(mark, payload ?? '', `${mark} speaks of chunks, and ${CONTENT_HASH} names no form of them.`)
  }
  if (!CHUNK_MODES.has(payload)) throw notImplemented(CONTENT_HASH, 'chunks are signed with HMAC-SHA256 or not at all')
  if (!operation.headers.includes(DECODED_LENGTH))
    throw notImplemented(CONTENT_HASH, `${operation.name} takes no chunks`)
  if (!request.header('authorization')) throw notImplemented(CONTENT_HASH, 'chunks are not read with a presigned URL')
}

function isOn({ extension }: UnsupportedHeader, extensions: Extensions): boolean {
  return extension === undefined || extensions.has(extension)
}

function refusedWhileOff({ why, extension }: UnsupportedHeader): string {
  return extension === undefined ? why : `${why}; ${turnOn(extension)}`
}

function isAwsChunked(contentEncoding: string | undefined): boolean {
  if (contentEncoding === undefined) return false
  return contentEncoding.split(',').some((coding) => coding.trim().toLowerCase() === 'aws-chunked')
}

function findByPrefix(name: string): UnsupportedHeader | undefined {
  for (const [prefix, row] of BY_PREFIX) if (name.startsWith(prefix)) return row
  return undefined
}

function notImplemented(name: string, why: string): S3Error {
  const message = `A header you provided asks for what this server does not do. ${name}: ${why}.`
  return new S3Error('NotImplemented', { message, details: [['Header', name]] })
}
