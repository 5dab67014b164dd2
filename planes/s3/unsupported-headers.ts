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
import { grantsOwner } from './documents/access-control-policy.ts'
import type { Operation } from './handling/operation.ts'
import type { S3Services } from './handling/services.ts'
import { STREAMING_PREFIX } from './signing/signature-v4.ts'
import { CLIENT_HINTS, OVER_TLS } from './errors/client-hints.ts'
import { TAGGING, TAGGING_DIRECTIVE } from './request/tags.ts'
import type { Target } from './request/target.ts'

interface UnsupportedHeader {
  /** Lower-case name, or a prefix with `*` at its end. */
  readonly name: string
  /** Accepted values, which ask for what the store does anyway. Compared in lower case. */
  readonly accepted?: readonly string[]
  readonly why: string
  /** What to set at the client instead: a clause. */
  readonly hint?: string
  /** The extension that supports the header. While it is off, every operation refuses the header. */
  readonly extension?: Extension
  /** A value that asks for what is so in this store, which the extension bucket-reads lets pass. */
  readonly so?: {
    /** For the page. */
    readonly words: string
    readonly holds: (value: string, store: StoreFacts) => boolean
    /** Code for another value, where S3 has one. */
    readonly otherwise?: 'AccessDenied'
  }
}

/** What the headers of a request are judged by. */
export type StoreFacts = Pick<S3Services, 'extensions' | 'owner' | 'encrypts'>

/** A condition of S3 on who owns the bucket. */
const OWNED: UnsupportedHeader['so'] = {
  words: 'the id of the owner; any other is `AccessDenied`',
  holds: (value, { owner }) => value === owner.id,
  otherwise: 'AccessDenied',
}

const AWS_CHUNKED = 'aws-chunked bodies are not supported'

const ACLS = 'ACLs are not supported; policies of accounts decide: object-store policy create'

const ENCRYPTION =
  'encryption is a setting of the server, not of a request: with storage.encryption_enabled and s3.profile=compatible, AES256 passes'

const OWNER = 'buckets have no account number; with s3.profile=compatible the owner in ListBuckets passes'

const TAGS = 'object tags are not supported'

const LOCK_ON_WRITE = 'a lock is set when an object is written'

export const UNSUPPORTED_HEADERS: readonly UnsupportedHeader[] = [
  {
    name: 'x-amz-acl',
    accepted: ['private', 'bucket-owner-full-control'],
    why: ACLS,
  },
  {
    name: 'x-amz-grant-full-control',
    why: ACLS,
    so: { words: '`id=` the owner', holds: (value, { owner }) => grantsOwner(value, owner.id) },
  },
  { name: 'x-amz-grant-*', why: ACLS },
  { name: 'x-amz-object-ownership', accepted: ['bucketownerenforced'], why: ACLS },
  { name: TAGGING, why: TAGS, extension: 'tagging' },
  { name: TAGGING_DIRECTIVE, accepted: ['copy', 'replace'], why: TAGS, extension: 'tagging' },
  { name: 'x-amz-object-annotation-directive', accepted: ['copy'], why: 'object annotations are not supported' },
  {
    name: 'x-amz-server-side-encryption',
    why: ENCRYPTION,
    so: { words: '`AES256` where the store encrypts', holds: (value, { encrypts }) => encrypts && value === 'AES256' },
  },
  { name: 'x-amz-server-side-encryption*', why: ENCRYPTION },
  { name: 'x-amz-copy-source-server-side-encryption*', why: ENCRYPTION },
  {
    name: 'x-amz-website-redirect-location',
    why: 'static website hosting is not supported; object-store share create makes links for people',
  },
  { name: 'x-amz-storage-class', accepted: ['standard'], why: 'STANDARD is the only storage class' },
  {
    name: TRAILER,
    why: 'trailing checksums are not supported',
    hint: CLIENT_HINTS['trailing checksums'],
    extension: 'aws-chunked',
  },
  { name: DECODED_LENGTH, why: AWS_CHUNKED, hint: CLIENT_HINTS['signed chunks'], extension: 'aws-chunked' },
  {
    name: 'x-amz-security-token',
    why: 'session tokens are not supported; object-store credential temporary issues two keys that expire',
  },
  { name: 'x-amz-mfa', why: 'MFA delete is not supported' },
  { name: 'x-amz-expected-bucket-owner', why: OWNER, so: OWNED },
  { name: 'x-amz-source-expected-bucket-owner', why: OWNER, so: OWNED },
  { name: 'x-amz-bucket-namespace', why: 'buckets live in one namespace' },
  {
    name: 'x-amz-copy-source-range',
    why: 'copying a part of an object is not supported',
    hint: CLIENT_HINTS['copies of parts'],
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
 * @throws S3Error NotImplemented, naming the header; AccessDenied for a condition on the owner that does not hold
 */
export function refuseUnsupportedHeaders(
  request: HttpRequest,
  target: Target,
  operation: Operation,
  store: StoreFacts,
): void {
  const { extensions } = store
  for (const [name, value] of effectiveAmzHeaders(request, target)) {
    const row = BY_NAME.get(name) ?? findByPrefix(name)
    if (row === undefined || (operation.headers.includes(name) && isOn(row, extensions))) continue
    if (row.accepted?.includes(value.toLowerCase())) continue
    if (row.so !== undefined && extensions.has('bucket-reads')) {
      if (row.so.holds(value, store)) continue
      if (row.so.otherwise !== undefined) throw new S3Error(row.so.otherwise)
    }
    throw notImplemented(name, isOn(row, extensions) ? row.why : refusedWhileOff(row, request))
  }
  if (extensions.has('aws-chunked')) judgeChunks(request, target, operation)
  else refuseChunks(request, target)
}

const CONTENT_HASH = 'x-amz-content-sha256'

/** Refuses all chunked bodies, while the extension is off. */
function refuseChunks(request: HttpRequest, target: Target): void {
  const why = refusedWhileOff(
    { why: AWS_CHUNKED, hint: CLIENT_HINTS['signed chunks'], extension: 'aws-chunked' },
    request,
  )
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

/** The reason, then what to set at the server, then at the client. */
function refusedWhileOff({ why, hint, extension }: Omit<UnsupportedHeader, 'name'>, { secure }: HttpRequest): string {
  if (extension === undefined) return why
  const overTls = extension === 'aws-chunked' && !secure ? OVER_TLS : undefined
  return [why, turnOn(extension), hint, overTls].filter((part) => part !== undefined).join('; ')
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
