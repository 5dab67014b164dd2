/**
 * A scanner for XML that was in production until decision 0190: another opinion about what the library reads. It accepts
 * elements, attributes (their form is checked, what they say is dropped) and text, and nothing else.
 */

import { isUtf8 } from 'node:buffer'
import { malformedXml } from '../../planes/s3/errors/s3-errors.ts'
import { checkReferences, resolveReferences } from '../../planes/s3/text/xml-references.ts'

const NESTING_MAXIMUM = 10

const NAME = /[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?/y
/** Between its parts only the white space of XML is allowed; that of the platform is more. */
const ATTRIBUTE = /([A-Za-z_][\w.:-]*)[ \t\r\n]*=[ \t\r\n]*(?:"[^"<]*"|'[^'<]*')/y

const CODE = { tab: 9, lineFeed: 10, carriageReturn: 13, space: 32, slash: 47, less: 60, greater: 62 } as const

/** The beginning of a document: a declaration or none, then at once the document element. */
const PROLOGUE = /^\ufeff?(?:<\?xml[ \t\r\n][^<>]*\?>)?[ \t\r\n]*(?=<[^?!])/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

export interface ScannedElement {
  /** The character data, blanks included. */
  readonly text: string
  /** By name without namespace prefix. */
  readonly children: ReadonlyMap<string, readonly ScannedElement[]>
}

/**
 * Reads a document.
 * @throws S3Error MalformedXML
 */
export function scannedXml(body: Buffer, rootName: string): ScannedElement {
  const scanner = new XmlScanner(documentElement(body))
  scanner.beginRoot(rootName)
  const root = scanner.element()
  scanner.finish()
  return root
}

function documentElement(body: Buffer): string {
  const text = body.toString('utf8').replaceAll(/\r\n?/g, '\n')
  const document = text.replace(PROLOGUE, '').replace(/[ \t\n]+$/, '')
  if (!isUtf8(body) || !PROLOGUE.test(text) || !document.endsWith('>')) throw malformedXml('There is no element.')
  if (/<[!?]|\]\]>/.test(document)) throw malformedXml('There is more than elements and text.')
  if (FORBIDDEN.test(text)) throw malformedXml('There is a character that XML does not know.')
  return document
}

/** Walks through a document from its first byte to its last. Every method throws MalformedXML where it cannot go on. */
class XmlScanner {
  readonly #text: string
  #at = 0
  /** Whether the element begun last was an empty-element tag, which has no end tag. */
  #empty = false
  /** Names of the open elements as written, outermost first. */
  readonly #open: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  /** Begins the document element, which must have this name (without namespace prefix). */
  beginRoot(name: string): void {
    if (this.#begin() !== name) throw malformedXml(`The document element must be ${name}.`)
  }

  /** The current element with everything in it, references resolved. It has ended then. */
  element(): ScannedElement {
    const children = new Map<string, ScannedElement[]>()
    if (this.#ended()) return { text: '', children }
    let text = ''
    for (;;) {
      const tag = this.#text.indexOf('<', this.#at)
      if (tag === -1) throw malformedXml('An element has no end.')
      text += resolveReferences(this.#text.slice(this.#at, tag))
      this.#at = tag
      if (this.#atEndTag()) break
      const name = this.#begin()
      const same = children.get(name)
      if (same === undefined) children.set(name, [this.element()])
      else same.push(this.element())
    }
    this.#end()
    return { text, children }
  }

  /** Refuses what comes after the document element. */
  finish(): void {
    this.#skipBlanks()
    if (this.#open.length > 0 || this.#at < this.#text.length) throw malformedXml('There must be one element.')
  }

  /** Reads a start tag. */
  #begin(): string {
    if (this.#text.charCodeAt(this.#at) !== CODE.less) throw malformedXml('There is text where an element must begin.')
    this.#at += 1
    const name = this.#name()
    if (this.#text.charCodeAt(this.#at) !== CODE.greater) this.#attributes()
    this.#empty = this.#text.charCodeAt(this.#at) === CODE.slash
    if (this.#empty) this.#at += 1
    this.#expectGreater()
    if (this.#open.push(name) > NESTING_MAXIMUM) throw malformedXml('The elements are nested too deeply.')
    const colon = name.indexOf(':')
    return colon === -1 ? name : name.slice(colon + 1)
  }

  /** Reads the end tag of the current element. */
  #end(): void {
    const name = this.#open.pop() ?? ''
    this.#at += '</'.length
    if (!this.#text.startsWith(name, this.#at)) throw malformedXml('An end tag does not match its start tag.')
    this.#at += name.length
    this.#skipBlanks()
    this.#expectGreater()
  }

  /** Whether the current element was empty; it has ended then. */
  #ended(): boolean {
    if (!this.#empty) return false
    this.#empty = false
    this.#open.pop()
    return true
  }

  #atEndTag(): boolean {
    return this.#text.charCodeAt(this.#at) === CODE.less && this.#text.charCodeAt(this.#at + 1) === CODE.slash
  }

  #name(): string {
    NAME.lastIndex = this.#at
    if (!NAME.test(this.#text)) throw malformedXml('The name of an element is not valid.')
    const name = this.#text.slice(this.#at, NAME.lastIndex)
    this.#at = NAME.lastIndex
    return name
  }

  /** Two of the same name are not well-formed (XML 1.0 section 3.1). */
  #attributes(): void {
    const names = new Set<string>()
    for (;;) {
      const before = this.#at
      this.#skipBlanks()
      const code = this.#text.charCodeAt(this.#at)
      if (code === CODE.greater || code === CODE.slash) return
      ATTRIBUTE.lastIndex = this.#at
      const [written, name] = (this.#at === before ? undefined : ATTRIBUTE.exec(this.#text)) ?? []
      if (written === undefined || name === undefined || names.has(name))
        throw malformedXml('A tag is not well-formed.')
      checkReferences(written)
      names.add(name)
      this.#at = ATTRIBUTE.lastIndex
    }
  }

  #expectGreater(): void {
    if (this.#text.charCodeAt(this.#at) !== CODE.greater) throw malformedXml('A tag is not well-formed.')
    this.#at += 1
  }

  #skipBlanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1
  }
}

/** The white space of XML, which is less than that of the platform. */
function isBlank(code: number): boolean {
  return code === CODE.space || code === CODE.lineFeed || code === CODE.carriageReturn || code === CODE.tab
}
