/** The document of GetObjectAttributes. Names and order of elements follow the S3 API reference. */

import type { ChecksumAlgorithm, ObjectChecksum } from '../../../engine/events/values.ts'
import { element, escapeXml, successDocument } from '../text/xml-writer.ts'
import { checksumElement } from './checksum-elements.ts'
import { typeName } from '../request/checksums.ts'
import { optionalElement } from './listing-elements.ts'

/** The parts of an object. */
export interface ObjectParts {
  /** Number of all parts. */
  readonly count: number
  readonly page: PartsPage | undefined
}

interface PartsPage {
  /** The page starts after this part. */
  readonly after: number
  readonly maximum: number
  /** Given when the list is truncated: the number of its last part. */
  readonly next: number | undefined
  readonly algorithm: ChecksumAlgorithm
  readonly listed: readonly {
    readonly number: number
    readonly size: number
    readonly checksum: Uint8Array | undefined
  }[]
}

/** The requested attributes that the object has. */
interface ObjectAttributes {
  /** Without quotes. */
  readonly etag: string | undefined
  readonly checksum: ObjectChecksum | undefined
  readonly parts: ObjectParts | undefined
  readonly storageClass: string | undefined
  readonly size: number | undefined
}

/** As in S3, the ETag has no quotes here, and a composite checksum no number of parts. */
export function objectAttributesResult({ etag, checksum, parts, storageClass, size }: ObjectAttributes): string {
  let inner = etag === undefined ? '' : `<ETag>${escapeXml(etag)}</ETag>`
  if (checksum !== undefined) {
    const type = element('ChecksumType', typeName(checksum))
    inner += `<Checksum>${checksumElement(checksum.algorithm, checksum.value)}${type}</Checksum>`
  }
  if (parts !== undefined) inner += partsElement(parts)
  inner += optionalElement('StorageClass', storageClass) + optionalElement('ObjectSize', size)
  return successDocument('GetObjectAttributesResponse', inner)
}

function partsElement({ count, page }: ObjectParts): string {
  let inner = element('PartsCount', count)
  if (page === undefined) return `<ObjectParts>${inner}</ObjectParts>`
  inner += element('PartNumberMarker', page.after) + optionalElement('NextPartNumberMarker', page.next)
  inner += element('MaxParts', page.maximum) + element('IsTruncated', page.next !== undefined)
  for (const part of page.listed) {
    const checksum = part.checksum === undefined ? '' : checksumElement(page.algorithm, part.checksum)
    inner += `<Part>${element('PartNumber', part.number)}${element('Size', part.size)}${checksum}</Part>`
  }
  return `<ObjectParts>${inner}</ObjectParts>`
}
