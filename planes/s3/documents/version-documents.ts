/** The document of ListObjectVersions. Names and order of elements follow the S3 API reference. */

import type { Microseconds } from '../../../engine/brands.ts'
import type { UploadChecksum } from '../../../engine/events/values.ts'
import { checksumKindElements } from './checksum-elements.ts'
import {
  commonPrefixElements,
  etagElement,
  nameEncoder,
  type NextMarkers,
  optionalElement,
  type Owner,
  ownerElement,
} from './listing-elements.ts'
import type { ListObjectVersionsParameters } from '../request/list-parameters.ts'
import { isoTimestamp } from '../text/timestamps.ts'
import { element, escapeXml, successDocument } from '../text/xml-writer.ts'

/** A version or a delete marker. */
export interface ListedVersion {
  readonly key: string
  /** External version id: `null` or an opaque text. */
  readonly versionId: string
  readonly isLatest: boolean
  /** Whether it is a delete marker, which has no ETag and size. */
  readonly isMarker: boolean
  readonly lastModifiedMicroseconds: Microseconds
  /** Without quotes. */
  readonly etag: string
  readonly size: number
  readonly checksum: UploadChecksum | undefined
}

/** The parameters are echoed. */
interface ListVersionsResult extends ListObjectVersionsParameters {
  readonly bucket: string
  /** By key, newest first; versions and delete markers mixed. */
  readonly entries: readonly ListedVersion[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is cut off. */
  readonly next: NextMarkers | undefined
  /** The owner of every version. */
  readonly owner: Owner
  readonly showsChecksums: boolean
}

export function listVersionsResult(result: ListVersionsResult): string {
  const { next } = result
  const encode = nameEncoder(result.encodingType)
  let inner = `${element('Name', result.bucket)}<Prefix>${encode(result.prefix)}</Prefix>`
  inner += `<KeyMarker>${encode(result.keyMarker ?? '')}</KeyMarker>`
  inner += element('VersionIdMarker', result.versionIdMarker ?? '')
  if (next !== undefined) inner += `<NextKeyMarker>${encode(next.keyMarker)}</NextKeyMarker>`
  inner += optionalElement('NextVersionIdMarker', next?.idMarker)
  inner += element('MaxKeys', result.maxKeys)
  if (result.delimiter !== undefined) inner += `<Delimiter>${encode(result.delimiter)}</Delimiter>`
  inner += optionalElement('EncodingType', result.encodingType)
  inner += element('IsTruncated', next !== undefined)
  const owner = ownerElement(result.owner)
  for (const entry of result.entries) inner += versionElement(entry, encode, owner, result.showsChecksums)
  inner += commonPrefixElements(result.commonPrefixes, encode)
  return successDocument('ListVersionsResult', inner)
}

function versionElement(
  entry: ListedVersion,
  encode: (text: string) => string,
  owner: string,
  showsChecksums: boolean,
): string {
  const modified = isoTimestamp(entry.lastModifiedMicroseconds)
  const head =
    `<Key>${encode(entry.key)}</Key><VersionId>${escapeXml(entry.versionId)}</VersionId>` +
    `<IsLatest>${entry.isLatest}</IsLatest><LastModified>${modified}</LastModified>`
  if (entry.isMarker) return `<DeleteMarker>${head}${owner}</DeleteMarker>`
  return (
    `<Version>${head}${etagElement(entry.etag)}${showsChecksums ? checksumKindElements(entry.checksum) : ''}` +
    `<Size>${entry.size}</Size>${owner}` +
    '<StorageClass>STANDARD</StorageClass></Version>'
  )
}
