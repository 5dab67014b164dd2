/**
 * The bodies of DeleteObjects: a request of up to 1,000 keys, and the result of each key. Names and order of elements
 * follow the S3 API reference.
 */

import { cutText } from '../../exchange/cut-text.ts'
import { malformedXml, type S3Error } from '../errors/s3-errors.ts'
import { exactTextOf, expectListed, readXmlList, wordOf, type XmlElement } from '../text/xml-reader.ts'
import { element, escapeXml, successDocument } from '../text/xml-writer.ts'
import { optionalElement } from './listing-elements.ts'

/** Maximum keys of one request (S3 API reference, DeleteObjects). */
const DELETIONS_MAXIMUM = 1000
/**
 * Of a key and a version id as written. A key has up to 1,024 bytes with up to six characters each, as in `&quot;`; an
 * id has up to 1,024 characters. A key or id over its own limit is refused by itself, over this one with the document.
 */
const KEY_CHARACTERS_MAXIMUM = 8192
const VERSION_ID_CHARACTERS_MAXIMUM = 2048
/** Of an over-long key, and of a version id, in the answer. */
const CUT_BYTES_MAXIMUM = 1100

/** A requested deletion; every text is as sent. */
export interface NamedDeletion {
  /** With white space; not empty, otherwise not checked. */
  readonly key: string
  readonly versionId: string | undefined
  /** The condition on the entity tag. */
  readonly etag: string | undefined
  /** The first condition that only S3's directory buckets support. */
  readonly foreign: 'LastModifiedTime' | 'Size' | undefined
}

interface DeletionList {
  readonly objects: readonly NamedDeletion[]
  /** Whether the answer lists only failures. */
  readonly quiet: boolean
}

const MEMBERS = ['Key', 'VersionId', 'ETag', 'LastModifiedTime', 'Size'] as const
type Member = (typeof MEMBERS)[number]

/**
 * Parses the list of keys. Unknown elements are refused, not ignored: one may be a condition, and a deletion cannot be
 * undone.
 * @throws S3Error MalformedXML (also: empty body, no key, more than 1,000, an empty Key, an element that is there twice or
 *   is not known, Quiet that is neither true nor false)
 */
export function parseDeletionList(body: Buffer): DeletionList {
  const root = readXmlList(body, 'Delete')
  expectListed(root, ['Object', 'Quiet'])
  const [quiet, ...others] = root.children.get('Quiet') ?? []
  if (others.length > 0) throw malformedXml('Quiet is not expected twice.')
  const objects = root.children.get('Object') ?? []
  if (objects.length === 0) throw malformedXml('There must be at least one Object.')
  if (objects.length > DELETIONS_MAXIMUM) throw malformedXml(`There are more than ${DELETIONS_MAXIMUM} objects.`)
  return { objects: objects.map(readObject), quiet: quiet !== undefined && booleanOf(wordOf(quiet)) }
}

function readObject(object: XmlElement): NamedDeletion {
  expectListed(object, MEMBERS)
  const key = member(object, 'Key')
  if (key === undefined || key === '') throw malformedXml('An Object needs a Key.')
  const foreign = (['LastModifiedTime', 'Size'] as const).filter((name) => member(object, name) !== undefined)
  return { key, versionId: member(object, 'VersionId'), etag: member(object, 'ETag'), foreign: foreign[0] }
}

/** The text of a member that may occur once; undefined when absent. */
function member(object: XmlElement, name: Member): string | undefined {
  const [first, second] = object.children.get(name) ?? []
  if (second !== undefined) throw malformedXml(`${name} occurs more than once.`)
  if (first === undefined) return undefined
  if (name === 'Key') return exactTextOf(first, KEY_CHARACTERS_MAXIMUM)
  return wordOf(first, name === 'VersionId' ? VERSION_ID_CHARACTERS_MAXIMUM : undefined)
}

/** A boolean of XML Schema, also capitalized, as some clients write it. */
function booleanOf(text: string): boolean {
  switch (text.toLowerCase()) {
    case 'true':
    case '1':
      return true
    case 'false':
    case '0':
      return false
    default:
      throw malformedXml('Quiet must be true or false.')
  }
}

/** The result of one key. */
export type DeletionResult = Pick<NamedDeletion, 'key' | 'versionId'> &
  (
    | {
        /** The id of the delete marker that was written or removed; undefined without one. */
        readonly markerId: string | undefined
        readonly error?: undefined
      }
    | { readonly error: S3Error }
  )

/** @param quiet leaves out successful deletions */
export function deleteResult(results: readonly DeletionResult[], quiet: boolean): string {
  let inner = ''
  for (const result of results) if (!quiet || result.error !== undefined) inner += resultElement(result)
  return successDocument('DeleteResult', inner)
}

function resultElement(result: DeletionResult): string {
  const { error } = result
  const key = error?.code === 'KeyTooLongError' ? cutText(result.key, CUT_BYTES_MAXIMUM, escapeXml) : result.key
  const versionId = result.versionId && cutText(result.versionId, CUT_BYTES_MAXIMUM, escapeXml)
  const name = element('Key', key) + optionalElement('VersionId', versionId)
  if (error !== undefined)
    return `<Error>${name}${element('Code', error.code)}${element('Message', error.message)}</Error>`
  const { markerId } = result
  if (markerId === undefined) return `<Deleted>${name}</Deleted>`
  return `<Deleted>${name}<DeleteMarker>true</DeleteMarker>${element('DeleteMarkerVersionId', markerId)}</Deleted>`
}
