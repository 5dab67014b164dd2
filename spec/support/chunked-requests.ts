/**
 * Requests with bodies that are aws-chunked, as the S3 API reference describes them ("Transferring Payload in Multiple
 * Chunks", "Including Trailing Headers"). Without a line of the server's own reader: the two are held against each other.
 */
import { createHash } from 'node:crypto'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { QueryParameter } from '../../planes/s3/request/query-parameters.ts'
import { sha256, signHeaders, signText } from './signing.ts'

export const CHUNK_FORMS = [
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
] as const

export type ChunkForm = (typeof CHUNK_FORMS)[number]

export interface Chunk {
  /** As it goes out; usually the length of `bytes` in hex. */
  readonly size: string
  readonly bytes: Buffer
  /** Undefined where chunks are not signed. */
  readonly signature: string | undefined
}

/** A body, part by part, so that each can be spoiled. */
export interface ChunkedBodyParts {
  /** The final one, which has no bytes, included. */
  readonly chunks: readonly Chunk[]
  readonly trailers: readonly HeaderLine[]
  readonly trailerSignature: string | undefined
  /** What ends a line of the trailer: MinIO's libraries send a line feed, and an empty line after it. */
  readonly lineEnd: '\r\n' | '\n\r\n'
}

export interface ChunkedRequest {
  readonly headers: readonly HeaderLine[]
  readonly parts: ChunkedBodyParts
}

export interface ChunkSigning {
  readonly secretKey: string
  readonly region: string
  /** `20130524T000000Z` */
  readonly timestamp: string
  /** The signature of the request. */
  readonly seed: string
}

export interface ChunkedRequestOptions {
  readonly form: ChunkForm
  readonly method?: string
  readonly path: string
  readonly query?: readonly QueryParameter[]
  readonly host: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region?: string
  readonly now?: number
  readonly payload: Buffer
  readonly chunkBytes?: number
  /** The checksum that comes after the body; by default the true CRC-32 where the form has a trailer. */
  readonly trailer?: HeaderLine
  readonly headers?: readonly HeaderLine[]
  readonly lineEnd?: ChunkedBodyParts['lineEnd']
}

const CHUNK_BYTES = 64 * 1024

export function isSigned(form: ChunkForm): boolean {
  return form !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
}

export function hasTrailer(form: ChunkForm): boolean {
  return form.endsWith('-TRAILER')
}

/** A request that is right in all of it. */
export function chunkedRequest(options: ChunkedRequestOptions): ChunkedRequest {
  const { form, payload, chunkBytes = CHUNK_BYTES, region = 'us-east-1', now = Date.now(), secretKey } = options
  const trailer = hasTrailer(form) ? (options.trailer ?? sha256Trailer(payload)) : undefined
  const own: HeaderLine[] = [
    ['content-encoding', 'aws-chunked'],
    ['x-amz-decoded-content-length', String(payload.length)],
  ]
  if (trailer !== undefined) own.push(['x-amz-trailer', trailer[0]])
  const given = options.headers ?? []
  const names = new Set(given.map(([name]) => name))
  const headers = signHeaders({
    method: options.method ?? 'PUT',
    path: options.path,
    query: options.query ?? [],
    headers: [...own.filter(([name]) => !names.has(name)), ...given],
    host: options.host,
    accessKey: options.accessKey,
    secretKey,
    region,
    now,
    payloadHash: form,
  })
  const signing = { secretKey, region, ...seedOf(headers) }
  return { headers, parts: chunkedParts(form, payload, chunkBytes, trailer, signing, options.lineEnd) }
}

/** Timestamp and signature of signed header lines. */
export function seedOf(headers: readonly HeaderLine[]): Pick<ChunkSigning, 'timestamp' | 'seed'> {
  const value = (name: string): string => headers.find((line) => line[0] === name)?.[1] ?? ''
  return { timestamp: value('x-amz-date'), seed: /Signature=(\w+)/.exec(value('authorization'))?.[1] ?? '' }
}

function sha256Trailer(payload: Buffer): HeaderLine {
  return ['x-amz-checksum-sha256', createHash('sha256').update(payload).digest('base64')]
}

/** The parts of a body in chunks of so many bytes. */
export function chunkedParts(
  form: ChunkForm,
  payload: Buffer,
  chunkBytes: number,
  trailer: HeaderLine | undefined,
  signing: ChunkSigning,
  lineEnd: ChunkedBodyParts['lineEnd'] = '\r\n',
): ChunkedBodyParts {
  const pieces: Buffer[] = []
  for (let at = 0; at < payload.length; at += chunkBytes) pieces.push(payload.subarray(at, at + chunkBytes))
  const trailers = trailer === undefined ? [] : [trailer]
  return signedParts(form, [...pieces, Buffer.alloc(0)], trailers, signing, lineEnd)
}

/** The parts of a body of these chunks, all signatures right. */
export function signedParts(
  form: ChunkForm,
  pieces: readonly Buffer[],
  trailers: readonly HeaderLine[],
  signing: ChunkSigning,
  lineEnd: ChunkedBodyParts['lineEnd'] = '\r\n',
): ChunkedBodyParts {
  let previous = signing.seed
  const chunks = pieces.map((bytes): Chunk => {
    const size = bytes.length.toString(16)
    if (!isSigned(form)) return { size, bytes, signature: undefined }
    previous = chunkSignature(signing, previous, bytes)
    return { size, bytes, signature: previous }
  })
  const isLast = isSigned(form) && hasTrailer(form)
  const trailerSignature = isLast ? trailerSignatureOf(signing, previous, trailers) : undefined
  return { chunks, trailers, trailerSignature, lineEnd }
}

function signatureOf({ secretKey, region, timestamp }: ChunkSigning, algorithm: string, ...lines: string[]): string {
  return signText(secretKey, timestamp, [timestamp.slice(0, 8), region, 's3', 'aws4_request'], algorithm, ...lines)
}

export function chunkSignature(signing: ChunkSigning, previous: string, bytes: Buffer): string {
  return signatureOf(signing, 'AWS4-HMAC-SHA256-PAYLOAD', previous, sha256(''), sha256(bytes))
}

export function trailerSignatureOf(signing: ChunkSigning, previous: string, trailers: readonly HeaderLine[]): string {
  const lines = trailers.map(([name, value]) => `${name}:${value}\n`).join('')
  return signatureOf(signing, 'AWS4-HMAC-SHA256-TRAILER', previous, sha256(lines))
}

/** The bytes of a body. */
export function encodedBody({ chunks, trailers, trailerSignature, lineEnd }: ChunkedBodyParts): Buffer {
  const pieces: (Buffer | string)[] = []
  for (const { size, bytes, signature } of chunks) {
    pieces.push(signature === undefined ? `${size}\r\n` : `${size};chunk-signature=${signature}\r\n`)
    if (Number.parseInt(size, 16) > 0 || bytes.length > 0) pieces.push(bytes, '\r\n')
  }
  for (const [name, value] of trailers) pieces.push(`${name}:${value}${lineEnd}`)
  if (trailerSignature !== undefined) pieces.push(`x-amz-trailer-signature:${trailerSignature}\r\n`)
  pieces.push('\r\n')
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece as Buffer)))
}
