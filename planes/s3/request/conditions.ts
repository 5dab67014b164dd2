/** Conditional requests: RFC 9110 section 13 for reads and copy sources, the S3 rules of 2024 for writes. */

import type { Milliseconds } from '../../../engine/brands.ts'
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import {
  type EntityTag,
  failingCondition,
  parseEtags,
  type ReadHeader,
  type Validators,
} from '../../http/headers/conditions.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { effectiveHeader } from './effective-headers.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import type { Target } from './target.ts'

/**
 * Checks the conditions of a read of an existing object.
 * @param nowMilliseconds an If-Modified-Since in the future counts as absent
 * @throws S3Error PreconditionFailed
 */
export function checkReadConditions(
  request: HttpRequest,
  validators: Validators,
  nowMilliseconds: Milliseconds,
): 'proceed' | 'not-modified' {
  const failed = failingCondition((name) => request.header(name), validators, nowMilliseconds)
  if (failed === undefined) return 'proceed'
  if (failed === 'If-None-Match' || failed === 'If-Modified-Since') return 'not-modified'
  throw preconditionFailed(failed)
}

/**
 * The conditions of a copy or a rename on its source: the same rules under other names, and never a 304.
 * @param prefix of the names, such as `x-amz-copy-source-`
 * @throws S3Error PreconditionFailed
 */
export function checkSourceConditions(
  request: HttpRequest,
  target: Target,
  prefix: 'x-amz-copy-source-' | 'x-amz-rename-source-',
  validators: Validators,
  nowMilliseconds: Milliseconds,
): void {
  const read: ReadHeader = (name) => effectiveHeader(request, target, `${prefix}${name}`)
  const failed = failingCondition(read, validators, nowMilliseconds)
  if (failed !== undefined) throw preconditionFailed(`${prefix}${failed}`)
}

const UNCONDITIONAL: WriteCondition = { kind: 'none' }

/**
 * The conditions of a write (PutObject, CopyObject's target, DeleteObject). Unsupported conditions are refused: a lock
 * protocol built on an ignored condition loses data.
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
  return matchCondition('If-Match', ifMatch ?? '')
}

/**
 * The condition of one key of DeleteObjects, with the meaning of If-Match in DeleteObject.
 * @throws S3Error InvalidArgument (empty)
 */
export function deletionCondition(etag: string | undefined): WriteCondition {
  return etag === undefined ? UNCONDITIONAL : matchCondition('ETag', etag)
}

function matchCondition(name: string, value: string): WriteCondition {
  if (value === '*') return { kind: 'exists' }
  // A weak ETag never passes the strong comparison that If-Match asks for.
  const etags = requireEtags(name, value).filter((tag) => !tag.weak)
  return { kind: 'matches', etags: etags.map((tag) => tag.text) }
}

function requireEtags(name: string, value: string): EntityTag[] {
  const etags = parseEtags(value)
  if (etags.length === 0) throw invalidArgument(name, value, `${name} holds no ETag.`)
  return etags
}

/** The refusal of a request whose condition fails. */
function preconditionFailed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', { details: [['Condition', condition]] })
}

function unsupportedCondition(name: string): S3Error {
  const message = `This form of ${name} is not supported on a write.`
  return new S3Error('NotImplemented', { message, details: [['Header', name]] })
}
