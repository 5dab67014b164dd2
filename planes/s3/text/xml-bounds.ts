/**
 * Checks a document before the XML library reads it. Declarations (`<!`) are refused, which rules out entities, their
 * expansion and external files; the other checks bound the time and the memory of the library.
 */

import { isUtf8 } from 'node:buffer'
import { malformedXml } from '../errors/s3-errors.ts'
import { checkReferences } from './xml-references.ts'

/** Start of a document: an optional declaration, then the document element. */
const PROLOGUE = /^\ufeff?(?:<\?xml[ \t\r\n][^<>]*\?>)?[ \t\r\n]*(?=<[^?!])/
/** White space in XML; JavaScript's `\s` matches more. */
const BLANKS = ' \t\r\n'

/** Characters forbidden in XML 1.0. Lone surrogates, also forbidden, are not UTF-8 and refused before. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/**
 * A `<` that starts neither an end tag nor a start tag with its attributes. The library accepts more: other names, other
 * white space, `<` in the value of an attribute, and `</a/>`. Carriage returns have been replaced.
 */
const NAME = String.raw`[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?`
const ATTRIBUTE = String.raw`[ \t\n]+[A-Za-z_][\w.:-]*[ \t\n]*=[ \t\n]*(?:"[^"<]*"|'[^'<]*')`
const NO_TAG = new RegExp(String.raw`<(?!/${NAME}[ \t\n]*>|${NAME}(?:${ATTRIBUTE})*[ \t\n]*/?>)`)
/** A start tag with attributes, in a document without `NO_TAG`. */
const WITH_ATTRIBUTES = /<[^\s/>]+[ \t\n][^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)+/g
const VALUE = /"[^"]*"|'[^']*'/g

const CARRIAGE_RETURN = 13
const LINE_FEED = 10
const SLASH = 47

/** Maximum characters of a tag with the text after it: the library needs some 32 bytes for each until it has read both. */
const RUN_CHARACTERS_MAXIMUM = 64 * 1024
/** Attributes per allowed element, over the whole document; valid documents have at most namespaces. */
const ATTRIBUTE_SHARE = 0.2

/**
 * The text of the document element, from its `<` to its `>`, without the XML declaration. Refuses what no S3 document
 * has: declarations, comments, CDATA sections, processing instructions. Each tag and each reference in it is well-formed;
 * whether the tags match is not checked. Takes linear time for any input.
 * @throws S3Error MalformedXML
 */
export function documentElement(body: Buffer, elementsMaximum: number): string {
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
  checkRuns(document, elementsMaximum)
  if (NO_TAG.test(document)) throw malformedXml('A tag is not well-formed.')
  checkAttributes(document, elementsMaximum * ATTRIBUTE_SHARE)
  checkReferences(document)
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

/** Refuses too many elements, and too many characters between two `<`. */
function checkRuns(document: string, elementsMaximum: number): void {
  let elements = 0
  for (let at = 0; at < document.length; ) {
    if (document.charCodeAt(at + 1) !== SLASH) elements += 1
    const next = document.indexOf('<', at + 1)
    const end = next === -1 ? document.length : next
    if (end - at > RUN_CHARACTERS_MAXIMUM) {
      throw malformedXml(`A tag and the text after it have more than ${RUN_CHARACTERS_MAXIMUM} characters.`)
    }
    at = end
  }
  if (elements > elementsMaximum) throw malformedXml('There are too many elements.')
}

function checkAttributes(document: string, maximum: number): void {
  let left = maximum
  for (const [tag] of document.matchAll(WITH_ATTRIBUTES)) left -= tag.match(VALUE)?.length ?? 0
  if (left < 0) throw malformedXml('There are too many attributes.')
}
