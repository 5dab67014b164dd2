/**
 * Reading XML that clients send. Declarations (`<!`) are refused before anything is read, which rules out entities, their
 * expansion and external files.
 */

import { isUtf8 } from 'node:buffer'
import { malformedXml } from '../errors.ts'
import { type XmlElement, XmlScanner } from './xml-scanner.ts'

/** The beginning of a document: a declaration or none, then at once the document element. */
const PROLOGUE = /^\ufeff?(?:<\?xml[ \t\r\n][^<>]*\?>)?[ \t\r\n]*(?=<[^?!])/
/** The white space of XML, which is less than that of the platform. */
const BLANKS = ' \t\r\n'

/** References beyond the five names and the numbers would need a declaration. */
const FOREIGN_REFERENCE = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)/

const CODE_POINT_MAXIMUM = 0x10_ff_ff
const NUMERIC_REFERENCE = /&#(?:x([0-9a-fA-F]+)|(\d+));/g

/** What no XML 1.0 document may hold, written out or as a reference. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u

/**
 * Parses a document.
 * @param rootName the name that the document element must have, without namespace
 * @throws S3Error MalformedXML
 */
export function readXml(body: Buffer, rootName: string): XmlElement {
  const scanner = new XmlScanner(documentElement(body))
  scanner.beginRoot(rootName)
  const root = scanner.element()
  scanner.finish()
  return root
}

/**
 * The text of the document element: without the XML declaration, and after everything was refused that this service has
 * no use for (declarations, comments, CDATA sections, processing instructions, entities but the five). It begins with
 * `<` and ends with `>`; whether it is well-formed is not known yet.
 * @throws S3Error MalformedXML
 */
export function documentElement(body: Buffer): string {
  if (!isUtf8(body)) throw malformedXml('The document is not UTF-8.')
  // A line ends with a line feed, however it was written (XML 1.0 section 2.11).
  const text = body.toString('utf8').replaceAll(/\r\n?/g, '\n')
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

/**
 * The text of an element that may be there once.
 * @returns undefined when there is none
 * @throws S3Error MalformedXML when it is there twice or holds elements
 */
export function childText(parent: XmlElement, name: string): string | undefined {
  const [child, ...others] = parent.children.get(name) ?? []
  if (child === undefined) return undefined
  if (others.length > 0 || child.children.size > 0) throw malformedXml(`${name} must occur once and hold text.`)
  return child.text.trim()
}

/**
 * Refuses what the schema does not know, text between the elements included.
 * @throws S3Error MalformedXML
 */
export function expectOnly(parent: XmlElement, names: readonly string[]): void {
  for (const name of parent.children.keys()) if (!names.includes(name)) throw malformedXml(`${name} is not expected.`)
  if (parent.text.trim() !== '') throw malformedXml('There is text where only elements are allowed.')
}
