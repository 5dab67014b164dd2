/**
 * Reading XML that clients send: the only import of the parser, with every door shut that this service has no use for.
 * Declarations (`<!`) are refused before parsing, which rules out entities, their expansion and external files; what is
 * not well-formed is refused, since the parser alone accepts much that is broken.
 */

import { isUtf8 } from 'node:buffer'
import { XMLParser } from 'fast-xml-parser'
import { malformedXml, S3Error } from './errors.ts'
import { XmlScanner } from './xml-scanner.ts'

/** The elements inside one, by name without namespace prefix. A Map: names come from strangers. */
export interface XmlElement {
  /** The character data, blanks included; empty where there are only child elements. */
  readonly text: string
  readonly children: ReadonlyMap<string, readonly XmlElement[]>
}

const NESTING_MAXIMUM = 10
const TEXT = '#text'

const parser = new XMLParser({
  ignoreAttributes: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  // Without it the parser leaves numeric references such as `&#13;` as they are.
  htmlEntities: true,
  maxNestedTags: NESTING_MAXIMUM,
  textNodeName: TEXT,
})

export interface ReadXmlOptions {
  /** The name that the document element must have, without namespace. */
  readonly root: string
  readonly bytesMaximum: number
}

/** The beginning of a document: a declaration or none, then at once the document element. */
const PROLOGUE = /^\ufeff?(?:<\?xml[ \t\r\n][^<>]*\?>)?[ \t\r\n]*(?=<[^?!])/
/** The white space of XML, which is less than that of the platform. */
const BLANKS = ' \t\r\n'

/** References beyond the five names and the numbers would need a declaration; the parser would let them stand. */
const FOREIGN_REFERENCE = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/

const CODE_POINT_MAXIMUM = 0x10_ff_ff
const NUMERIC_REFERENCE = /&#(?:x([0-9a-fA-F]+)|(\d+));/g

/** What no XML 1.0 document may hold, written out or as a reference; the parser would drop some of it silently. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u

/**
 * Parses a document.
 * @throws S3Error MaxMessageLengthExceeded, MalformedXML
 */
export function readXml(body: Buffer, options: ReadXmlOptions): XmlElement {
  const text = documentElement(body, options.bytesMaximum)
  checkForm(text, options.root)
  const document = parse(text)
  const names = Object.keys(document)
  const root = document[options.root]
  if (names.length !== 1 || root === undefined || Array.isArray(root)) {
    throw malformedXml(`The document element must be ${options.root}.`)
  }
  return toElement(root)
}

/** The parser lets much pass in tags that is no XML, such as `<` in the value of an attribute. */
function checkForm(text: string, root: string): void {
  const scanner = new XmlScanner(text)
  scanner.beginRoot(root)
  scanner.skip()
  scanner.finish()
}

/**
 * The text of the document element: without the XML declaration, and after everything was refused that this service has
 * no use for (declarations, comments, CDATA sections, processing instructions, entities but the five). It begins with
 * `<` and ends with `>`; whether it is well-formed is not known yet.
 * @throws S3Error MaxMessageLengthExceeded, MalformedXML
 */
export function documentElement(body: Buffer, bytesMaximum: number): string {
  if (body.length > bytesMaximum) throw new S3Error('MaxMessageLengthExceeded')
  if (!isUtf8(body)) throw malformedXml('The document is not UTF-8.')
  const text = body.toString('utf8')
  const prologue = PROLOGUE.exec(text)
  const document = prologue === null ? '' : text.slice(prologue[0].length, endOf(text))
  if (!document.endsWith('>')) throw malformedXml('There must be one element and nothing around it.')
  if (document.includes('<!') || document.includes(']]>')) {
    throw malformedXml('Declarations, comments and CDATA sections are not accepted.')
  }
  if (document.includes('<?')) throw malformedXml('Processing instructions are not accepted.')
  if (FOREIGN_REFERENCE.test(document)) throw malformedXml('There is a reference to an unknown entity.')
  if (FORBIDDEN.test(text)) throw malformedXml('There is a character that XML does not know.')
  if (document.includes('&#')) checkNumericReferences(document)
  return document
}

/** Where the white space at the end begins. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && BLANKS.includes(text.charAt(end - 1))) end -= 1
  return end
}

function checkNumericReferences(document: string): void {
  for (const [, hexadecimal, decimal] of document.matchAll(NUMERIC_REFERENCE)) {
    const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16)
    if (code > CODE_POINT_MAXIMUM || FORBIDDEN.test(String.fromCodePoint(code))) {
      throw malformedXml('There is a reference to a character that XML does not know.')
    }
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = parser.parse(text, true)
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>
  } catch {
    // The parser's own words speak of its options, not of the document.
  }
  throw malformedXml('The document is not well-formed.')
}

/** The parser gives text for an element without children, else an object of elements and lists of elements. */
function toElement(value: unknown): XmlElement {
  if (typeof value !== 'object' || value === null) return { text: String(value), children: new Map() }
  const children = new Map<string, readonly XmlElement[]>()
  let text = ''
  for (const [name, member] of Object.entries(value)) {
    if (name === TEXT) text = String(member)
    else children.set(name, (Array.isArray(member) ? member : [member]).map(toElement))
  }
  return { text, children }
}

/**
 * The text of an element that may be there once.
 * @returns undefined when there is none
 * @throws S3Error MalformedXML when it is there twice or holds elements
 */
export function childText(parent: XmlElement, name: string): string | undefined {
  const [child, ...others] = parent.children.get(name) ?? []
  if (child === undefined) return undefined
  if (others.length > 0 || child.children.size > 0) throw malformedXml(`${name} must be there once and hold text.`)
  return child.text.trim()
}

/**
 * Refuses what the schema does not know, text between the elements included.
 * @throws S3Error MalformedXML
 */
export function expectOnly(parent: XmlElement, names: readonly string[]): void {
  for (const name of parent.children.keys()) if (!names.includes(name)) throw malformedXml(`${name} is not expected.`)
  if (parent.text.trim() !== '') throw malformedXml('There is text where only elements may stand.')
}
