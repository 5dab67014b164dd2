import { hash } from 'node:crypto'
import { S3Error } from '../errors/s3-errors.ts'
import type { ChunkSignatures } from '../signing/chunk-signatures.ts'

/** Maximum bytes after the final chunk. The longest checksum with name and signature takes about 160. */
export const TRAILER_BYTES_MAXIMUM = 1024

/**
 * The lines of a trailer, its optional signature, and the end. Lines end in CR LF; MinIO's libraries end them in LF and
 * send an empty line after it.
 */
const TRAILER = /^((?:[^\r\n]+\r?\n)*?)(?:\r\n)?(?:x-amz-trailer-signature:([^\r\n]*)\r\n)?\r\n$/

/** A name and a value; blanks around either count as absent. */
const LINE = /^[ \t]*([^:\r\n]*?)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*$/

/**
 * The value of the declared trailer.
 * @param text everything after the head of the final chunk
 * @param declared its name in lower case
 * @param signatures of a signed body
 * @throws S3Error MalformedTrailerError (none, another, two, unsigned), SignatureDoesNotMatch
 */
export function trailingValue(text: string, declared: string, signatures: ChunkSignatures | undefined): string {
  const [, lines = '', signature] = TRAILER.exec(text) ?? malformed('It does not end as a trailer does.')
  const pairs = lines.split(/\r?\n/).slice(0, -1).map(pairOf)
  const [pair, second] = pairs
  if (pair === undefined) return malformed(`${declared}, which x-amz-trailer declares, is missing.`)
  const undeclared = pairs.find(([name]) => name !== declared)
  if (undeclared !== undefined) return malformed('It has a line that x-amz-trailer does not declare.')
  if (second !== undefined) return malformed(`${declared} occurs more than once.`)
  const [name, value] = pair
  if (signatures === undefined) {
    if (signature !== undefined) return malformed('It is signed, and the chunks are not.')
    return value
  }
  if (signature === undefined) return malformed('x-amz-trailer-signature is missing.')
  if (signatures.isOfTrailer(hash('sha256', `${name}:${value}\n`, 'hex'), signature)) return value
  throw new S3Error('SignatureDoesNotMatch', { message: 'The signature of the trailer is not right.' })
}

function pairOf(line: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = LINE.exec(line) ?? malformed('A line of it is not a name and a value.')
  return [name.toLowerCase(), value]
}

function malformed(why: string): never {
  throw new S3Error('MalformedTrailerError', { message: `The trailer of the body is malformed. ${why}` })
}
