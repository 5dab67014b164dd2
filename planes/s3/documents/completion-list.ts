/** The body of CompleteMultipartUpload: up to 10,000 parts in 4 MiB. A thread may hand over the result, so it is a few arrays. */

import { CHECKSUM_ALGORITHMS, CHECKSUM_BYTES, type UploadChecksum } from '../../../engine/events/values.ts'
import { invalidArgument, malformedXml, S3Error } from '../errors/s3-errors.ts'
import { algorithmName, parseBase64 } from '../request/checksums.ts'
import { PART_NUMBER_MAXIMUM } from '../request/part-number.ts'
import { expectBlank, expectListed, readXmlList, wordOf, type XmlElement } from '../text/xml-reader.ts'

const MD5_BYTES = 16
/** Checked before decoding: Node accepts characters whose lower byte is a hexadecimal digit. */
const MD5_DIGITS = /^[0-9a-fA-F]{32}$/

const CHECKSUM_ELEMENTS: ReadonlySet<string> = new Set(
  CHECKSUM_ALGORITHMS.map((name) => `Checksum${algorithmName(name)}`),
)

/** The listed parts in the form of the engine's command. */
export interface CompleteMultipartUpload {
  /** Part numbers, strictly ascending, 1 to 10000, at least one. */
  readonly parts: Uint16Array
  /** Expected MD5 of each part, 16 bytes each, in the same order. */
  readonly md5s: Uint8Array
  /** Checksums in the same order, where the upload asked for them; `given` is 1 for each part that lists one. */
  readonly checksums: { readonly values: Uint8Array; readonly given: Uint8Array } | undefined
}

/** A part of the list as read. */
interface ReadPart extends ForeignPart {
  readonly checksum: string | undefined
  /** The element of a checksum of another algorithm than the upload asked for. */
  readonly otherChecksum: string | undefined
}

/** A part whose ETag is not an MD5, and so not the ETag of any part. */
interface ForeignPart {
  readonly number: number
  readonly etag: string
}

/**
 * Parses the list of parts: PartNumber, ETag and, where the upload asked for it, the checksum of each. Other elements
 * are ignored. Checks in S3's order: the document, the numbers, their order, the ETags; then the checksums.
 * @throws S3Error MalformedXML (also: empty body, no part, more than 10,000, PartNumber or
 *   ETag missing or there twice, PartNumber not a whole number); InvalidArgument (PartNumber outside 1 to 10000, as S3
 *   has it for numbers under 1); InvalidPartOrder (numbers not strictly ascending); InvalidPart (an ETag that is not 32
 *   hexadecimal digits, so no part has it); InvalidRequest (a checksum that is malformed, of another algorithm than the
 *   upload asked for, or missing where the upload has a composite checksum)
 */
export function parseCompleteMultipartUpload(body: Buffer, asked?: UploadChecksum): CompleteMultipartUpload {
  const sums = asked && new ListedChecksums(asked)
  const root = readXmlList(body, 'CompleteMultipartUpload')
  expectListed(root, ['Part'])
  const listed = root.children.get('Part') ?? []
  if (listed.length > PART_NUMBER_MAXIMUM) throw malformedXml(`There are more than ${PART_NUMBER_MAXIMUM} parts.`)
  const numbers = new Uint16Array(PART_NUMBER_MAXIMUM)
  const md5s = Buffer.alloc(PART_NUMBER_MAXIMUM * MD5_BYTES)
  const count = listed.length
  let ascending = true
  let foreign: ForeignPart | undefined
  for (const [index, element] of listed.entries()) {
    const part = readPart(element, sums?.element)
    if (index > 0 && part.number <= (numbers[index - 1] ?? 0)) ascending = false
    if (!writeMd5(md5s, index, part.etag)) foreign ??= part
    numbers[index] = part.number
    sums?.add(index, part)
  }
  if (count === 0) throw malformedXml('There must be at least one part.')
  if (!ascending) throw new S3Error('InvalidPartOrder')
  if (foreign !== undefined) throw invalidPart(foreign)
  sums?.requireSound()
  return { parts: numbers.slice(0, count), md5s: md5s.subarray(0, count * MD5_BYTES), checksums: sums?.take(count) }
}

/** The checksums of listed parts, by the algorithm that their upload asked for. */
class ListedChecksums {
  readonly element: string
  readonly #asked: UploadChecksum
  readonly #width: number
  readonly #values: Buffer
  readonly #given = new Uint8Array(PART_NUMBER_MAXIMUM)
  #fault: string | undefined

  constructor(asked: UploadChecksum) {
    this.element = `Checksum${algorithmName(asked.algorithm)}`
    this.#asked = asked
    this.#width = CHECKSUM_BYTES[asked.algorithm]
    this.#values = Buffer.alloc(PART_NUMBER_MAXIMUM * this.#width)
  }

  add(index: number, part: ReadPart): void {
    const value = part.checksum === undefined ? undefined : parseBase64(part.checksum, this.#width)
    this.#fault ??= this.#faultOf(part, value)
    if (value === undefined) return
    value.copy(this.#values, index * this.#width)
    this.#given[index] = 1
  }

  #faultOf({ number, checksum, otherChecksum }: ReadPart, value: Buffer | undefined): string | undefined {
    if (otherChecksum !== undefined)
      return `Part ${number} is listed with ${otherChecksum}, and the upload asked for ${this.element}.`
    if (checksum !== undefined) return value === undefined ? `Value for ${this.element} is invalid.` : undefined
    return this.#asked.composite ? `Part ${number} is listed without the ${this.element} that it needs.` : undefined
  }

  /** @throws S3Error InvalidRequest for the first part with an invalid checksum */
  requireSound(): void {
    if (this.#fault !== undefined) throw new S3Error('InvalidRequest', { message: this.#fault })
  }

  take(count: number): NonNullable<CompleteMultipartUpload['checksums']> {
    return { values: this.#values.subarray(0, count * this.#width), given: this.#given.slice(0, count) }
  }
}

function readPart(part: XmlElement, wanted: string | undefined): ReadPart {
  const number = once(part, 'PartNumber')
  const etag = once(part, 'ETag')
  if (number === undefined || etag === undefined) throw malformedXml('A part needs PartNumber and ETag.')
  const checksum = wanted === undefined ? undefined : once(part, wanted)
  const isOther = (name: string) => name !== wanted && CHECKSUM_ELEMENTS.has(name)
  const otherChecksum = wanted === undefined ? undefined : [...part.children.keys()].find(isOther)
  expectBlank(part)
  return { number: partNumber(number), etag, checksum, otherChecksum }
}

/** The text of a member that may occur once; undefined when absent. */
function once(part: XmlElement, name: string): string | undefined {
  const [first, second] = part.children.get(name) ?? []
  if (second !== undefined) throw malformedXml(`${name} occurs more than once.`)
  return first && wordOf(first)
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
