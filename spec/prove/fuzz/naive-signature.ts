/**
 * Signature Version 4 by the words of the S3 API reference ("Authenticating Requests"), without a line of the server's
 * own: what a request must have signed, and whether it has.
 */
import { millisecondsOf } from '../../../engine/brands.ts'
import type { HttpRequest } from '../../../planes/http/exchange.ts'
import { parseHttpDate } from '../../../planes/http/headers/http-date.ts'
import { sha256, signText } from '../../support/signing.ts'
import { fitsPicture, naiveMoment } from './naive-calendar.ts'
import { naiveCanonicalQuery, naiveDecode, naiveEncode, naiveParameters } from './naive-uri.ts'
import { BLANKS_AROUND } from './request-text.ts'

export const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE'
export const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
export const NOW = millisecondsOf(Date.UTC(2026, 7, 1, 12))
const SKEW_MILLISECONDS = 15 * 60_000
const EXPIRES_SECONDS = 7 * 24 * 60 * 60

/** What a request says about its signature, whether it is right or not. */
export interface Signed {
  readonly mode: 'header' | 'presigned'
  readonly accessKey: string
  /** `yyyymmdd/region/s3/aws4_request` */
  readonly scope: string
  readonly names: readonly string[]
  readonly timestamp: string
  readonly payloadHash: string
  readonly expires: number | undefined
  readonly signature: string
}

type Parameters = readonly (readonly [string, string])[]

function first(parameters: Parameters, name: string): string | undefined {
  return parameters.find((entry) => entry[0] === name)?.[1]
}

/** Takes the signature of a request apart; undefined when it has none that could be right. */
export function signedOf(request: HttpRequest): Signed | undefined {
  const parameters = naiveParameters(request.query)
  if (parameters === undefined) return undefined
  const authorization = request.header('authorization')
  const inHeader = authorization ? headerParts(authorization) : undefined
  const [credential, names, signature] = inHeader ?? [
    first(parameters, 'X-Amz-Credential'),
    first(parameters, 'X-Amz-SignedHeaders'),
    first(parameters, 'X-Amz-Signature'),
  ]
  if (!credential || !names || !signature) return undefined
  const pieces = credential.split('/')
  const timestamp = inHeader ? headerTimestamp(request) : first(parameters, 'X-Amz-Date')
  const hash = request.header('x-amz-content-sha256') ?? parameterAsHeader(parameters, 'x-amz-content-sha256')
  if (timestamp === undefined || (inHeader && request.header('x-amz-content-sha256') === undefined)) return undefined
  return {
    mode: inHeader ? 'header' : 'presigned',
    accessKey: pieces.slice(0, -4).join('/'),
    scope: pieces.slice(-4).join('/'),
    names: names.split(';'),
    timestamp,
    payloadHash: hash ?? 'UNSIGNED-PAYLOAD',
    expires: inHeader ? undefined : Number(first(parameters, 'X-Amz-Expires')),
    signature,
  }
}

/** A Date header stands for an x-amz-date that is not there; its forms have a target of their own. */
function headerTimestamp(request: HttpRequest): string | undefined {
  const timestamp = request.header('x-amz-date') ?? request.header('date')
  if (timestamp === undefined || fitsPicture(timestamp, '########T######Z')) return timestamp
  const time = request.header('x-amz-date') === undefined ? parseHttpDate(timestamp, NOW) : undefined
  return time === undefined ? timestamp : new Date(time).toISOString().replaceAll(/[-:]|\.000/g, '')
}

function parameterAsHeader(parameters: Parameters, name: string): string | undefined {
  return parameters.find((entry) => entry[0].toLowerCase() === name)?.[1].replaceAll(BLANKS_AROUND, '')
}

function headerParts(authorization: string): readonly [string, string, string] | undefined {
  const [algorithm, ...rest] = authorization.split(' ')
  if (algorithm !== 'AWS4-HMAC-SHA256') return undefined
  const parts = rest
    .join(' ')
    .split(',')
    .map((part) => part.trim())
  const valueOf = (name: string): string =>
    parts.find((part) => part.split('=')[0]?.trim() === name)?.replace(/^[^=]*=\s*/, '') ?? ''
  return [valueOf('Credential'), valueOf('SignedHeaders'), valueOf('Signature')]
}

/** The signature that a request should have for what it says, with the secret of the example. */
export function signatureFor(request: HttpRequest, signed: Signed): string | undefined {
  const [bucket, ...key] = request.path.slice(1).split('/')
  const decoded = [naiveDecode(bucket ?? ''), naiveDecode(key.join('/'))]
  const parameters = naiveParameters(request.query)
  if (decoded[0] === undefined || decoded[1] === undefined || parameters === undefined) return undefined
  const path = `/${naiveEncode(decoded[0], true)}${key.length === 0 ? '' : `/${naiveEncode(decoded[1], true)}`}`
  const canonical = [
    request.method,
    path,
    naiveCanonicalQuery(parameters),
    ...signed.names.map((name) => `${name}:${(request.header(name) ?? '').split(/[ \t]+/).join(' ')}`),
    '',
    signed.names.join(';'),
    signed.payloadHash,
  ].join('\n')
  return signText(SECRET_KEY, signed.timestamp, signed.scope.split('/'), 'AWS4-HMAC-SHA256', sha256(canonical))
}

/** Why a request must be refused, of all that the promises speak of; undefined when nothing of it is wrong. */
export function signatureFault(request: HttpRequest, signed: Signed): string | undefined {
  if (signed.accessKey !== ACCESS_KEY) return 'another access key'
  if (signatureFor(request, signed) !== signed.signature) return 'another signature'
  if (!signed.names.includes('host')) return 'the host is not signed'
  const unsigned = request.headers.find(([name]) => name.startsWith('x-amz-') && !signed.names.includes(name))
  if (unsigned !== undefined) return `${unsigned[0]} is not signed`
  if (request.headers.filter(([name]) => name === 'host').length > 1) return 'two hosts'
  const [date, region, service, end] = signed.scope.split('/')
  if (service !== 's3' || end !== 'aws4_request' || !region) return 'another scope'
  return timeFault(signed, date ?? '')
}

function timeFault({ mode, timestamp, expires }: Signed, date: string): string | undefined {
  const time = momentOf(timestamp)
  if (time === undefined || timestamp.slice(0, 8) !== date) return 'another day'
  if (mode === 'header') return Math.abs(NOW - time) > SKEW_MILLISECONDS ? 'too far from now' : undefined
  if (expires === undefined || !(expires >= 1 && expires <= EXPIRES_SECONDS)) return 'no time to live'
  return NOW < time - SKEW_MILLISECONDS || NOW > time + expires * 1000 ? 'not valid now' : undefined
}

function momentOf(timestamp: string): number | undefined {
  if (!fitsPicture(timestamp, '########T######Z')) return undefined
  const part = (start: number, end: number): number => Number(timestamp.slice(start, end))
  return naiveMoment(part(0, 4), part(4, 6), part(6, 8), part(9, 11), part(11, 13), part(13, 15))
}
