/** What a block may say of a request, and how that is sent and told. */
import { sha256 } from '../support/signing.ts'

export type Line = readonly [name: string, value: string]

/** A credential and what the recording calls it. */
export interface Signer {
  readonly name: string
  readonly accessKey: string
  readonly secretKey: string
}

/** Who asks on the management plane, and the Authorization header that says so. */
export interface Caller {
  readonly name: string
  readonly authorization: string
}

export interface Common {
  /** `name: value` */
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
  /** What Content-Length says; `none` leaves it out. By default the truth. */
  readonly length?: string
  /** Sends the body in chunks. */
  readonly chunked?: boolean
  readonly fresh?: boolean
  readonly half?: boolean
  /** Numbers of the answer differ from run to run. */
  readonly anyNumbers?: boolean
  /** The Host header; by default the address of the server. */
  readonly host?: string
}

export interface S3Ask extends Common {
  /** Undefined is the root credential; null signs nothing. */
  readonly as?: Signer | null
  /** Sent beside those that are signed. */
  readonly unsigned?: readonly string[]
  /** Seconds that a presigned URL holds; then nothing is signed in a header. */
  readonly presign?: string
  /** Seconds that the clock of the client is ahead. */
  readonly skew?: number
  readonly region?: string
  readonly service?: string
  /** What x-amz-content-sha256 says; by default the digest of the body. */
  readonly payload?: string
  /** Changes header lines or target after they were signed. */
  readonly spoil?: (lines: readonly Line[]) => readonly Line[]
  readonly retarget?: (target: string) => string
}

export interface ApiAsk extends Common {
  /** Undefined is the root credential by HTTP Basic; null sends none. */
  readonly as?: Caller | null
}

const SENT_SHOWN = 160

export function lineOf(text: string): Line {
  const colon = text.indexOf(':')
  return [text.slice(0, colon), text.slice(colon + 1).replace(/^ /, '')]
}

export function framingOf(method: string, lines: readonly Line[], body: Buffer, ask: Common): Line[] {
  if (ask.chunked === true) return [['transfer-encoding', 'chunked']]
  if (ask.length === 'none') return []
  const has = lines.some(([name]) => ['content-length', 'transfer-encoding'].includes(name.toLowerCase()))
  if (has || (body.length === 0 && ask.length === undefined && method !== 'PUT' && method !== 'POST')) return []
  return [['content-length', ask.length ?? String(body.length)]]
}

export function chunked(body: Buffer): Buffer {
  const half = Math.ceil(body.length / 2)
  const pieces = [body.subarray(0, half), body.subarray(half)].filter((piece) => piece.length > 0)
  const chunks = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

export function shortened(text: string): string {
  return text.length <= SENT_SHOWN ? text : `${text.slice(0, SENT_SHOWN)}… ${text.length} ${sha256(text).slice(0, 12)}`
}

/** @param show puts names in the place of what the server made up */
export function askText(what: string, headers: readonly string[], ask: Common, show: (text: string) => string): string {
  const short = (text: string) => shortened(show(text))
  const parts = [short(what), ...headers.map(short)]
  if (ask.host !== undefined) parts.push(show(`host: ${ask.host}`))
  if (ask.length !== undefined) parts.push(`length ${ask.length}`)
  if (ask.chunked === true) parts.push('chunked')
  if (ask.half === true) parts.push('half closed')
  if (ask.body !== undefined) {
    const { body } = ask
    const isText = typeof body === 'string'
    parts.push(
      isText ? `body ${JSON.stringify(short(body))}` : `body of ${body.length} bytes ${sha256(body).slice(0, 12)}`,
    )
  }
  return parts.join(' | ')
}
