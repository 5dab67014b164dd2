/** The documents of multipart uploads. Names and order of elements follow the S3 API reference. */

import type { Microseconds } from '../../../engine/brands.ts'
import type { ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import { checksumElement, checksumKindElements, objectChecksumElements } from './checksum-elements.ts'
import {
  commonPrefixElements,
  etagElement,
  nameEncoder,
  type NextMarkers,
  optionalElement,
  type Owner,
  ownerElement,
} from './listing-elements.ts'
import type { ListMultipartUploadsParameters } from '../request/list-parameters.ts'
import { isoTimestamp } from '../text/timestamps.ts'
import { element, escapeXml, successDocument } from '../text/xml-writer.ts'

const STORAGE_CLASS = '<StorageClass>STANDARD</StorageClass>'

export function initiateMultipartUploadResult(bucket: string, key: string, uploadId: string): string {
  const inner = element('Bucket', bucket) + element('Key', key) + element('UploadId', uploadId)
  return successDocument('InitiateMultipartUploadResult', inner)
}

interface CompleteMultipartUploadResult {
  /** The URL of the object. */
  readonly location: string
  readonly bucket: string
  readonly key: string
  /** Without quotes. */
  readonly etag: string
  readonly checksum: ObjectChecksum | undefined
}

export function completeMultipartUploadResult(result: CompleteMultipartUploadResult): string {
  const inner = element('Location', result.location) + element('Bucket', result.bucket) + element('Key', result.key)
  const checksum = objectChecksumElements(result.checksum, result.etag)
  return successDocument('CompleteMultipartUploadResult', inner + etagElement(result.etag) + checksum)
}

interface ListedPart {
  readonly number: number
  readonly lastModifiedMicroseconds: Microseconds
  /** Without quotes. */
  readonly etag: string
  readonly size: number
  /** Checksum with the algorithm that the upload asked for. */
  readonly checksum: Uint8Array | undefined
}

interface ListPartsResult {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
  /** Shown as owner and initiator. */
  readonly owner: Owner
  /** The checksum that the upload asked for. */
  readonly checksum: UploadChecksum | undefined
  readonly partNumberMarker: number
  readonly maxParts: number
  /** By number. */
  readonly parts: readonly ListedPart[]
  /** Given when the list is truncated: the number of its last part. */
  readonly nextPartNumberMarker?: number | undefined
}

export function listPartsResult(result: ListPartsResult): string {
  let inner = element('Bucket', result.bucket) + element('Key', result.key) + element('UploadId', result.uploadId)
  inner += ownerElement(result.owner, 'Initiator') + ownerElement(result.owner) + STORAGE_CLASS
  inner += element('PartNumberMarker', result.partNumberMarker)
  inner += optionalElement('NextPartNumberMarker', result.nextPartNumberMarker)
  inner += element('MaxParts', result.maxParts)
  inner += element('IsTruncated', result.nextPartNumberMarker !== undefined)
  inner += checksumKindElements(result.checksum)
  for (const part of result.parts) inner += partElement(part, result.checksum)
  return successDocument('ListPartsResult', inner)
}

function partElement(part: ListedPart, asked: UploadChecksum | undefined): string {
  const modified = isoTimestamp(part.lastModifiedMicroseconds)
  const isSummed = asked !== undefined && part.checksum !== undefined
  const checksum = isSummed ? checksumElement(asked.algorithm, part.checksum) : ''
  return (
    `<Part><PartNumber>${part.number}</PartNumber><LastModified>${modified}</LastModified>` +
    `${etagElement(part.etag)}<Size>${part.size}</Size>${checksum}</Part>`
  )
}

interface ListedUpload {
  readonly key: string
  readonly uploadId: string
  readonly initiatedMicroseconds: Microseconds
  readonly checksum: UploadChecksum | undefined
}

/** The parameters are echoed. */
interface ListMultipartUploadsResult extends ListMultipartUploadsParameters {
  readonly bucket: string
  /** By key, then by the time of creation. */
  readonly uploads: readonly ListedUpload[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is cut off. */
  readonly next: NextMarkers | undefined
  /** Shown as owner and initiator of every upload. */
  readonly owner: Owner
}

export function listMultipartUploadsResult(result: ListMultipartUploadsResult): string {
  const { next } = result
  const encode = nameEncoder(result.encodingType)
  let inner = `${element('Bucket', result.bucket)}<KeyMarker>${encode(result.keyMarker ?? '')}</KeyMarker>`
  inner += element('UploadIdMarker', result.uploadIdMarker ?? '')
  if (next !== undefined) inner += `<NextKeyMarker>${encode(next.keyMarker)}</NextKeyMarker>`
  inner += optionalElement('NextUploadIdMarker', next?.idMarker)
  inner += `<Prefix>${encode(result.prefix)}</Prefix>`
  if (result.delimiter !== undefined) inner += `<Delimiter>${encode(result.delimiter)}</Delimiter>`
  inner += optionalElement('EncodingType', result.encodingType)
  inner += element('MaxUploads', result.maxUploads)
  inner += element('IsTruncated', next !== undefined)
  const people = ownerElement(result.owner, 'Initiator') + ownerElement(result.owner) + STORAGE_CLASS
  for (const upload of result.uploads) inner += uploadElement(upload, encode, people)
  inner += commonPrefixElements(result.commonPrefixes, encode)
  return successDocument('ListMultipartUploadsResult', inner)
}

function uploadElement(upload: ListedUpload, encode: (text: string) => string, people: string): string {
  const initiated = isoTimestamp(upload.initiatedMicroseconds)
  return (
    `<Upload><Key>${encode(upload.key)}</Key><UploadId>${escapeXml(upload.uploadId)}</UploadId>${people}` +
    `<Initiated>${initiated}</Initiated>${checksumKindElements(upload.checksum)}</Upload>`
  )
}
