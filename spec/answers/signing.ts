/** AWS Signature Version 4, written here once more so that no change of the project changes what is sent. */
import { createHash, createHmac } from 'node:crypto'
import type { Line } from './connection.ts'

/** A credential and what the recording calls it. */
export interface Signer {
  readonly name: string
  readonly accessKey: string
  readonly secretKey: string
}

export interface Signing {
  readonly signer: Signer
  readonly method: string
  /** Path and query as they go into the request line. */
  readonly target: string
  /** To be signed, the host among them. */
  readonly lines: readonly Line[]
  /** Milliseconds since 1970. */
  readonly now: number
  readonly region: string
  readonly service: string
  /** What x-amz-content-sha256 says. */
  readonly payload: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** `20130524T000000Z` */
export function amzDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, '')
}

/** Percent-encoding with upper-case digits; only unreserved characters stay. */
export function encode(text: string, keepSlash = false): string {
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

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
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
  pairs.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]))
  return pairs.map(([name, value]) => `${name}=${value}`).join('&')
}

function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function signedNames(lines: readonly Line[]): string[] {
  return [...new Set(lines.map(([name]) => name.toLowerCase()))].toSorted()
}

function signatureOf(signing: Signing, scope: string): string {
  const { path, query } = splitTarget(signing.target)
  const names = signedNames(signing.lines)
  const valueOf = (name: string) => {
    const values = signing.lines.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value.trim())
    return values.join(',').replace(/[ \t]+/g, ' ')
  }
  const canonical = [
    signing.method,
    encode(decode(path), true),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${valueOf(name)}`),
    '',
    names.join(';'),
    signing.payload,
  ].join('\n')
  const date = amzDate(signing.now)
  const text = [ALGORITHM, date, scope, sha256(canonical)].join('\n')
  const dateKey = hmac(`AWS4${signing.signer.secretKey}`, date.slice(0, 8))
  const key = hmac(hmac(hmac(dateKey, signing.region), signing.service), 'aws4_request')
  return hmac(key, text).toString('hex')
}

function scopeOf({ now, region, service }: Signing): string {
  return `${amzDate(now).slice(0, 8)}/${region}/${service}/aws4_request`
}

/** The lines of a request whose signature is in its Authorization header. */
export function signedLines(unsigned: Signing): Line[] {
  const added: Line[] = [
    ['x-amz-content-sha256', unsigned.payload],
    ['x-amz-date', amzDate(unsigned.now)],
  ]
  const has = (name: string) => unsigned.lines.some(([other]) => other.toLowerCase() === name)
  const lines = [...unsigned.lines, ...added.filter(([name]) => !has(name))]
  const scope = scopeOf(unsigned)
  const signature = signatureOf({ ...unsigned, lines }, scope)
  const credential = `Credential=${unsigned.signer.accessKey}/${scope}`
  const names = signedNames(lines).join(';')
  return [...lines, ['authorization', `${ALGORITHM} ${credential},SignedHeaders=${names},Signature=${signature}`]]
}

/** The target of a presigned URL. */
export function presignedTarget(unsigned: Signing, expires: string): string {
  const scope = scopeOf(unsigned)
  const added = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${unsigned.signer.accessKey}/${scope}`],
    ['X-Amz-Date', amzDate(unsigned.now)],
    ['X-Amz-Expires', expires],
    ['X-Amz-SignedHeaders', signedNames(unsigned.lines).join(';')],
  ] as const
  const text = added.map(([name, value]) => `${name}=${encode(value)}`).join('&')
  const target = `${unsigned.target}${unsigned.target.includes('?') ? '&' : '?'}${text}`
  return `${target}&X-Amz-Signature=${signatureOf({ ...unsigned, target }, scope)}`
}
