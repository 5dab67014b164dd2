/**
 * Links signed with Signature Version 2 (Amazon S3 developer guide, "Signing and authenticating REST requests", query
 * string request authentication), which older clients make: GET and HEAD alone, for the extension presign-v2. The
 * signature covers method, path, x-amz headers and the parameters below. Any other parameter is refused, because each
 * holder of the link could add it (decision 0001).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Milliseconds } from '../../../engine/brands.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { QueryParameters } from '../request/query-parameters.ts'

const ACCESS_KEY = 'AWSAccessKeyId'
const EXPIRES = 'Expires'
const SIGNATURE = 'Signature'
const OWN: ReadonlySet<string> = new Set([ACCESS_KEY, EXPIRES, SIGNATURE])

/** Seven days from now, the longest life of a link of version 4. */
const LIFE_MILLISECONDS_MAXIMUM = 604_800_000
const ACCESS_KEY_LENGTH_MAXIMUM = 128

/** Parameters that are a part of the signed resource. */
const SIGNED_PARAMETERS: ReadonlySet<string> = new Set([
  'acl',
  'cors',
  'lifecycle',
  'location',
  'logging',
  'notification',
  'partNumber',
  'policy',
  'requestPayment',
  'response-cache-control',
  'response-content-disposition',
  'response-content-encoding',
  'response-content-language',
  'response-content-type',
  'response-expires',
  'tagging',
  'torrent',
  'uploadId',
  'uploads',
  'versionId',
  'versioning',
  'versions',
  'website',
])

/** 20 bytes in base64. */
const SIGNATURE_FORM = /^[A-Za-z0-9+/]{27}=$/

/** What a link of version 2 says about its signature. */
interface VersionTwoClaims {
  readonly accessKey: string
  /** As it is signed: seconds since 1970. */
  readonly expires: string
  readonly expiresMilliseconds: number
  /** In base64; not yet known to be of 20 bytes. */
  readonly signature: string
}

export function isVersionTwo(query: QueryParameters): boolean {
  return query.entries.length > 0 && query.has(ACCESS_KEY)
}

/**
 * The claims of a link, whose time is not judged yet.
 * @throws S3Error AccessDenied for another method, a parameter that the signature does not cover, or a claim that is
 *   missing, given twice or cannot be read
 */
export function versionTwoClaims({ method }: HttpRequest, { entries }: QueryParameters): VersionTwoClaims {
  if (method !== 'GET' && method !== 'HEAD') throw denied('Links of Signature Version 2 are for GET and HEAD alone.')
  const own = new Map<string, string>()
  for (const [name, value] of entries) {
    if (!OWN.has(name)) {
      if (!SIGNED_PARAMETERS.has(name)) {
        throw denied('A signature of version 2 does not cover this parameter: sign with version 4.', name)
      }
      if (hidesAnother(value)) throw denied(HIDDEN, name)
    } else if (own.has(name)) throw denied('The link has this parameter more than once.', name)
    else own.set(name, value)
  }
  const [accessKey = '', expires = '', signature = ''] = [ACCESS_KEY, EXPIRES, SIGNATURE].map((name) => own.get(name))
  if (accessKey === '' || accessKey.length > ACCESS_KEY_LENGTH_MAXIMUM || signature === '') {
    throw denied(`A link of Signature Version 2 has ${[...OWN].join(', ')}.`)
  }
  if (!/^\d{1,12}$/.test(expires)) throw denied('Expires must be a time in whole seconds since 1970.', EXPIRES)
  // A plus sign that was not encoded has become a space.
  return { accessKey, expires, expiresMilliseconds: Number(expires) * 1000, signature: signature.replaceAll(' ', '+') }
}

/** @throws S3Error AccessDenied for a link that has expired, or that would be valid for more than seven days */
export function checkVersionTwoTime({ expiresMilliseconds: end }: VersionTwoClaims, now: Milliseconds): void {
  const details = [
    ['Expires', new Date(end).toISOString()],
    ['ServerTime', new Date(now).toISOString()],
  ] as const
  if (now > end) throw new S3Error('AccessDenied', { message: 'Request has expired', details })
  if (end - now <= LIFE_MILLISECONDS_MAXIMUM) return
  throw new S3Error('AccessDenied', { message: 'Expires must be at most seven days from now.', details })
}

/** Compares in constant time. */
export function isVersionTwoSignedBy(
  secretKey: string,
  claims: VersionTwoClaims,
  request: HttpRequest,
  query: QueryParameters,
): boolean {
  const expected = createHmac('sha1', secretKey)
    .update(stringToSign(claims, request, query))
    .digest()
  if (!SIGNATURE_FORM.test(claims.signature)) return false
  return timingSafeEqual(expected, Buffer.from(claims.signature, 'base64'))
}

function stringToSign({ expires }: VersionTwoClaims, request: HttpRequest, { entries }: QueryParameters): string {
  const parameters = entries
    .filter(([name]) => SIGNED_PARAMETERS.has(name))
    .toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
  const resource = parameters.length === 0 ? request.path : `${request.path}?${parameters.join('&')}`
  const heads = [request.method, request.header('content-md5') ?? '', request.header('content-type') ?? '', expires]
  return `${[...heads, ...amzLines(request)].join('\n')}\n${resource}`
}

/** The x-amz headers by name, repeated lines with commas between. */
function amzLines({ headers }: HttpRequest): string[] {
  const values = new Map<string, string[]>()
  for (const [name, value] of headers) {
    if (!name.startsWith('x-amz-')) continue
    const present = values.get(name)
    if (present === undefined) values.set(name, [value])
    else present.push(value)
  }
  return [...values.keys()].toSorted().map((name) => `${name}:${values.get(name)?.join(',')}`)
}

const HIDDEN = 'With Signature Version 2 a value cannot hold & and the name of a parameter: sign with version 4.'

/** Two parameters would have the same string to sign, so the holder of a link could make one of two. */
function hidesAnother(value: string): boolean {
  return value.includes('&') && value.split('&').some((part, index) => index > 0 && SIGNED_PARAMETERS.has(nameIn(part)))
}

function nameIn(part: string): string {
  const end = part.indexOf('=')
  return end === -1 ? part : part.slice(0, end)
}

function denied(message: string, parameter?: string): S3Error {
  const details = parameter === undefined ? [] : ([['ParameterName', parameter]] as const)
  return new S3Error('AccessDenied', { message, details })
}
