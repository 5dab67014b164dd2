/**
 * Parses the claims of a request about its signature from the Authorization header or the presigned query (S3 API
 * reference, "Authenticating Requests: Using the Authorization Header" and "... Query Parameters"). Syntax only;
 * authenticate.ts verifies the claims.
 */

import type { Milliseconds } from '../../../engine/brands.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { S3Error, type S3ErrorCode } from '../errors/s3-errors.ts'
import { parseHttpDate } from '../../http/headers/http-date.ts'
import { turnOn } from '../../objects/s3-extensions.ts'
import type { QueryParameters } from '../request/query-parameters.ts'
import { ALGORITHM, SCOPE_TERMINATOR, SERVICE, type Scope } from '../signing/signature-v4.ts'
import { formatAmzDate, parseAmzDate } from '../text/timestamps.ts'

/** More than any access key and region need; bounds the memory of the signing-key cache. */
const CREDENTIAL_LENGTH_MAXIMUM = 256
const EXPIRES_SECONDS_MAXIMUM = 604_800

export interface SignatureClaims {
  readonly mode: 'header' | 'presigned'
  readonly accessKey: string
  readonly scope: Scope
  readonly signedHeaders: string
  readonly signedNames: readonly string[]
  /** As sent; not yet known to be hex. */
  readonly signature: string
  /** The time of signing in basic ISO form, as it is signed. */
  readonly timestamp: string
  readonly timeMilliseconds: number
  /** Presigned only: 1 to 604800. */
  readonly expiresSeconds: number | undefined
}

/**
 * @param now milliseconds; decides the century of an obsolete Date header
 * @throws S3Error AuthorizationHeaderMalformed, InvalidRequest (SigV2, SigV4A), InvalidArgument (another scheme),
 *   AccessDenied (no usable date)
 */
export function headerClaims(authorization: string, request: HttpRequest, now: Milliseconds): SignatureClaims {
  const space = authorization.indexOf(' ')
  const scheme = space === -1 ? authorization : authorization.slice(0, space)
  if (scheme !== ALGORITHM) throw foreignScheme(scheme)
  const { credential, signedHeaders, signature } = componentsOf(authorization, space + 1)
  const { accessKey, scope } = headerCredential(credential)
  const signedNames = headerNames(signedHeaders)
  const { timestamp, timeMilliseconds } = headerTime(request, now)
  checkScopeDate('header', scope, timestamp)
  const expiresSeconds = undefined
  return {
    mode: 'header',
    accessKey,
    scope,
    signedHeaders,
    signedNames,
    signature,
    timestamp,
    timeMilliseconds,
    expiresSeconds,
  }
}

interface Components {
  readonly credential: string
  readonly signedHeaders: string
  readonly signature: string
}

const COMPONENTS = ['Credential', 'SignedHeaders', 'Signature']

/** The components of an Authorization header from `start` on, in any order. */
function componentsOf(authorization: string, start: number): Components {
  const values: string[] = []
  for (let at = start, end: number; at <= authorization.length; at = end + 1) {
    const comma = authorization.indexOf(',', at)
    end = comma === -1 ? authorization.length : comma
    const equals = authorization.indexOf('=', at)
    const index = equals === -1 || equals >= end ? -1 : COMPONENTS.indexOf(authorization.slice(at, equals).trim())
    if (index === -1 || values[index] !== undefined) throw malformed('header', COMPONENTS_WHY)
    values[index] = authorization.slice(equals + 1, end).trim()
  }
  const [credential, signedHeaders, signature] = values
  if (!credential || !signedHeaders || !signature) throw malformed('header', COMPONENTS_WHY)
  return { credential, signedHeaders, signature }
}

const COMPONENTS_WHY = 'It must have exactly Credential, SignedHeaders and Signature, each once, as name=value.'

/** When a link of version 4 that was accepted expires: milliseconds since 1970. */
export function endOfLink(query: QueryParameters): number {
  const { timeMilliseconds, expiresSeconds = 0 } = presignedClaims(query)
  return timeMilliseconds + expiresSeconds * 1000
}

/** @throws S3Error AuthorizationQueryParametersError */
export function presignedClaims(query: QueryParameters): SignatureClaims {
  const algorithm = query.first('X-Amz-Algorithm')
  const credential = query.first('X-Amz-Credential')
  const timestamp = query.first('X-Amz-Date')
  const expires = query.first('X-Amz-Expires')
  const signedHeaders = query.first('X-Amz-SignedHeaders')
  const signature = query.first('X-Amz-Signature')
  if (!algorithm || !credential || !timestamp || !expires || !signedHeaders || !signature) {
    const names = 'X-Amz-Algorithm, X-Amz-Credential, X-Amz-Date, X-Amz-Expires, X-Amz-SignedHeaders, X-Amz-Signature'
    throw malformed('presigned', `All of ${names} are needed.`)
  }
  if (algorithm !== ALGORITHM) throw malformed('presigned', `X-Amz-Algorithm must be ${ALGORITHM}.`)
  const { accessKey, scope } = queryCredential(credential)
  const timeMilliseconds = parseAmzDate(timestamp)
  if (timeMilliseconds === undefined) throw malformed('presigned', 'X-Amz-Date must have the form yyyymmddThhmmssZ.')
  checkScopeDate('presigned', scope, timestamp)
  const expiresSeconds = parseExpires(expires)
  const signedNames = queryNames(signedHeaders)
  return {
    mode: 'presigned',
    accessKey,
    scope,
    signedHeaders,
    signedNames,
    signature,
    timestamp,
    timeMilliseconds,
    expiresSeconds,
  }
}

function parseExpires(text: string): number {
  const seconds = /^\d{1,20}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= EXPIRES_SECONDS_MAXIMUM) return seconds
  throw malformed('presigned', `X-Amz-Expires must be a whole number from 1 to ${EXPIRES_SECONDS_MAXIMUM}.`)
}

/** Parsed from the end, since an access key may contain a slash. */
function parseCredential(mode: Place, text: string): { accessKey: string; scope: Scope } {
  const pieces = text.split('/')
  const terminator = pieces.pop()
  const service = pieces.pop()
  const region = pieces.pop()
  const date = pieces.pop()
  const accessKey = pieces.join('/')
  // Clients of other interfaces sign with an empty region; the refusals of those come later, by name.
  if (!accessKey || region === undefined || !date || text.length > CREDENTIAL_LENGTH_MAXIMUM) {
    throw malformed(mode, `The credential must be KEY/yyyymmdd/REGION/${SERVICE}/${SCOPE_TERMINATOR}.`)
  }
  if (terminator !== SCOPE_TERMINATOR) throw malformed(mode, `The credential must end in ${SCOPE_TERMINATOR}.`)
  if (service === 'sts')
    throw new S3Error('NotImplemented', {
      message: 'STS is not supported by this server. object-store credential temporary issues keys that expire.',
    })
  if (service !== SERVICE) throw malformed(mode, `The service in the credential must be ${SERVICE}.`)
  return { accessKey, scope: { date, region } }
}

// A header name in lower case (RFC 9110 token).
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

const headerCredential = remembered((text) => parseCredential('header', text))
const queryCredential = remembered((text) => parseCredential('presigned', text))
/**
 * The credential in a field of a form.
 * @throws S3Error InvalidArgument, NotImplemented (for STS)
 */
export const formCredential = remembered((text) => parseCredential('form', text))
const headerNames = remembered((text) => parseSignedHeaders('header', text))
const queryNames = remembered((text) => parseSignedHeaders('presigned', text))

/** Above the number of lines of a head. Each name is looked up among all lines before authentication. */
const SIGNED_NAMES_MAXIMUM = 100

function parseSignedHeaders(mode: SignatureClaims['mode'], text: string): readonly string[] {
  const names = text.split(';', SIGNED_NAMES_MAXIMUM + 1)
  if (names.length > SIGNED_NAMES_MAXIMUM)
    throw malformed(mode, `At most ${SIGNED_NAMES_MAXIMUM} headers may be signed.`)
  const unique = new Set(names)
  if (unique.size === names.length && names.every((name) => HEADER_NAME.test(name))) return names
  throw malformed(mode, 'The signed headers must be lower-case names, each once, with ; between.')
}

function checkScopeDate(mode: SignatureClaims['mode'], scope: Scope, timestamp: string): void {
  if (timestamp.startsWith(`${scope.date}T`)) return
  throw malformed(mode, 'The day in the credential is not the day of the date of the request.')
}

/** x-amz-date; without it the Date header, which then is signed in basic ISO form. */
function headerTime(request: HttpRequest, now: Milliseconds): { timestamp: string; timeMilliseconds: number } {
  const amzDate = request.header('x-amz-date')
  const timestamp = amzDate ?? request.header('date') ?? ''
  let timeMilliseconds = parseAmzDate(timestamp)
  if (timeMilliseconds !== undefined) return { timestamp, timeMilliseconds }
  timeMilliseconds = amzDate === undefined ? parseHttpDate(timestamp, now) : undefined
  if (timeMilliseconds !== undefined) return { timestamp: formatAmzDate(timeMilliseconds), timeMilliseconds }
  throw new S3Error('AccessDenied', { message: 'Authentication requires a valid x-amz-date or Date header.' })
}

/** Where a request says how it is signed. */
type Place = SignatureClaims['mode'] | 'form'

const MALFORMED: Readonly<Record<Place, readonly [code: S3ErrorCode, where: string]>> = {
  header: ['AuthorizationHeaderMalformed', 'The Authorization header'],
  presigned: ['AuthorizationQueryParametersError', 'The presigned query'],
  form: ['InvalidArgument', 'X-Amz-Credential of the form'],
}

function malformed(mode: Place, why: string): S3Error {
  const [code, where] = MALFORMED[mode]
  return new S3Error(code, { message: `${where} is malformed. ${why}` })
}

/**
 * The refusal of SigV2 and SigV4A, in S3's wording, which clients recognize.
 * @param isLink whether it is a link of version 2 that the extension presign-v2 would read
 */
export function unsupportedMechanism(isLink = false): S3Error {
  const message =
    `The authorization mechanism you have provided is not supported. Please use ${ALGORITHM}: ` +
    'signature_version="s3v4" in Config (boto3, s3fs), aws configure set default.s3.signature_version s3v4 (aws), ' +
    'AWS_S3_SIGNATURE_VERSION="s3v4" (django-storages).'
  const way = isLink ? ` For links of version 2, ${turnOn('presign-v2')}.` : ''
  return new S3Error('InvalidRequest', { message: `${message}${way}` })
}

/** Does not repeat the value: a foreign Authorization header may contain a password. */
function foreignScheme(scheme: string): S3Error {
  if (scheme === 'AWS' || scheme.startsWith('AWS4-')) return unsupportedMechanism()
  const message = 'The type of the Authorization header is not supported.'
  return new S3Error('InvalidArgument', { message, details: [['ArgumentName', 'Authorization']] })
}

/** Longer texts are not cached, to bound memory. */
const TEXT_LENGTH_MAXIMUM = 512
const TEXTS_MAXIMUM = 64

/**
 * Caches the results of `read` for about 64 recent texts: clients send the same credential and the same list of headers
 * with every request. Exceptions are not cached. Callers must not modify results.
 */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    let result = known.get(text)
    if (result !== undefined) return result
    result = read(text)
    if (text.length > TEXT_LENGTH_MAXIMUM) return result
    if (known.size >= TEXTS_MAXIMUM) known.clear()
    known.set(text, result)
    return result
  }
}
