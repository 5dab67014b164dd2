/** A request, and the answers that are right for it in a given world. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { WireAnswer } from '../support/wire-client.ts'
import type { Content } from './content.ts'
import type { Moment as RuleMoment } from './refusals.ts'
import type { ModelState } from './state.ts'

export interface ModelRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Path and query as they stand in the request line. */
  readonly target: string
  readonly headers?: readonly HeaderLine[]
  readonly body?: Content | string
}

/** When a request is carried out: the clock of the server, and what the rules go by. */
export interface Moment extends Omit<RuleMoment, 'sequence'> {
  readonly clock: number
}

/** One right answer, and what the world is after it. Without an answer `next` is what it may be. */
export interface Outcome {
  readonly pattern: Pattern
  next(answer: WireAnswer | undefined): ModelState
}

export interface Operation {
  readonly request: ModelRequest
  /** At least one. */
  outcomes(world: ModelState, moment: Moment): readonly Outcome[]
  /** What the store may carry out one after the other with other requests in between; each judges its part of the answer. */
  readonly pieces?: readonly Pick<Operation, 'outcomes'>[]
}

/** A header must be this, or absent for undefined, or as the function says. */
export type HeaderRule = string | undefined | ((value: string | undefined) => boolean)

export interface Pattern {
  readonly status: number
  readonly code?: ErrorCode
  readonly headers?: Readonly<Record<string, HeaderRule>>
  readonly body?: Buffer
  /** The body may hold errors of its own, which `check` looks at. */
  readonly listsErrors?: true
  /** Says what is wrong. */
  check?(answer: WireAnswer): string | undefined
}

/** The errors that the model knows, with their statuses (S3 API reference, Error responses; spec/manual/errors.md). */
const STATUS = {
  AccessDenied: 403,
  BUCKET_EXISTS: 409,
  BUCKET_NOT_EMPTY: 409,
  BUCKET_NOT_FOUND: 404,
  BUCKET_STATE: 409,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  CLOCK_BEHIND: 503,
  CONFLICT: 409,
  EntityTooSmall: 400,
  INVALID_REQUEST: 400,
  IdempotencyParameterMismatch: 400,
  InvalidArgument: 400,
  InvalidBucketState: 409,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidWriteOffset: 400,
  LIFECYCLE_RULE_NOT_FOUND: 404,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchTagSet: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchObjectLockConfiguration: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  OBJECT_NOT_FOUND: 404,
  ObjectLockConfigurationNotFoundError: 404,
  PreconditionFailed: 412,
  QUOTA_EXCEEDED: 403,
  QuotaExceeded: 403,
  ServiceUnavailable: 503,
  VERSION_IS_MARKER: 409,
  VERSION_LOCKED: 403,
  VERSION_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
} as const

export type ErrorCode = keyof typeof STATUS

/** Refusals of a request that changes nothing; when several rules refuse, either may be named. */
export function refusals(
  world: ModelState,
  codes: readonly ErrorCode[],
  headers: Pattern['headers'] = {},
): readonly Outcome[] {
  return codes.map((code) => ({ pattern: { status: STATUS[code], code, headers }, next: () => world }))
}

/** A success that changes nothing. */
export function reading(world: ModelState, pattern: Pattern): readonly Outcome[] {
  return [{ pattern, next: () => world }]
}

/** What is wrong with an answer; undefined when it is right. */
export function mismatch(pattern: Pattern, method: string, answer: WireAnswer): string | undefined {
  const { status, code, headers = {}, body } = pattern
  if (answer.status !== status) return `${answer.status} ${answer.code ?? ''} instead of ${status} ${code ?? ''}`
  // HEAD has no body that could name an error.
  if (method !== 'HEAD' && pattern.listsErrors !== true && answer.code !== code)
    return `${answer.code} instead of ${code}`
  if (!answer.complete) return 'the answer is cut off'
  if (answer.headers['x-amz-request-id'] === undefined && answer.headers['x-request-id'] === undefined)
    return 'there is no request id'
  for (const [name, rule] of Object.entries(headers)) {
    const value = headerOf(answer, name)
    const isRight = typeof rule === 'function' ? rule(value) : value === rule
    if (!isRight) return `${name}: ${value}${typeof rule === 'function' ? ' is wrong' : ` instead of ${rule}`}`
  }
  if (body !== undefined && method !== 'HEAD' && !answer.body.equals(body)) {
    return `${answer.body.length} bytes that are not the ${body.length} expected`
  }
  return pattern.check?.(answer)
}

/** A header of an answer as UTF-8 text. */
export function headerOf(answer: WireAnswer, name: string): string | undefined {
  const value = answer.headers[name]
  if (value === undefined) return undefined
  return Buffer.from(Array.isArray(value) ? value.join() : value, 'latin1').toString()
}

/** Path of a key, with a query of the parameters that are not undefined. */
export function targetOf(
  bucket: string,
  key: string | undefined,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const path = key === undefined ? '' : `/${key.split('/').map(encodeURIComponent).join('/')}`
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
  return `/${bucket}${path}${text === '' ? '' : `?${text}`}`
}
