/**
 * Reads XML from clients. Declarations (`<!`) are refused first, which rules out entities, their expansion and external
 * files.
 */

import { isUtf8 } from 'node:buffer'
import { malformedXml } from '../errors/s3-errors.ts'
import { type XmlElement, XmlScanner } from './xml-scanner.ts'

/** Start of a document: an optional declaration, then the document element. */
const PROLOGUE = /^\ufeff?(?:<\?xml[ \t\r\n][^<>]*\?>)?[ \t\r\n]*(?=<[^?!])/
/** White space in XML; JavaScript's `\s` matches more. */
const BLANKS = ' \t\r\n'

/** Characters forbidden in XML 1.0. Lone surrogates, also forbidden, are not UTF-8 and refused before. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

const CARRIAGE_RETURN = 13
const LINE_FEED = 10

/** Maximum elements of a document parsed into a tree; far above any valid document. */
const TREE_ELEMENTS_MAXIMUM = 10_000
/** Maximum characters of one text; the longest valid one is a region of 255 characters. */
const TREE_TEXT_MAXIMUM = 512

/**
 * Parses a document.
 * @param rootName the name that the document element must have, without namespace
 * @param textMaximum characters that the text of one element may have as it is written
 * @throws S3Error MalformedXML
 */
export function readXml(body: Buffer, rootName: string, textMaximum = TREE_TEXT_MAXIMUM): XmlElement {
  const scanner = new XmlScanner(documentElement(body), TREE_ELEMENTS_MAXIMUM)
  scanner.beginRoot(rootName)
  const root = scanner.element(textMaximum)
  scanner.finish()
  return root
}

/**
 * The text of the document element, from its `<` to its `>`, without the XML declaration. Refuses what no S3 document
 * has: declarations, comments, CDATA sections, processing instructions. Does not check well-formedness or references.
 * Takes linear time for any input.
 * @throws S3Error MalformedXML
 */
export function documentElement(body: Buffer): string {
  if (!isUtf8(body)) throw malformedXml('The document is not UTF-8.')
  const text = withLineFeeds(body).toString('utf8')
  const prologue = PROLOGUE.exec(text)
  const document = prologue === null ? '' : text.slice(prologue[0].length, endOf(text))
  if (!document.endsWith('>')) throw malformedXml('There must be one element and nothing around it.')
  if (document.includes('<!') || document.includes(']]>')) {
    throw malformedXml('Declarations, comments and CDATA sections are not accepted.')
  }
  if (document.includes('<?')) throw malformedXml('Processing instructions are not accepted.')
  if (FORBIDDEN.test(text)) throw malformedXml('There is a character that XML does not know.')
  return document
}

/** Normalizes line ends to line feeds (XML 1.0 section 2.11). */
function withLineFeeds(body: Buffer): Buffer {
  if (!body.includes(CARRIAGE_RETURN)) return body
  const lines = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number
    if (byte === CARRIAGE_RETURN && body[at + 1] === LINE_FEED) continue
    lines[length] = byte === CARRIAGE_RETURN ? LINE_FEED : byte
    length += 1
  }
  return lines.subarray(0, length)
}

/** Length of the text without trailing white space. */
function endOf(text: string): number {
  let end = text.length
  while (end > 0 && BLANKS.includes(text.charAt(end - 1))) end -= 1
  return end
}

/**
 * The trimmed text of an optional child element; undefined when absent.
 * @throws S3Error MalformedXML when it occurs twice or holds elements
 */
export function childText(parent: XmlElement, name: string): string | undefined {
  const [child, ...others] = parent.children.get(name) ?? []
  if (child === undefined) return undefined
  if (others.length > 0 || child.children.size > 0) throw malformedXml(`${name} must occur once and hold text.`)
  return child.text.trim()
}

/**
 * Refuses unknown child elements, and text between the elements.
 * @throws S3Error MalformedXML
 */
export function expectOnly(parent: XmlElement, names: readonly string[]): void {
  for (const name of parent.children.keys()) if (!names.includes(name)) throw malformedXml(`${name} is not expected.`)
  if (parent.text.trim() !== '') throw malformedXml('There is text where only elements are allowed.')
}
