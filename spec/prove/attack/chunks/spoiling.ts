/** What a case of the attack on bodies in chunks is, and the ways to take a request apart and put it together again. */
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../../planes/s3/request/query-parameters.ts'
import {
  type Chunk,
  type ChunkedBodyParts,
  type ChunkedRequest,
  type ChunkedRequestOptions,
  chunkedRequest,
  type ChunkForm,
  type ChunkSigning,
  encodedBody,
  hasTrailer,
  seedOf,
  signedParts,
} from '../../../support/chunked-requests.ts'

/** A request that must be refused with one of these codes, and change nothing. */
export interface SpoiledChunks {
  readonly name: string
  readonly headers: readonly HeaderLine[]
  readonly body: Buffer
  readonly codes: readonly string[]
}

/** A request that is right in all of it, and everything to make others like it. */
export class WholeChunks {
  readonly options: ChunkedRequestOptions
  readonly request: ChunkedRequest

  constructor(options: ChunkedRequestOptions) {
    this.options = options
    this.request = chunkedRequest(options)
  }

  get form(): ChunkForm {
    return this.options.form
  }

  get parts(): ChunkedBodyParts {
    return this.request.parts
  }

  get isSigned(): boolean {
    return this.signing !== undefined
  }

  get hasTrailer(): boolean {
    return hasTrailer(this.form)
  }

  /** Undefined where chunks are not signed. */
  get signing(): ChunkSigning | undefined {
    if (this.form === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return undefined
    const { secretKey, region = 'us-east-1' } = this.options
    return { secretKey, region, ...seedOf(this.request.headers) }
  }

  get pieces(): Buffer[] {
    return this.parts.chunks.map(({ bytes }) => bytes)
  }

  /** The same request at another time or of another key: everything in it is right, and none of it belongs to this one. */
  like(changes: Partial<ChunkedRequestOptions>): WholeChunks {
    return new WholeChunks({ ...this.options, ...changes })
  }

  /** With other chunks, all signatures right. */
  with(pieces: readonly Buffer[], trailers: readonly HeaderLine[] = this.parts.trailers): ChunkedBodyParts {
    const signing = this.signing ?? { secretKey: '', region: '', timestamp: '', seed: '' }
    return signedParts(this.form, pieces, trailers, signing, this.parts.lineEnd)
  }

  body(codes: readonly string[], name: string, body: Buffer | ChunkedBodyParts): SpoiledChunks {
    const bytes = Buffer.isBuffer(body) ? body : encodedBody(body)
    return { name, headers: this.request.headers, body: bytes, codes }
  }

  /** With some chunks exchanged, signatures as they are. */
  chunks(
    codes: readonly string[],
    name: string,
    change: (chunks: readonly Chunk[]) => readonly Chunk[],
  ): SpoiledChunks {
    return this.body(codes, name, { ...this.parts, chunks: change(this.parts.chunks) })
  }

  /** With other header lines, which are signed; the body follows from that signature. */
  head(codes: readonly string[], name: string, headers: readonly HeaderLine[]): SpoiledChunks {
    const { request } = this.like({ headers: [...(this.options.headers ?? []), ...headers] })
    return { name, headers: request.headers, body: encodedBody(request.parts), codes }
  }
}

export type Spoiling = (whole: WholeChunks) => readonly SpoiledChunks[]

/** The same list with one entry exchanged. */
export function replacedAt<T>(list: readonly T[], index: number, change: (entry: T) => T): T[] {
  return list.map((entry, at) => (at === index ? change(entry) : entry))
}

export function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

/** Another signature, or another sum, of the same form. */
export function otherDigit(text: string): string {
  return (text.startsWith('a') ? 'b' : 'a') + text.slice(1)
}

/** A place that a request can be sent to. */
export interface ChunkTarget {
  readonly name: string
  readonly path: string
  readonly query: readonly QueryParameter[]
}
