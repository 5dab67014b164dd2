/** The document of ListObjectVersions. Element names and their order are those of the S3 API reference. */

import {
  commonPrefixElements,
  etagElement,
  nameEncoder,
  optionalElement,
  type Owner,
  ownerElement,
} from './listing-elements.ts'
import { isoTimestamp } from './timestamps.ts'
import { element, escapeXml, successDocument } from './xml-writer.ts'

/** A version or a delete marker. */
export interface ListedVersion {
  readonly key: string
  /** As clients see it: `null` or an opaque text. */
  readonly versionId: string
  readonly isLatest: boolean
  /** Of a delete marker, ETag and size are not looked at. */
  readonly isMarker: boolean
  readonly lastModifiedMicroseconds: number
  /** Without quotes. */
  readonly etag: string
  readonly size: number
}

export interface ListVersionsResult {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter?: string | undefined
  /** The markers of the request, to be echoed. */
  readonly keyMarker?: string | undefined
  readonly versionIdMarker?: string | undefined
  readonly maxKeys: number
  readonly encodingType?: 'url' | undefined
  /** By key, newest first; versions and markers among each other as they come. */
  readonly entries: readonly ListedVersion[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is cut off; a list that goes on behind a prefix has no version id marker. */
  readonly next?: { readonly keyMarker: string; readonly versionIdMarker: string | undefined } | undefined
  /** Every version has the same one. */
  readonly owner: Owner
}

export function listVersionsResult(result: ListVersionsResult): string {
  const { next } = result
  const encode = nameEncoder(result.encodingType)
  let inner = `${element('Name', result.bucket)}<Prefix>${encode(result.prefix)}</Prefix>`
  inner += `<KeyMarker>${encode(result.keyMarker ?? '')}</KeyMarker>`
  inner += element('VersionIdMarker', result.versionIdMarker ?? '')
  if (next !== undefined) inner += `<NextKeyMarker>${encode(next.keyMarker)}</NextKeyMarker>`
  inner += optionalElement('NextVersionIdMarker', next?.versionIdMarker)
  inner += element('MaxKeys', result.maxKeys)
  if (result.delimiter !== undefined) inner += `<Delimiter>${encode(result.delimiter)}</Delimiter>`
  inner += optionalElement('EncodingType', result.encodingType)
  inner += element('IsTruncated', next !== undefined)
  const owner = ownerElement(result.owner)
  for (const entry of result.entries) inner += versionElement(entry, encode, owner)
  inner += commonPrefixElements(result.commonPrefixes, encode)
  return successDocument('ListVersionsResult', inner)
}

function versionElement(entry: ListedVersion, encode: (text: string) => string, owner: string): string {
  const modified = isoTimestamp(entry.lastModifiedMicroseconds)
  const head =
    `<Key>${encode(entry.key)}</Key><VersionId>${escapeXml(entry.versionId)}</VersionId>` +
    `<IsLatest>${entry.isLatest}</IsLatest><LastModified>${modified}</LastModified>`
  if (entry.isMarker) return `<DeleteMarker>${head}${owner}</DeleteMarker>`
  return (
    `<Version>${head}${etagElement(entry.etag)}<Size>${entry.size}</Size>${owner}` +
    '<StorageClass>STANDARD</StorageClass></Version>'
  )
}
