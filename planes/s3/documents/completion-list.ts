/**
 * The body of CompleteMultipartUpload: up to 10,000 parts in 4 MiB, read with the scanner, since one request must not
 * hold up the others for as long as the parser would take.
 */

import { invalidArgument, malformedXml, S3Error } from '../errors.ts'
import { PART_NUMBER_MAXIMUM } from '../request/part-number.ts'
import { documentElement } from '../text/xml-reader.ts'
import { XmlScanner } from '../text/xml-scanner.ts'

const MD5_BYTES = 16
/** Checked before they are decoded: the platform takes a digit for what only looks like one in its lower byte. */
const MD5_DIGITS = /^[0-9a-fA-F]{32}$/

/** The listed parts, in the form that the command of the engine takes. */
export interface CompleteMultipartUpload {
  /** Part numbers, strictly ascending, 1 to 10000, at least one. */
  readonly parts: Uint16Array
  /** The MD5 that each of them must have, 16 bytes each, in the same order. */
  readonly md5s: Buffer
}

/** A part whose ETag is not an MD5, and so not the ETag of any part. */
interface ForeignPart {
  readonly number: number
  readonly etag: string
}

/**
 * Reads the parts. Of a part only PartNumber and ETag count; S3 allows checksums beside them, and any further
 * element is passed over. The checks come in the order of S3: the document, the numbers, their order, the ETags.
 * @throws S3Error MalformedXML (also: empty body, no part, more than 10,000, PartNumber or
 *   ETag missing or there twice, PartNumber not a whole number); InvalidArgument (PartNumber outside 1 to 10000, as S3
 *   has it for numbers under 1); InvalidPartOrder (numbers not strictly ascending); InvalidPart (an ETag that is not 32
 *   hexadecimal digits: it cannot be that of a part)
 */
export function parseCompleteMultipartUpload(body: Buffer): CompleteMultipartUpload {
  const scanner = new XmlScanner(documentElement(body))
  const numbers = new Uint16Array(PART_NUMBER_MAXIMUM)
  const md5s = Buffer.alloc(PART_NUMBER_MAXIMUM * MD5_BYTES)
  let count = 0
  let ascending = true
  let foreign: ForeignPart | undefined
  scanner.beginRoot('CompleteMultipartUpload')
  for (let name = scanner.next(); name !== undefined; name = scanner.next()) {
    if (name !== 'Part') throw malformedXml(`${name} is not expected.`)
    if (count === PART_NUMBER_MAXIMUM) throw malformedXml(`There are more than ${PART_NUMBER_MAXIMUM} parts.`)
    const part = readPart(scanner)
    if (count > 0 && part.number <= (numbers[count - 1] ?? 0)) ascending = false
    if (!writeMd5(md5s, count, part.etag)) foreign ??= part
    numbers[count] = part.number
    count += 1
  }
  scanner.finish()
  if (count === 0) throw malformedXml('There must be at least one part.')
  if (!ascending) throw new S3Error('InvalidPartOrder')
  if (foreign !== undefined) throw invalidPart(foreign)
  return { parts: numbers.slice(0, count), md5s: md5s.subarray(0, count * MD5_BYTES) }
}

function readPart(scanner: XmlScanner): { readonly number: number; readonly etag: string } {
  let number: string | undefined
  let etag: string | undefined
  for (let name = scanner.next(); name !== undefined; name = scanner.next()) {
    if (name === 'PartNumber' && number === undefined) number = scanner.text()
    else if (name === 'ETag' && etag === undefined) etag = scanner.text()
    else if (name === 'PartNumber' || name === 'ETag') throw malformedXml(`${name} occurs more than once.`)
    else scanner.skip()
  }
  if (number === undefined || etag === undefined) throw malformedXml('A part needs PartNumber and ETag.')
  return { number: partNumber(number), etag }
}

function partNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw malformedXml('PartNumber must be a whole number.')
  const number = Number(text)
  if (number >= 1 && number <= PART_NUMBER_MAXIMUM) return number
  const message = number < 1 ? 'PartNumber must be >= 1' : `PartNumber must be <= ${PART_NUMBER_MAXIMUM}`
  throw invalidArgument('PartNumber', text, message)
}

/** Writes the MD5 of an ETag, quoted or bare. False when the ETag is not an MD5. */
function writeMd5(target: Buffer, index: number, etag: string): boolean {
  const quoted = etag.length > 2 && etag.startsWith('"') && etag.endsWith('"')
  const digits = quoted ? etag.slice(1, -1) : etag
  if (!MD5_DIGITS.test(digits)) return false
  target.write(digits, index * MD5_BYTES, 'hex')
  return true
}

function invalidPart({ number, etag }: ForeignPart): S3Error {
  const details = [
    ['PartNumber', String(number)],
    ['ETag', etag],
  ] as const
  return new S3Error('InvalidPart', { details })
}
