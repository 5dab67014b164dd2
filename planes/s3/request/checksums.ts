/**
 * Checksums that a client sends with a body: Content-MD5 and one of the x-amz-checksum-* headers. Current SDKs send one
 * with every body by default; a client would take an ignored checksum for verified.
 */

import { createHash } from 'node:crypto'
import { crc32, crc32c } from '../../../engine/hashing/crc32.ts'
import {
  CHECKSUM_BYTES,
  type ChecksumAlgorithm,
  type ObjectChecksum,
  type UploadChecksum,
} from '../../../engine/events/values.ts'
import type { HeaderLine, HttpRequest } from '../../http/exchange.ts'
import { Crc64Nvme } from '../text/crc64nvme.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { effectiveHeader } from './effective-headers.ts'
import type { Target } from './target.ts'

/** A checksum being computed. */
export interface RunningChecksum {
  update(chunk: Uint8Array): void
  /** Called once, at the end. Numbers are big-endian. */
  digest(): Buffer
}

const STARTS: Readonly<Record<ChecksumAlgorithm, () => RunningChecksum>> = {
  crc32: () => new Crc32(crc32),
  crc32c: () => new Crc32(crc32c),
  crc64nvme: () => new Crc64Nvme(),
  sha1: () => createHash('sha1'),
  sha256: () => createHash('sha256'),
}

class Crc32 implements RunningChecksum {
  readonly #continue: (chunk: Uint8Array, previous: number) => number
  #value = 0

  constructor(continueFrom: (chunk: Uint8Array, previous: number) => number) {
    this.#continue = continueFrom
  }

  update(chunk: Uint8Array): void {
    this.#value = this.#continue(chunk, this.#value)
  }

  digest(): Buffer {
    const bytes = Buffer.allocUnsafe(4)
    bytes.writeUInt32BE(this.#value, 0)
    return bytes
  }
}

/** Starts a checksum of the given kind. */
export function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  return STARTS[algorithm]()
}

/** A checksum that a request declares for its body. */
export interface DeclaredChecksum {
  readonly algorithm: ChecksumAlgorithm
  /** Lower-case header name, to be echoed with `text` in the answer. */
  readonly header: string
  /** The value as sent: canonical base64. */
  readonly text: string
  readonly expected: Buffer
}

const MD5_BYTES = 16

/**
 * The 16 bytes of the Content-MD5 header; undefined without the header.
 * @throws S3Error InvalidDigest, also when the header is empty
 */
export function contentMd5(request: HttpRequest): Buffer | undefined {
  const text = request.header('content-md5')
  if (text === undefined) return undefined
  const bytes = parseBase64(text, MD5_BYTES)
  if (bytes === undefined) throw new S3Error('InvalidDigest')
  return bytes
}

const CHECKSUM_PREFIX = 'x-amz-checksum-'

const ALGORITHM = 'algorithm'

/** The header that asks for a checksum by the name of its algorithm. */
export const CHECKSUM_ALGORITHM = `${CHECKSUM_PREFIX}${ALGORITHM}`

/** Suffixes of x-amz-checksum-* headers that carry no checksum; they are accepted. */
const REQUESTS: ReadonlySet<string> = new Set(['mode', ALGORITHM, 'type'])

/** Algorithms of S3 that this server cannot compute. */
const OTHERS: ReadonlySet<string> = new Set(['md5', 'sha512', 'xxhash3', 'xxhash64', 'xxhash128'])

/**
 * The algorithm that a value of x-amz-checksum-algorithm names, in any case.
 * @throws S3Error InvalidRequest (S3 has none of this name), NotImplemented (this server cannot compute it)
 */
export function namedAlgorithm(text: string): ChecksumAlgorithm {
  const name = text.toLowerCase()
  if (isAlgorithm(name)) return name
  if (OTHERS.has(name)) {
    const message = `${CHECKSUM_ALGORITHM}: ${text} is not supported.`
    throw new S3Error('NotImplemented', { message, details: [['Header', CHECKSUM_ALGORITHM]] })
  }
  const known = Object.keys(CHECKSUM_BYTES).join(', ').toUpperCase()
  throw new S3Error('InvalidRequest', {
    message: `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${known}]`,
  })
}

/**
 * The checksum header of a request; undefined without one. Query parameters are not read, because presigners put the
 * checksum of an empty body there.
 * @throws S3Error InvalidRequest (malformed, two at once, another algorithm announced, one announced and none there, an
 *   algorithm asked for that S3 does not have), NotImplemented (an algorithm that this server cannot compute)
 */
export function declaredChecksum(request: HttpRequest): DeclaredChecksum | undefined {
  const declared = checksumHeader(request)
  requireAnnounced(request, declared)
  return declared
}

function checksumHeader(request: HttpRequest): DeclaredChecksum | undefined {
  const line = rawChecksumHeader(request)
  return line && parseChecksum(line[0], line[1])
}

/**
 * The header line with the checksum.
 * @throws S3Error InvalidRequest (two at once), as `namedAlgorithm`
 */
export function rawChecksumHeader(request: HttpRequest): HeaderLine | undefined {
  let found: HeaderLine | undefined
  for (const line of request.headers) {
    const [header] = line
    if (!header.startsWith(CHECKSUM_PREFIX)) continue
    if (header === CHECKSUM_ALGORITHM) namedAlgorithm(line[1])
    if (REQUESTS.has(header.slice(CHECKSUM_PREFIX.length))) continue
    if (found !== undefined) {
      throw new S3Error('InvalidRequest', { message: 'Only one x-amz-checksum-* header is allowed.' })
    }
    found = line
  }
  return found
}

interface NamedChecksum {
  readonly algorithm: ChecksumAlgorithm
  readonly header: string
}

/** A checksum that is announced and not there would be taken for verified. */
function requireAnnounced(request: HttpRequest, named: NamedChecksum | undefined): void {
  const announced = request.header('x-amz-sdk-checksum-algorithm')
  if (announced === undefined || announced.toLowerCase() === named?.algorithm) return
  const message =
    named === undefined
      ? 'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.'
      : `x-amz-sdk-checksum-algorithm announces another algorithm than ${named.header}.`
  throw new S3Error('InvalidRequest', { message })
}

/** A checksum announced for after the body. */
export interface TrailingChecksum extends NamedChecksum {
  /** Undefined until it has arrived. */
  declared: DeclaredChecksum | undefined
}

/**
 * The checksum that a request announces as a trailer.
 * @param header the value of x-amz-trailer in lower case
 * @throws S3Error InvalidRequest (no checksum that this server can compute, more than one, or another in the head)
 */
export function trailingChecksum(request: HttpRequest, header: string): TrailingChecksum {
  const name = header.startsWith(CHECKSUM_PREFIX) ? header.slice(CHECKSUM_PREFIX.length) : ''
  if (!isAlgorithm(name)) {
    throw new S3Error('InvalidRequest', { message: 'x-amz-trailer must name one checksum that this server knows.' })
  }
  if (checksumHeader(request) !== undefined) {
    throw new S3Error('InvalidRequest', { message: 'A checksum is either in the head or in the trailer, not in both.' })
  }
  requireAnnounced(request, { algorithm: name, header })
  return { algorithm: name, header, declared: undefined }
}

/** @throws S3Error NotImplemented (an algorithm that this server cannot compute), InvalidRequest */
export function parseChecksum(header: string, text: string): DeclaredChecksum {
  const name = header.slice(CHECKSUM_PREFIX.length)
  if (!isAlgorithm(name)) {
    throw new S3Error('NotImplemented', { message: `${header} is not supported.`, details: [['Header', header]] })
  }
  const expected = parseBase64(text, CHECKSUM_BYTES[name])
  if (expected === undefined) {
    throw new S3Error('InvalidRequest', { message: `Value for ${header} header is invalid.` })
  }
  return { algorithm: name, header, text, expected }
}

/** Whether this server computes the algorithm. @param name in lower case */
function isAlgorithm(name: string): name is ChecksumAlgorithm {
  return Object.hasOwn(CHECKSUM_BYTES, name)
}

/** Decodes strictly: Node's decoder skips invalid characters, so the text must equal the encoding of its bytes. */
export function parseBase64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

/** The checksum as it is stored. The bytes are copied: decoded base64 lies in Buffer's pool, which they would pin. */
export function checksumOf({ algorithm, expected }: DeclaredChecksum): ObjectChecksum {
  return { algorithm, value: Uint8Array.from(expected), composite: false }
}

/**
 * The checksum of an object and its type, for a read that asks for it with `x-amz-checksum-mode: ENABLED` (S3 API
 * reference, GetObject).
 */
export function checksumHeaders(
  request: HttpRequest,
  target: Target,
  checksum: ObjectChecksum,
  etag: string,
): HeaderLine[] {
  if (effectiveHeader(request, target, 'x-amz-checksum-mode')?.toUpperCase() !== 'ENABLED') return []
  return [
    [`${CHECKSUM_PREFIX}${checksum.algorithm}`, checksumText(checksum, etag)],
    ['x-amz-checksum-type', typeName(checksum)],
  ]
}

/** S3's name of an algorithm, such as `CRC32`. */
export function algorithmName(algorithm: ChecksumAlgorithm): string {
  return algorithm.toUpperCase()
}

/** S3's name of the type: a checksum of the parts' checksums, or of all bytes. */
export function typeName({ composite }: Pick<UploadChecksum, 'composite'>): 'COMPOSITE' | 'FULL_OBJECT' {
  return composite ? 'COMPOSITE' : 'FULL_OBJECT'
}

/** A checksum as text; a composite checksum is followed by the number of parts, taken from the ETag. */
export function checksumText({ value, composite }: ObjectChecksum, etag: string): string {
  return composite ? `${base64Of(value)}${etag.slice(etag.lastIndexOf('-'))}` : base64Of(value)
}

/** Bytes in base64, without a copy of them. */
export function base64Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64')
}
