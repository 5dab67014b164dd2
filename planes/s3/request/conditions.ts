/**
 * Conditional requests: RFC 9110 section 13 for reads and copy sources, the S3 rules of 2024 for writes. An ETag here
 * is the text between the quotes; times are compared in whole seconds, since Last-Modified has no more.
 */

import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import type { WriteCondition } from '../../../engine/commands/commands.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { effectiveHeader } from './effective-headers.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import { parseHttpDate } from '../text/http-date.ts'
import type { Target } from './target.ts'

/** What conditions are compared with. */
interface Validators {
  /** Without quotes. */
  readonly etag: string
  readonly lastModifiedMicroseconds: Microseconds
}

type Condition = 'If-Match' | 'If-None-Match' | 'If-Modified-Since' | 'If-Unmodified-Since'
type ReadHeader = (name: string) => string | undefined

const MICROSECONDS_PER_SECOND = 1_000_000
const MILLISECONDS_PER_SECOND = 1000

/**
 * Decides whether a read of an existing object goes ahead.
 * @param nowMilliseconds an If-Modified-Since in the future counts as absent
 * @throws S3Error PreconditionFailed
 */
export function checkReadConditions(
  request: HttpRequest,
  validators: Validators,
  nowMilliseconds: Milliseconds,
): 'proceed' | 'not-modified' {
  const failed = firstFailing((name) => request.header(name), validators, nowMilliseconds)
  if (failed === undefined) return 'proceed'
  if (failed === 'If-None-Match' || failed === 'If-Modified-Since') return 'not-modified'
  throw preconditionFailed(failed)
}

/**
 * The conditions of a copy on its source: the same rules under x-amz-copy-source-* names, and never a 304.
 * @throws S3Error PreconditionFailed
 */
export function checkCopySourceConditions(
  request: HttpRequest,
  target: Target,
  validators: Validators,
  nowMilliseconds: Milliseconds,
): void {
  const read: ReadHeader = (name) => effectiveHeader(request, target, `x-amz-copy-source-${name}`)
  const failed = firstFailing(read, validators, nowMilliseconds)
  if (failed !== undefined) throw preconditionFailed(`x-amz-copy-source-${failed}`)
}

/**
 * Whether a range may be sent (RFC 9110 section 13.1.5). Without the header it may. A date never allows one: an object can
 * be written twice in a second, so a date is a weak validator, and two versions would be joined.
 * @param etag of the object, without quotes
 */
export function meetsIfRange(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || (ifRange !== '*' && matchesEtag(ifRange, etag, 'strong'))
}

/** RFC 9110 section 13.2.2: the ETag conditions come first and silence the time conditions beside them. */
function firstFailing(read: ReadHeader, validators: Validators, now: Milliseconds): Condition | undefined {
  const modifiedSeconds = Math.floor(validators.lastModifiedMicroseconds / MICROSECONDS_PER_SECOND)
  const ifMatch = read('if-match') || undefined
  const unmodifiedSince = ifMatch === undefined ? seconds(read('if-unmodified-since'), now) : undefined
  if (ifMatch !== undefined && !matchesEtag(ifMatch, validators.etag, 'strong')) return 'If-Match'
  if (unmodifiedSince !== undefined && modifiedSeconds > unmodifiedSince) return 'If-Unmodified-Since'

  const ifNoneMatch = read('if-none-match') || undefined
  if (ifNoneMatch !== undefined) return matchesEtag(ifNoneMatch, validators.etag, 'weak') ? 'If-None-Match' : undefined
  const modifiedSince = seconds(read('if-modified-since'), now)
  if (modifiedSince === undefined || modifiedSince > now / MILLISECONDS_PER_SECOND) return undefined
  return modifiedSeconds <= modifiedSince ? 'If-Modified-Since' : undefined
}

/** A date that cannot be parsed counts as absent (RFC 9110 section 13.1.3 and 13.1.4). */
function seconds(date: string | undefined, now: Milliseconds): number | undefined {
  const milliseconds = date === undefined ? undefined : parseHttpDate(date, now)
  return milliseconds === undefined ? undefined : milliseconds / MILLISECONDS_PER_SECOND
}

const UNCONDITIONAL: WriteCondition = { kind: 'none' }

/**
 * Reads the conditions of a write (PutObject, CopyObject's target, DeleteObject). What cannot be kept is refused: a
 * lock protocol built on a condition that is ignored loses data.
 * @throws S3Error NotImplemented (If-Unmodified-Since), InvalidRequest (two at once), InvalidArgument (empty)
 */
export function writeCondition(request: HttpRequest): WriteCondition {
  const ifMatch = request.header('if-match')
  const ifNoneMatch = request.header('if-none-match')
  if (request.header('if-unmodified-since') !== undefined) throw unsupportedCondition('If-Unmodified-Since')
  if (ifMatch === undefined && ifNoneMatch === undefined) return UNCONDITIONAL
  if (ifMatch !== undefined && ifNoneMatch !== undefined) {
    throw new S3Error('InvalidRequest', { message: 'If-Match and If-None-Match exclude each other on a write.' })
  }
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch === '*') return { kind: 'absent' }
    return { kind: 'differs', etags: requireEtags('If-None-Match', ifNoneMatch).map((tag) => tag.text) }
  }
  if (ifMatch === '*') return { kind: 'exists' }
  const etags = requireEtags('If-Match', ifMatch ?? '')
  // A weak ETag never passes the strong comparison that If-Match asks for.
  return { kind: 'matches', etags: etags.filter((tag) => !tag.weak).map((tag) => tag.text) }
}

function requireEtags(name: string, value: string): EntityTag[] {
  const etags = parseEtags(value)
  if (etags.length === 0) throw invalidArgument(name, value, `${name} holds no ETag.`)
  return etags
}

/** The refusal of a request whose condition does not hold. */
function preconditionFailed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', { details: [['Condition', condition]] })
}

function unsupportedCondition(name: string): S3Error {
  const message = `This form of ${name} is not supported on a write.`
  return new S3Error('NotImplemented', { message, details: [['Header', name]] })
}

interface EntityTag {
  readonly text: string
  readonly weak: boolean
}

const ENTITY_TAG = /(W\/)?"([^"]*)"|([^\s,"]+)/g

/** The entity tags of a list; quotes may be missing, as some clients send them. */
function parseEtags(list: string): EntityTag[] {
  return [...list.matchAll(ENTITY_TAG)].map((match) => ({
    text: match[2] ?? match[3] ?? '',
    weak: match[1] !== undefined,
  }))
}

function matchesEtag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list === '*') return true
  return parseEtags(list).some((tag) => tag.text === etag && (comparison === 'weak' || !tag.weak))
}
