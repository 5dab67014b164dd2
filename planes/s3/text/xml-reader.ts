/** Reads XML from clients: bounded by `documentElement`, parsed by fast-xml-parser, returned as a tree. */

import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { malformedXml, type S3Error } from '../errors/s3-errors.ts'
import { documentElement } from './xml-bounds.ts'
import { resolveReferences } from './xml-references.ts'

const NESTING_MAXIMUM = 10

/** Maximum elements of a configuration; far above any valid one. */
const TREE_ELEMENTS_MAXIMUM = 10_000
/** Maximum characters of one text of a configuration; the longest valid one is a region of 255 characters. */
const TREE_TEXT_MAXIMUM = 512
/** Maximum elements of a list: 10,000 parts with numbers, ETags and checksums need less than half of it. */
const LIST_ELEMENTS_MAXIMUM = 100_000
/** Of a short text: an ETag, a number, a checksum. */
const WORD_CHARACTERS_MAXIMUM = 100

/** Before the name of every element, so that none is a name with a meaning in JavaScript or in the library. */
const MARK = '.'
/** An element around the document, so that text after the document element is seen: the library drops it after `<a/>`. */
const AROUND = 'document'
/** White space between elements; carriage returns have been replaced. */
const BLANK = /^[ \t\n]*$/

/** Attributes are dropped: the validator has refused those that occur twice, and their values mean nothing here. */
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  maxNestedTags: 1 + NESTING_MAXIMUM,
  jPath: false,
  transformTagName: (name) => (name.startsWith(MARK) ? name : `${MARK}${name}`),
})

/** What the parser says of too many levels; it refuses nothing else that the validator accepts. */
const TOO_DEEP = 'Maximum nested tags exceeded'

/** A node of the library: its key is the marked name of an element, or `#text`. */
type ParsedNode = Readonly<Record<string, string | readonly ParsedNode[]>>

export interface XmlElement {
  /** Without namespace prefix. */
  readonly name: string
  /** The character data, blanks included; empty where there are only child elements. */
  readonly text: string
  /** The text as written, with its references. */
  readonly written: string
  /** Child elements by name without prefix, in the order in which a name occurs first. A Map, since clients choose the names. */
  readonly children: ReadonlyMap<string, readonly XmlElement[]>
}

/**
 * Reads a configuration.
 * @param rootName the name that the document element must have, without namespace
 * @param textMaximum characters as written, without surrounding blanks, of the text of an element without children
 * @throws S3Error MalformedXML
 */
export function readXml(body: Buffer, rootName: string, textMaximum = TREE_TEXT_MAXIMUM): XmlElement {
  return rootOf(documentElement(body, TREE_ELEMENTS_MAXIMUM), rootName, textMaximum)
}

/**
 * Reads a list. Its texts are bounded by `wordOf` and `exactTextOf`.
 * @throws S3Error MalformedXML
 */
export function readXmlList(body: Buffer, rootName: string): XmlElement {
  return rootOf(documentElement(body, LIST_ELEMENTS_MAXIMUM), rootName, Number.POSITIVE_INFINITY)
}

function rootOf(document: string, rootName: string, textMaximum: number): XmlElement {
  const text = `<${AROUND}>${document}</${AROUND}>`
  const verdict = XMLValidator.validate(text)
  if (verdict !== true) {
    const isTag = verdict.err.code === 'InvalidAttr'
    throw malformedXml(isTag ? 'A tag is not well-formed.' : 'An element has no end, or one that does not match it.')
  }
  const { written, children } = elementOf(parsed(text), textMaximum, 0)
  const [[root, ...others] = [], ...otherNames] = [...children.values()]
  if (root === undefined || others.length + otherNames.length > 0 || written !== '') {
    throw malformedXml('There must be one element and nothing around it.')
  }
  if (root.name !== rootName) throw malformedXml(`The document element must be ${rootName}.`)
  return root
}

function parsed(text: string): ParsedNode {
  try {
    const [around] = parser.parse(text) as readonly [ParsedNode]
    return around
  } catch (error) {
    if (error instanceof Error && error.message === TOO_DEEP) throw tooDeep()
    throw error
  }
}

function elementOf(node: ParsedNode, textMaximum: number, depth: number): XmlElement {
  if (depth > NESTING_MAXIMUM) throw tooDeep()
  const [key = ''] = Object.keys(node)
  const name = key.slice(Math.max(key.indexOf(':'), MARK.length - 1) + 1)
  const children = new Map<string, XmlElement[]>()
  let written = ''
  for (const part of node[key] as readonly ParsedNode[]) {
    const text = part['#text']
    if (typeof text === 'string') {
      written += text
      continue
    }
    const child = elementOf(part, textMaximum, depth + 1)
    const same = children.get(child.name)
    if (same === undefined) children.set(child.name, [child])
    else same.push(child)
  }
  const isShort = written.length <= textMaximum || written.trim().length <= textMaximum
  if (children.size === 0 && !isShort) throw tooLong(name, textMaximum)
  return { name, text: resolveReferences(written), written, children }
}

function tooDeep(): S3Error {
  return malformedXml('The elements are nested too deeply.')
}

function tooLong(name: string, maximum: number): S3Error {
  return malformedXml(`${name} has more than ${maximum} characters.`)
}

/**
 * The trimmed text of an element without children.
 * @param maximum characters as written
 * @throws S3Error MalformedXML
 */
export function wordOf(element: XmlElement, maximum = WORD_CHARACTERS_MAXIMUM): string {
  return exactTextOf(element, maximum).trim()
}

/** As `wordOf`, but not trimmed: white space around a key is a part of the key. */
export function exactTextOf({ name, text, written, children }: XmlElement, maximum: number): string {
  if (children.size > 0) throw malformedXml(`${name} must hold text.`)
  if (written.length > maximum) throw tooLong(name, maximum)
  return text
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
  expectNames(parent, names)
  if (parent.text.trim() !== '') throw malformedXml('There is text where only elements are allowed.')
}

/** As `expectOnly`, for lists, where white space as a reference is refused too. */
export function expectListed(parent: XmlElement, names: readonly string[]): void {
  expectNames(parent, names)
  expectBlank(parent)
}

/** @throws S3Error MalformedXML when there is text between the elements */
export function expectBlank({ written }: XmlElement): void {
  if (!BLANK.test(written)) throw malformedXml('There is text where an element must begin.')
}

function expectNames({ children }: XmlElement, names: readonly string[]): void {
  for (const name of children.keys()) if (!names.includes(name)) throw malformedXml(`${name} is not expected.`)
}
