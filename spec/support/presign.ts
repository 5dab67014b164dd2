/**
 * Making signatures: presigned URLs for hints and load generators, signed headers for raw requests. The server itself
 * only checks signatures; both sides share signature-v4.ts, which is held against AWS's published examples.
 */

import type { HeaderLine } from '../../planes/http/exchange.ts'
import { canonicalQuery, type QueryParameter } from '../../planes/s3/request/query-parameters.ts'
import {
  ALGORITHM,
  canonicalText,
  deriveSigningKey,
  type Scope,
  scopeText,
  stringToSign,
  UNSIGNED_PAYLOAD,
} from '../../planes/s3/signing/signature-v4.ts'
import { formatAmzDate } from '../../planes/s3/text/timestamps.ts'
import { encodeUri } from '../../planes/s3/text/uri-encoding.ts'

export interface SigningOptions {
  readonly method: string
  /** Decoded, such as `/bucket/a key`. */
  readonly path: string
  /** Decoded names and values. */
  readonly query?: readonly QueryParameter[]
  /** Headers to sign beside `host`, with lower-case names; the request must then carry them. */
  readonly headers?: readonly HeaderLine[]
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

export interface PresignOptions extends SigningOptions {
  /** Scheme, host and port, such as `http://127.0.0.1:7600`; a TypeError when it is something else. */
  readonly endpoint: string
  /** 1 to 604800. */
  readonly expiresSeconds: number
}

export interface SignHeadersOptions extends SigningOptions {
  /** The value of the Host header that will be sent, with its port. */
  readonly host: string
  /** Hex SHA-256 of the body or, by default, `UNSIGNED-PAYLOAD`. */
  readonly payloadHash?: string
}

/** The path and query as they go into a request line. */
export function requestTarget(path: string, query: readonly QueryParameter[] = []): string {
  const text = query.map(([name, value]) => `${encodeUri(name, false)}=${encodeUri(value, false)}`).join('&')
  return encodeUri(path, true) + (text === '' ? '' : `?${text}`)
}

/** A URL that carries its own signature. */
export function presign(options: PresignOptions): string {
  const endpoint = options.endpoint.replace(/\/+$/, '')
  const timestamp = formatAmzDate(options.now)
  const scope: Scope = { date: timestamp.slice(0, 8), region: options.region }
  const headers: HeaderLine[] = [['host', hostOf(endpoint)], ...(options.headers ?? [])]
  const query: QueryParameter[] = [
    ...(options.query ?? []),
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${options.accessKey}/${scopeText(scope)}`],
    ['X-Amz-Date', timestamp],
    ['X-Amz-Expires', String(options.expiresSeconds)],
    ['X-Amz-SignedHeaders', signedNames(headers).join(';')],
  ]
  const declared = [...headers, ...query].find(([name]) => name.toLowerCase() === 'x-amz-content-sha256')
  const payloadHash = declared?.[1] ?? UNSIGNED_PAYLOAD
  const signature = signRequest({ ...options, query, headers, payloadHash, timestamp, scope })
  return `${endpoint}${requestTarget(options.path, [...query, ['X-Amz-Signature', signature]])}`
}

/** All headers of a request that is signed in its Authorization header: those given, and those that signing adds. */
export function signHeaders(options: SignHeadersOptions): HeaderLine[] {
  const timestamp = formatAmzDate(options.now)
  const scope: Scope = { date: timestamp.slice(0, 8), region: options.region }
  const payloadHash = options.payloadHash ?? UNSIGNED_PAYLOAD
  const headers: HeaderLine[] = [
    ['host', options.host],
    ...(options.headers ?? []),
    ['x-amz-content-sha256', payloadHash],
    ['x-amz-date', timestamp],
  ]
  const query = options.query ?? []
  const signature = signRequest({ ...options, query, headers, payloadHash, timestamp, scope })
  const credential = `Credential=${options.accessKey}/${scopeText(scope)}`
  const names = `SignedHeaders=${signedNames(headers).join(';')}`
  return [...headers, ['authorization', `${ALGORITHM} ${credential},${names},Signature=${signature}`]]
}

interface SignRequest extends SigningOptions {
  readonly query: readonly QueryParameter[]
  readonly headers: readonly HeaderLine[]
  readonly payloadHash: string
  readonly timestamp: string
  readonly scope: Scope
}

function signRequest(request: SignRequest): string {
  const names = signedNames(request.headers)
  const canonical = canonicalText({
    method: request.method,
    path: encodeUri(request.path, true),
    query: canonicalQuery(request.query),
    signedNames: names,
    signedHeaders: names.join(';'),
    header: (name) => joinedValues(request.headers, name),
    payloadHash: request.payloadHash,
  })
  const signingKey = deriveSigningKey(request.secretKey, request.scope)
  return signingKey.sign(stringToSign(request.timestamp, request.scope, canonical))
}

function signedNames(headers: readonly HeaderLine[]): string[] {
  return [...new Set(headers.map(([name]) => name))].toSorted()
}

function joinedValues(headers: readonly HeaderLine[], name: string): string {
  const values = headers.filter((line) => line[0] === name).map((line) => line[1].trim())
  return values.join(',')
}

const ENDPOINT = /^(https?):\/\/([^/?#@\s]+)$/
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

/** The Host header that a client derives from an endpoint: without the default port of the scheme. */
function hostOf(endpoint: string): string {
  const [, scheme = '', authority] = ENDPOINT.exec(endpoint) ?? []
  if (authority === undefined) throw new TypeError(`not an endpoint: ${endpoint}`)
  const host = authority.toLowerCase()
  const port = DEFAULT_PORTS[scheme] ?? ''
  return host.endsWith(port) ? host.slice(0, host.length - port.length) : host
}
