/**
 * A pull scanner for XML. It accepts only elements, attributes (checked for form, then ignored) and text;
 * `documentElement` has refused everything else. Small documents are read as a tree; a document of 10,000 parts element
 * by element, in about ten milliseconds.
 */

import { malformedXml, type S3Error } from '../errors/s3-errors.ts'
import { checkReferences, resolveReferences } from './xml-references.ts'

const NESTING_MAXIMUM = 10

const NAME = /[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?/y
/** Only white space of XML may separate the parts; `\s` matches more. */
const ATTRIBUTE = /([A-Za-z_][\w.:-]*)[ \t\r\n]*=[ \t\r\n]*(?:"[^"<]*"|'[^'<]*')/y

const CODE = { tab: 9, lineFeed: 10, carriageReturn: 13, space: 32, slash: 47, less: 60, greater: 62 } as const

/** Of a short text: an ETag, a number, a checksum, a version id. */
const WORD_CHARACTERS_MAXIMUM = 100

/**
 * Elements of one document: 10,000 parts with numbers, ETags and checksums need less than half of it. Bounded, because
 * empty elements and attributes take the most time per byte.
 */
const ELEMENTS_MAXIMUM = 100_000
/** Attributes per allowed element, over the whole document; valid documents have at most namespaces. */
const ATTRIBUTE_SHARE = 0.2

/** An element with its children by name without namespace prefix. A Map, since clients choose the names. */
export interface XmlElement {
  /** The character data, blanks included; empty where there are only child elements. */
  readonly text: string
  readonly children: ReadonlyMap<string, readonly XmlElement[]>
}

/** Scans a document from start to end. Every method throws MalformedXML on invalid input. */
export class XmlScanner {
  readonly #text: string
  #at = 0
  /** Whether the last start tag was an empty-element tag, which has no end tag. */
  #empty = false
  /** Names of the open elements as written, outermost first. */
  readonly #open: string[] = []
  /** Remaining number of elements. */
  #elementsLeft: number
  #attributesLeft: number

  /** @param text a document element from `documentElement` */
  constructor(text: string, elementsMaximum = ELEMENTS_MAXIMUM) {
    this.#text = text
    this.#elementsLeft = elementsMaximum
    this.#attributesLeft = elementsMaximum * ATTRIBUTE_SHARE
  }

  /** Enters the document element, which must have this name (without namespace prefix). */
  beginRoot(name: string): void {
    if (this.#begin() !== name) throw malformedXml(`The document element must be ${name}.`)
  }

  /**
   * Enters the next child of the current element. Only white space may come before it.
   * @returns its name without namespace prefix; undefined when the current element has ended instead
   */
  next(): string | undefined {
    if (this.#ended()) return undefined
    this.#skipBlanks()
    if (!this.#atEndTag()) return this.#begin()
    this.#end()
    return undefined
  }

  /**
   * Reads and leaves the current element; returns its text, trimmed and with references resolved.
   * @param maximum characters as written; a longer text is refused unread
   */
  text(maximum = WORD_CHARACTERS_MAXIMUM): string {
    return this.exactText(maximum).trim()
  }

  /** As `text`, but not trimmed: white space around a key is a part of the key. */
  exactText(maximum: number): string {
    if (this.#ended()) return ''
    const end = this.#text.indexOf('<', this.#at)
    const start = this.#at
    this.#at = end
    if (!this.#atEndTag()) throw malformedXml(`${this.#open.at(-1)} must hold text.`)
    if (end - start > maximum) throw this.#tooLong(maximum)
    this.#end()
    return resolveReferences(this.#text.slice(start, end))
  }

  /**
   * Reads and leaves the current element; returns it with all its content, references resolved.
   * @param textMaximum characters as written, without surrounding blanks, of the text of an element without children
   */
  element(textMaximum: number): XmlElement {
    const children = new Map<string, XmlElement[]>()
    if (this.#ended()) return { text: '', children }
    let text = ''
    for (;;) {
      const tag = this.#text.indexOf('<', this.#at)
      if (tag === -1) throw malformedXml('An element has no end.')
      text += this.#text.slice(this.#at, tag)
      this.#at = tag
      if (this.#atEndTag()) break
      const name = this.#begin()
      const same = children.get(name)
      if (same === undefined) children.set(name, [this.element(textMaximum)])
      else same.push(this.element(textMaximum))
    }
    const isShort = text.length <= textMaximum || text.trim().length <= textMaximum
    if (children.size === 0 && !isShort) throw this.#tooLong(textMaximum)
    this.#end()
    return { text: resolveReferences(text), children }
  }

  /** Skips the rest of the current element, which must be well-formed. */
  skip(): void {
    if (this.#ended()) return
    for (let depth = 1; depth > 0; ) {
      const tag = this.#text.indexOf('<', this.#at)
      if (tag === -1) throw malformedXml('An element has no end.')
      checkReferences(this.#text.slice(this.#at, tag))
      this.#at = tag
      if (this.#atEndTag()) {
        this.#end()
        depth -= 1
      } else {
        this.#begin()
        if (!this.#ended()) depth += 1
      }
    }
  }

  /** Refuses anything after the document element. */
  finish(): void {
    this.#skipBlanks()
    if (this.#open.length > 0 || this.#at < this.#text.length) throw malformedXml('There must be one element.')
  }

  /** Reads a start tag. */
  #begin(): string {
    if (this.#text.charCodeAt(this.#at) !== CODE.less) throw malformedXml('There is text where an element must begin.')
    this.#elementsLeft -= 1
    if (this.#elementsLeft < 0) throw malformedXml('There are too many elements.')
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

  /** Leaves the current element if it was an empty-element tag; returns whether it was. */
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

  /** Checks attributes; two of the same name are not well-formed (XML 1.0 section 3.1). */
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
      this.#attributesLeft -= 1
      if (this.#attributesLeft < 0) throw malformedXml('There are too many attributes.')
      names.add(name)
      this.#at = ATTRIBUTE.lastIndex
    }
  }

  #tooLong(maximum: number): S3Error {
    return malformedXml(`${this.#open.at(-1)} has more than ${maximum} characters.`)
  }

  #expectGreater(): void {
    if (this.#text.charCodeAt(this.#at) !== CODE.greater) throw malformedXml('A tag is not well-formed.')
    this.#at += 1
  }

  #skipBlanks(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at += 1
  }
}

function isBlank(code: number): boolean {
  return code === CODE.space || code === CODE.lineFeed || code === CODE.carriageReturn || code === CODE.tab
}
