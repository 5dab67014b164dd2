/** Checksums of multipart uploads over the wire: what a client sends, and what S3 makes of it. */
import type { ChecksumAlgorithm } from '../../engine/events/values.ts'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { startChecksum } from '../../planes/s3/request/checksums.ts'
import { partTarget, type SentPart } from './multipart.ts'
import type { TestServer } from './test-clients.ts'

export const ENABLED: HeaderLine = ['x-amz-checksum-mode', 'ENABLED']

/** Every algorithm with each of its types (S3 user guide, Checking object integrity). */
export const CHECKSUM_KINDS = [
  ['crc32', 'COMPOSITE'],
  ['crc32', 'FULL_OBJECT'],
  ['crc32c', 'COMPOSITE'],
  ['crc32c', 'FULL_OBJECT'],
  ['crc64nvme', 'FULL_OBJECT'],
  ['sha1', 'COMPOSITE'],
  ['sha256', 'COMPOSITE'],
] as const

/** Of bytes that do not change; specs ask for the sums of a few parts again and again. */
const known = new WeakMap<Uint8Array, Map<ChecksumAlgorithm, Buffer>>()

function sumOf(algorithm: ChecksumAlgorithm, bytes: Uint8Array): Buffer {
  const sums = known.get(bytes) ?? new Map<ChecksumAlgorithm, Buffer>()
  known.set(bytes, sums)
  const sum = sums.get(algorithm) ?? sumOfAll(algorithm, [bytes])
  sums.set(algorithm, sum)
  return sum
}

function sumOfAll(algorithm: ChecksumAlgorithm, pieces: readonly Uint8Array[]): Buffer {
  const running = startChecksum(algorithm)
  for (const piece of pieces) running.update(piece)
  return running.digest()
}

export function base64Sum(algorithm: ChecksumAlgorithm, bytes: Uint8Array): string {
  return sumOf(algorithm, bytes).toString('base64')
}

/** The checksum of an object of these parts, as S3 writes it. */
export function wholeSum(algorithm: ChecksumAlgorithm, type: string, parts: readonly Buffer[]): string {
  if (type === 'FULL_OBJECT') return sumOfAll(algorithm, parts).toString('base64')
  const sums = Buffer.concat(parts.map((part) => sumOf(algorithm, part)))
  return `${base64Sum(algorithm, sums)}-${parts.length}`
}

/** Headers of CreateMultipartUpload. */
export function asking(algorithm: ChecksumAlgorithm, type?: string): HeaderLine[] {
  const named = ['x-amz-checksum-algorithm', algorithm.toUpperCase()] as const
  return type === undefined ? [named] : [named, ['x-amz-checksum-type', type]]
}

export interface SummedPart extends SentPart {
  /** `ChecksumCRC32` and so on, with its text. */
  readonly sum: readonly [element: string, text: string] | undefined
}

/** Sends a part with its checksum; it must be accepted. */
export async function sendSummed(
  server: TestServer,
  [target, upload]: readonly [string, string],
  number: number,
  body: Buffer,
  algorithm: ChecksumAlgorithm,
): Promise<SummedPart> {
  const text = base64Sum(algorithm, body)
  const headers: HeaderLine[] = [[`x-amz-checksum-${algorithm}`, text]]
  const answer = await server.raw('PUT', partTarget(target, upload, number), { body, headers })
  if (answer.status !== 200) throw new Error(`part ${number} of ${target}: ${answer.status} ${answer.text}`)
  return { number, etag: String(answer.headers.etag), sum: [`Checksum${algorithm.toUpperCase()}`, text] }
}

/** The document of a completion with checksums. */
export function summedCompletion(parts: readonly SummedPart[]): string {
  const listed = parts.map(({ number, etag, sum }) => {
    const checksum = sum === undefined ? '' : `<${sum[0]}>${sum[1]}</${sum[0]}>`
    return `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag>${checksum}</Part>`
  })
  return `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`
}
