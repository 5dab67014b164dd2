/**
 * AWS Signature Version 4 of requests, by the words of the S3 API reference ("Authenticating Requests"). Without a line of
 * production: the server judges what is signed here, and no change of the project changes what is sent.
 */
import { createHash, createHmac } from 'node:crypto'

type Pair = readonly [name: string, value: string]

interface SigningOptions {
  readonly method: string
  /** Decoded, such as `/bucket/a key`. */
  readonly path: string
  /** Decoded names and values. */
  readonly query?: readonly Pair[]
  /** Headers to sign beside `host`, with lower-case names; the request must then carry them. */
  readonly headers?: readonly Pair[]
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

/** A request to be signed as it will be sent. */
export interface TargetSigning {
  readonly method: string
  /** Path and query as they go into the request line, well encoded or not. */
  readonly target: string
  /** To be signed, the host among them. */
  readonly lines: readonly Pair[]
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** `s3`, unless the signature is to be wrong. */
  readonly service?: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** What x-amz-content-sha256 says. */
  readonly payloadHash: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'

/** In hex. */
export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The path and query as they go into a request line. */
export function requestTarget(path: string, query: readonly Pair[] = []): string {
  return withQuery(encode(path, true), query)
}

/** A URL that carries its own signature. */
export function presign(options: PresignOptions): string {
  const endpoint = options.endpoint.replace(/\/+$/, '')
  const { path, query = [], headers = [], expiresSeconds } = options
  const declared = [...headers, ...query].find(([name]) => name.toLowerCase() === 'x-amz-content-sha256')
  const payloadHash = declared?.[1] ?? UNSIGNED_PAYLOAD
  const lines: Pair[] = [['host', hostOf(endpoint)], ...headers]
  const signing = { ...options, target: requestTarget(path, query), lines, payloadHash }
  return endpoint + presignedTarget(signing, String(expiresSeconds))
}

/** All headers of a request that is signed in its Authorization header: the given ones, and those that signing adds. */
export function signHeaders(options: SignHeadersOptions): Pair[] {
  const { path, query, host, headers = [], payloadHash = UNSIGNED_PAYLOAD } = options
  const lines: Pair[] = [['host', host], ...headers]
  return signedLines({ ...options, target: requestTarget(path, query), lines, payloadHash })
}

/** The lines of a request whose signature is in its Authorization header. */
export function signedLines(unsigned: TargetSigning): Pair[] {
  const added: Pair[] = [
    ['x-amz-content-sha256', unsigned.payloadHash],
    ['x-amz-date', amzDate(unsigned.now)],
  ]
  const has = (name: string) => unsigned.lines.some(([other]) => other.toLowerCase() === name)
  const lines = [...unsigned.lines, ...added.filter(([name]) => !has(name))]
  const signature = signatureOf({ ...unsigned, lines })
  const credential = `Credential=${unsigned.accessKey}/${scopeOf(unsigned).join('/')}`
  const names = signedNames(lines).join(';')
  return [...lines, ['authorization', `${ALGORITHM} ${credential},SignedHeaders=${names},Signature=${signature}`]]
}

/** The target of a presigned URL. @param expires seconds, a number unless the request is to be wrong */
export function presignedTarget(unsigned: TargetSigning, expires: string): string {
  const target = withQuery(unsigned.target, [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${unsigned.accessKey}/${scopeOf(unsigned).join('/')}`],
    ['X-Amz-Date', amzDate(unsigned.now)],
    ['X-Amz-Expires', expires],
    ['X-Amz-SignedHeaders', signedNames(unsigned.lines).join(';')],
  ])
  return `${target}&X-Amz-Signature=${signatureOf({ ...unsigned, target })}`
}

/**
 * The signature of lines of text, such as a digest or what a chunk says, in hex.
 * @param scope date, region, service and `aws4_request`
 */
export function signText(
  secretKey: string,
  timestamp: string,
  scope: readonly string[],
  algorithm: string,
  ...lines: readonly string[]
): string {
  const text = [algorithm, timestamp, scope.join('/'), ...lines].join('\n')
  return createHmac('sha256', keyOf(secretKey, scope)).update(text).digest('hex')
}

let lastKey: { readonly name: string; readonly key: Buffer | string } | undefined

/** Chunks are signed by the thousand with one key. */
function keyOf(secretKey: string, scope: readonly string[]): Buffer | string {
  const name = JSON.stringify([secretKey, ...scope])
  if (lastKey?.name === name) return lastKey.key
  let key: Buffer | string = `AWS4${secretKey}`
  for (const piece of scope) key = createHmac('sha256', key).update(piece).digest()
  lastKey = { name, key }
  return key
}

function signatureOf(signing: TargetSigning): string {
  const { method, target, lines, now, secretKey, payloadHash } = signing
  const { path, query } = splitTarget(target)
  const names = signedNames(lines)
  const valueOf = (name: string) => {
    const values = lines.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value.trim())
    return values.join(',').replace(/[ \t]+/g, ' ')
  }
  const canonical = [
    method,
    encode(decode(path), true),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${valueOf(name)}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n')
  return signText(secretKey, amzDate(now), scopeOf(signing), ALGORITHM, sha256(canonical))
}

function scopeOf({ now, region, service = 's3' }: TargetSigning): string[] {
  return [amzDate(now).slice(0, 8), region, service, 'aws4_request']
}

function signedNames(lines: readonly Pair[]): string[] {
  return [...new Set(lines.map(([name]) => name.toLowerCase()))].toSorted()
}

/** `20130524T000000Z` */
function amzDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, '')
}

/** Percent-encoding with upper-case digits; only unreserved characters stay. */
function encode(text: string, keepSlash = false): string {
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return keepSlash ? encoded.replaceAll('%2F', '/') : encoded
}

/** The text decoded once; as it is when it cannot be decoded. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function withQuery(target: string, query: readonly Pair[]): string {
  const text = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  if (text === '') return target
  return `${target}${target.includes('?') ? '&' : '?'}${text}`
}

function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((piece) => piece !== '')
    .map((piece) => {
      const [name = '', ...rest] = piece.replaceAll('+', ' ').split('=')
      return [encode(decode(name)), encode(decode(rest.join('=')))] as const
    })
    .filter(([name]) => name !== 'X-Amz-Signature')
  pairs.sort((one, other) => order(one[0], other[0]) || order(one[1], other[1]))
  return pairs.map(([name, value]) => `${name}=${value}`).join('&')
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
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
