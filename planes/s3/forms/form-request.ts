/**
 * A form as a PutObject whose headers are the fields of the form (S3 developer guide, "HTML form
 * fields"). Headers of the request itself, which have no signature, say nothing about the object.
 */
import { tagQuery } from '../../../engine/domain/tags.ts'
import type { HeaderLine, HttpRequest, RequestBody } from '../../http/exchange.ts'
import { parseTagging } from '../documents/tagging.ts'
import { invalidArgument } from '../errors/s3-errors.ts'
import { CHECKSUM_ALGORITHM } from '../request/checksums.ts'
import { STORED_HEADERS } from '../request/metadata.ts'
import { TAGGING } from '../request/tags.ts'
import type { FormFields } from './form-reader.ts'

/** Fields of the signature, which are no headers of the object. */
const OF_THE_SIGNATURE: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-signature',
])
/** Headers of the request that count: its Host, and conditions, which only refuse. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['host', 'if-match', 'if-none-match', 'if-unmodified-since'])
/** Fields of another operation: the bytes of the form are what is stored. */
const OF_COPIES = /^x-amz-(?:copy|rename)-source/

const VARIABLE = '${filename}'

/**
 * The fields with `${filename}` replaced, as all of them may have it. Without a name of the file it stays, as at S3.
 */
export function expandedFields(fields: FormFields, fileName: string | undefined): FormFields {
  if (fileName === undefined) return fields
  return new Map([...fields].map(([name, value]) => [name, value.replaceAll(VARIABLE, () => fileName)]))
}

/** The PutObject that a form asks for. */
export class FormRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query = ''
  readonly headers: readonly HeaderLine[]
  readonly remoteAddress: string
  readonly secure: boolean
  /** Of the file, which is known at its end. */
  readonly contentLength = undefined
  readonly body: RequestBody
  readonly #http: HttpRequest

  /**
   * @param body the file
   * @throws S3Error for a field that no header says: MalformedXML and others of `tagging`; InvalidArgument, InvalidRequest
   */
  constructor(http: HttpRequest, fields: FormFields, body: RequestBody) {
    this.method = http.method
    this.path = http.path
    this.remoteAddress = http.remoteAddress
    this.secure = http.secure
    this.headers = [...http.headers.filter(([name]) => OF_THE_REQUEST.has(name)), ...headersOf(fields)]
    this.body = body
    this.#http = http
  }

  header(name: string): string | undefined {
    const values = this.headers.filter((line) => line[0] === name).map((line) => line[1])
    return values.length === 0 ? undefined : values.join(',')
  }

  onAborted(listener: () => void): void {
    this.#http.onAborted(listener)
  }

  cut(): void {
    this.#http.cut()
  }
}

function headersOf(fields: FormFields): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (const [name, value] of fields) {
    if (OF_COPIES.test(name)) throw invalidArgument(name, value, `A form does not take the field ${name}.`)
    if (name === 'acl') lines.push(['x-amz-acl', value])
    else if (name === 'tagging') lines.push([TAGGING, tagQuery(parseTagging(Buffer.from(value), 'object'))])
    else if (isHeader(name)) lines.push([name, value])
  }
  if (fields.has('tagging') && fields.has(TAGGING)) {
    throw invalidArgument(TAGGING, '', `A form has either tagging or ${TAGGING}.`)
  }
  // In a form it names the checksum field, which must be there.
  const algorithm = fields.get(CHECKSUM_ALGORITHM)
  return algorithm === undefined ? lines : [...lines, ['x-amz-sdk-checksum-algorithm', algorithm]]
}

function isHeader(name: string): boolean {
  if (name.startsWith('x-amz-')) return !OF_THE_SIGNATURE.has(name)
  return STORED_HEADERS.has(name) || name === 'content-md5'
}
