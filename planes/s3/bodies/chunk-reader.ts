/**
 * Reads a body that is aws-chunked, piece by piece as it comes off the socket:
 *
 *     HEX-SIZE[;chunk-signature=SIGNATURE] CR LF  bytes CR LF     as many as there are
 *     0[;chunk-signature=SIGNATURE] CR LF                         the final chunk
 *     [NAME:VALUE CR LF [x-amz-trailer-signature:SIGNATURE CR LF]]  where a trailer is declared
 *     CR LF
 *
 * Bytes are passed on as they arrive, before the signature at the end of their chunk is checked, so the caller must not
 * publish any before `end` has returned. Between pieces at most a head or a trailer is kept.
 */
import { createHash, type Hash, hash } from 'node:crypto'
import { S3Error } from '../errors/s3-errors.ts'
import type { ChunkSignatures } from '../signing/chunk-signatures.ts'
import { TRAILER_BYTES_MAXIMUM, trailingValue } from './chunk-trailer.ts'

/** Of every chunk except the last with bytes (S3 API reference, "Transferring Payload in Multiple Chunks"). */
const CHUNK_BYTES_MINIMUM = 8192
const SIZE_DIGITS_MAXIMUM = 16
/** Of a head: size, `;chunk-signature=`, a signature, CR LF. */
const HEAD_BYTES_MAXIMUM = SIZE_DIGITS_MAXIMUM + 17 + 64 + 2

const SIGNED_HEAD = /^([0-9a-fA-F]{1,16});chunk-signature=([0-9a-f]{64})\r\n$/
const UNSIGNED_HEAD = /^([0-9a-fA-F]{1,16})\r\n$/

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The declarations about chunks in the head of a request. */
interface ChunkRules {
  /** Bytes of all chunks together. */
  readonly decodedLength: number
  /** Undefined where chunks have no signatures. */
  readonly signatures: ChunkSignatures | undefined
  /** The lower-case name of the declared trailer; undefined if there must be no trailer. */
  readonly trailer: string | undefined
}

/** What comes next. */
type Expected = 'head' | 'bytes' | 'line end' | 'trailer'

export class ChunkReader {
  readonly #rules: ChunkRules
  #expected: Expected = 'head'
  /** The part of a head or trailer received so far. */
  #held = ''
  /** Bytes of all chunks so far. */
  #taken = 0
  /** Chunks so far, for messages. */
  #chunks = 0
  #size = 0
  /** Remaining bytes of this chunk, then of the line end after it. */
  #left = 0
  #signature = ''
  /** Undefined for a chunk within one piece. */
  #hash: Hash | undefined

  constructor(rules: ChunkRules) {
    this.#rules = rules
  }

  /**
   * Takes the next piece of the body and passes on its part of the payload, in order.
   * @throws S3Error IncompleteBody, InvalidChunkSizeError, MalformedTrailerError, SignatureDoesNotMatch
   */
  take(piece: Buffer, handOn: (bytes: Buffer) => void): void {
    let at = 0
    while (at < piece.length) {
      if (this.#expected === 'bytes') at = this.#takeBytes(piece, at, handOn)
      else if (this.#expected === 'head') at = this.#takeHead(piece, at)
      else if (this.#expected === 'line end') at = this.#takeLineEnd(piece, at)
      else at = this.#takeTrailer(piece, at)
    }
  }

  /**
   * Called at the end of the body; checks that it is complete and returns the value of the declared trailer.
   * @throws as `take`
   */
  end(): string | undefined {
    if (this.#expected !== 'trailer') throw incomplete('It ends before its final chunk.')
    const { trailer, signatures } = this.#rules
    if (trailer !== undefined) return trailingValue(this.#held, trailer, signatures)
    if (this.#held !== '\r\n') throw incomplete('After its final chunk an empty line must come, and nothing else.')
    return undefined
  }

  #takeHead(piece: Buffer, at: number): number {
    const room = HEAD_BYTES_MAXIMUM - this.#held.length
    const window = piece.subarray(at, at + room)
    const end = window.indexOf(LINE_FEED)
    if (end === -1) {
      if (window.length === room) throw incomplete('The head of a chunk is too long.')
      this.#held += window.toString('latin1')
      return at + window.length
    }
    const head = this.#held + window.toString('latin1', 0, end + 1)
    this.#held = ''
    this.#begin(head)
    return at + end + 1
  }

  #begin(head: string): void {
    const { signatures, decodedLength } = this.#rules
    const [, digits, signature = ''] = (signatures === undefined ? UNSIGNED_HEAD : SIGNED_HEAD).exec(head) ?? []
    if (digits === undefined) throw incomplete(`The head of chunk ${this.#chunks + 1} is malformed.`)
    const size = Number.parseInt(digits, 16)
    if (size > 0 && this.#chunks > 0 && this.#size < CHUNK_BYTES_MINIMUM) throw tooSmall(this.#chunks, this.#size)
    if (size > decodedLength - this.#taken) throw incomplete('It is longer than x-amz-decoded-content-length.')
    this.#chunks += 1
    this.#size = size
    this.#left = size
    this.#signature = signature
    this.#expected = 'bytes'
    if (size > 0) return
    if (this.#taken < decodedLength) throw incomplete('It is shorter than x-amz-decoded-content-length.')
    this.#verify('')
    this.#expected = 'trailer'
  }

  #takeBytes(piece: Buffer, at: number, handOn: (bytes: Buffer) => void): number {
    const end = Math.min(at + this.#left, piece.length)
    const bytes = at === 0 && end === piece.length ? piece : piece.subarray(at, end)
    this.#left -= bytes.length
    this.#taken += bytes.length
    const isLast = this.#left === 0
    if (this.#rules.signatures !== undefined) {
      if (isLast && this.#hash === undefined) this.#verify(bytes)
      else {
        this.#hash ??= createHash('sha256')
        this.#hash.update(bytes)
        if (isLast) this.#verify(this.#hash)
      }
    }
    handOn(bytes)
    if (isLast) {
      this.#hash = undefined
      this.#left = 2
      this.#expected = 'line end'
    }
    return end
  }

  /** Verifies the signature of a chunk. @param bytes the chunk, or a hash of it */
  #verify(bytes: Buffer | Hash | ''): void {
    const { signatures } = this.#rules
    if (signatures === undefined) return
    const digest =
      typeof bytes === 'string' || Buffer.isBuffer(bytes) ? hash('sha256', bytes, 'hex') : bytes.digest('hex')
    if (signatures.isOfChunk(digest, this.#signature)) return
    throw new S3Error('SignatureDoesNotMatch', { message: `The signature of chunk ${this.#chunks} is not right.` })
  }

  #takeLineEnd(piece: Buffer, at: number): number {
    const wanted = this.#left === 2 ? CARRIAGE_RETURN : LINE_FEED
    if (piece[at] !== wanted) throw incomplete(`Chunk ${this.#chunks} is not followed by CR LF.`)
    this.#left -= 1
    if (this.#left === 0) this.#expected = 'head'
    return at + 1
  }

  #takeTrailer(piece: Buffer, at: number): number {
    if (this.#held.length + piece.length - at > TRAILER_BYTES_MAXIMUM) {
      throw incomplete(`More than ${TRAILER_BYTES_MAXIMUM} bytes come after its final chunk.`)
    }
    this.#held += piece.toString('latin1', at)
    return piece.length
  }
}

/** S3's error for any fault in the framing of a body. */
function incomplete(why: string): S3Error {
  return new S3Error('IncompleteBody', { message: `The chunks of the body are not complete. ${why}` })
}

function tooSmall(chunk: number, size: number): S3Error {
  const details = [
    ['Chunk', String(chunk)],
    ['BadChunkSize', String(size)],
  ] as const
  return new S3Error('InvalidChunkSizeError', { details })
}
