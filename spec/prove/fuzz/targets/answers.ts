/** What strangers wrote, on its way out: it stays what it is and becomes nothing else on the way. */
import { microsecondsOf, sequenceOf } from '../../../../engine/brands.ts'
import { visibleText } from '../../../../cli/terminal/visible-text.ts'
import { AUDIT_COLUMNS, EXPORT_FORMS } from '../../../../planes/management/audit/audit-forms.ts'
import { errorDocument } from '../../../../planes/s3/documents/error-response.ts'
import { S3Error } from '../../../../planes/s3/errors/s3-errors.ts'
import { listObjectsV2Result } from '../../../../planes/s3/documents/xml-documents.ts'
import { listObjectsV2Parameters } from '../../../../planes/s3/request/list-parameters.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { wordsOf } from '../edge-values.ts'
import { naiveDecode } from '../naive-uri.ts'
import { type NaiveElement, naiveXml } from '../naive-xml.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const NAME_BYTES = 4096
const NO_QUERY = parseQuery('')

/** Characters that XML 1.0 has no form for (production 2). */
function isForbidden(character: string): boolean {
  const code = character.codePointAt(0) as number
  return (code < 0x20 && code !== 9 && code !== 10 && code !== 13) || code === 0xfffe || code === 0xffff
}

function textAt(document: string, path: readonly string[]): string | undefined {
  let element: NaiveElement | undefined = naiveXml(Buffer.from(document))
  mustHold(element !== undefined, 'the document is not well-formed')
  for (const name of path) element = element?.children.find((child) => child.name === name)
  return element?.text
}

function listing(key: string, encodingType: 'url' | undefined): string {
  const contents = [{ key, lastModifiedMicroseconds: microsecondsOf(1), etag: key, size: 1, checksum: undefined }]
  return listObjectsV2Result({
    ...listObjectsV2Parameters(NO_QUERY),
    bucket: 'b',
    prefix: key,
    delimiter: key,
    contents,
    commonPrefixes: [key],
    encodingType,
    showsChecksums: false,
    nextContinuationToken: undefined,
    owner: { id: '', displayName: '' },
  })
}

/** Refusals say what was asked for in bounded space (decision 0177). */
const ERROR_BYTES_MAXIMUM = 4096
/** `&apos;` */
const ESCAPED_BYTES_MAXIMUM = 6

/** A text that has room is shown whole, of a longer one the start and `...`. */
function mustBeShown(found: string | undefined, text: string, bytesMaximum: number): void {
  const bytes = Buffer.byteLength(text)
  if (found === text) return mustHold(bytes <= bytesMaximum, 'a long text in an error')
  mustHold(found?.endsWith('...') === true && text.startsWith(found.slice(0, -3)), 'the start of a text in an error')
  mustHold(bytes * ESCAPED_BYTES_MAXIMUM > bytesMaximum, 'a short text that an error cuts')
}

function judgeXml(input: Buffer): Verdict {
  const text = input.toString()
  const shown = [...text].map((character) => (isForbidden(character) ? '\ufffd' : character)).join('')
  const error = new S3Error('NoSuchKey', { message: text, details: [['Key', text]] })
  const document = errorDocument(error, { requestId: 'r', resource: text })
  mustHold(Buffer.byteLength(document) < ERROR_BYTES_MAXIMUM, 'a long error')
  mustBeShown(textAt(document, ['Key']), shown, 1024)
  mustBeShown(textAt(document, ['Resource']), shown, 512)
  if ([...text].some(isForbidden)) return refused()
  mustBeSame(textAt(listing(text, undefined), ['Contents', 'Key']), text, 'the key in a listing')
  mustBeSame(textAt(listing(text, undefined), ['CommonPrefixes', 'Prefix']), text, 'the common prefix')
  mustBeSame(textAt(listing(text, undefined), ['Contents', 'ETag']), `"${text}"`, 'the ETag')
  mustBeSame(naiveDecode(textAt(listing(text, 'url'), ['Contents', 'Key']) ?? ''), text, 'the key in percent-encoding')
  return accepted()
}

/** The cells of one row (RFC 4180), character by character; undefined where it is more or less than one. */
function naiveCells(row: string): string[] | undefined {
  const cells: string[] = []
  for (let at = 0; ; at += 1) {
    let cell = ''
    if (row[at] === '"') {
      for (at += 1; row[at] !== '"' || row[at + 1] === '"'; at += row[at] === '"' ? 2 : 1) {
        if (at >= row.length) return undefined
        cell += row[at]
      }
      at += 1
    } else while (at < row.length && row[at] !== ',' && row[at] !== '\r' && row[at] !== '\n') cell += row[at++]
    cells.push(cell)
    if (row[at] !== ',') return row.slice(at) === '\r\n' ? cells : undefined
  }
}

/** An audit record whose texts are the lines of the input. */
function judgeExport(input: Buffer): Verdict {
  const text = input.toString()
  const [principal = '', operation = '', ...rest] = text.split('\u0001')
  const resource = rest.join('')
  const entry = { result: 'success', principal, operation, resource, metadata: [text, operation, 'n', 5] } as const
  const record = {
    sequence: sequenceOf(7),
    orderMicroseconds: microsecondsOf(1),
    timeMicroseconds: microsecondsOf(1),
    entry: { ...entry, credentialId: undefined, sourceAddress: text, requestId: undefined, intent: undefined },
  }
  const cells = naiveCells(EXPORT_FORMS.csv.record(record))
  mustBeSame(cells?.length, AUDIT_COLUMNS.length, 'columns of the row')
  const cellOf = (name: (typeof AUDIT_COLUMNS)[number]): string | undefined => cells?.[AUDIT_COLUMNS.indexOf(name)]
  mustBeSame(
    ['principal', 'operation', 'resource'].map((name) => cellOf(name as 'principal')),
    [principal, operation, resource],
    'the texts',
  )
  const json = JSON.parse(EXPORT_FORMS.json.record(record)) as Readonly<Record<string, unknown>>
  mustBeSame([json['principal'], json['source_ip'], json['resource']], [principal, text, resource], 'the texts as JSON')
  mustBeSame(JSON.parse(cellOf('metadata') ?? ''), json['metadata'], 'the metadata in both forms')
  return /["\r\n,]/.test(text) ? accepted() : refused('plain')
}

function judgeVisible(input: Buffer): Verdict {
  const text = input.toString()
  const shown = visibleText(text)
  for (const character of shown) {
    const code = character.codePointAt(0) as number
    const isObeyed = code < 0x20 || (code > 0x7e && code < 0xa0) || (code >= 0x200b && code <= 0x200f)
    const turns = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0xfeff
    mustHold(!isObeyed && !turns, `U+${code.toString(16)} is shown as it is`)
  }
  return shown === text ? refused('as it is') : accepted()
}

const MARKS = '\u001b[2J \u0000 \u0001 \r \n \u0085 \u202e \u2066 \u200b \ufffe \ufeff " ""'.split(' ')
const MARKUP = wordsOf("& < > &amp; &#0; ]]> <!-- % %41 + , ; ' \\ =cmd| 😀 ü")

export const ANSWER_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'xml-answers',
    seeds: ['a/b', 'a<b>&"\'\r\n\t]]>', '\u0000\u001f\ufffe'],
    words: [...MARKS, ...MARKUP],
    bytesMaximum: NAME_BYTES,
    judge: judgeXml,
  },
  {
    name: 'audit-export',
    seeds: ['a"b,c\r\n', 'p\u0001"\u0001,', 'plain'],
    words: [...MARKS, ...MARKUP],
    bytesMaximum: NAME_BYTES,
    judge: judgeExport,
  },
  {
    name: 'visible-text',
    seeds: ['a\u001b[2Jb', '\u202eabc', 'plain'],
    words: [...MARKS, ...MARKUP],
    bytesMaximum: NAME_BYTES,
    judge: judgeVisible,
  },
]
