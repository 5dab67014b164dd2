/** The XML documents of successful answers. Names and order of elements follow the S3 API reference. */

import type { Microseconds } from '../../../engine/brands.ts'
import type { ObjectChecksum, UploadChecksum } from '../../../engine/events/values.ts'
import { checksumElement, checksumKindElements, objectChecksumElements } from './checksum-elements.ts'
import {
  commonPrefixElements,
  etagElement,
  nameEncoder,
  optionalElement,
  type Owner,
  ownerElement,
} from './listing-elements.ts'
import type { ListObjectsParameters, ListObjectsV2Parameters } from '../request/list-parameters.ts'
import { isoTimestamp } from '../text/timestamps.ts'
import { element, escapeXml, successDocument } from '../text/xml-writer.ts'

export interface ListedBucket {
  readonly name: string
  readonly createdMicroseconds: Microseconds
}

export interface ListBucketsResult {
  readonly owner: Owner
  readonly buckets: readonly ListedBucket[]
  /** Given when the list is truncated. */
  readonly continuationToken?: string | undefined
  readonly prefix?: string | undefined
}

export function listBucketsResult(result: ListBucketsResult): string {
  let buckets = ''
  for (const bucket of result.buckets) {
    const created = isoTimestamp(bucket.createdMicroseconds)
    buckets += `<Bucket>${element('Name', bucket.name)}<CreationDate>${created}</CreationDate></Bucket>`
  }
  const rest =
    optionalElement('ContinuationToken', result.continuationToken) +
    optionalElement('Prefix', result.prefix || undefined)
  return successDocument('ListAllMyBucketsResult', `${ownerElement(result.owner)}<Buckets>${buckets}</Buckets>${rest}`)
}

export interface ListedObject {
  readonly key: string
  readonly lastModifiedMicroseconds: Microseconds
  /** Without quotes. */
  readonly etag: string
  readonly size: number
  readonly checksum: UploadChecksum | undefined
}

/** The parameters are echoed. */
interface ListObjectsResult extends ListObjectsParameters {
  readonly bucket: string
  readonly contents: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is truncated: the last key or common prefix. */
  readonly next: string | undefined
  /** The owner of every object. */
  readonly owner: Owner
  readonly showsChecksums: boolean
}

/** The answer to ListObjects. Without a delimiter, S3 has no NextMarker: the last key is the next marker. */
export function listObjectsResult(result: ListObjectsResult): string {
  const { delimiter, next } = result
  const encode = nameEncoder(result.encodingType)
  let inner = `${element('Name', result.bucket)}<Prefix>${encode(result.prefix)}</Prefix>`
  inner += `<Marker>${encode(result.marker ?? '')}</Marker>`
  if (next !== undefined && delimiter !== undefined) inner += `<NextMarker>${encode(next)}</NextMarker>`
  inner += element('MaxKeys', result.maxKeys)
  if (delimiter !== undefined) inner += `<Delimiter>${encode(delimiter)}</Delimiter>`
  inner += optionalElement('EncodingType', result.encodingType)
  inner += element('IsTruncated', next !== undefined)
  const owner = ownerElement(result.owner)
  for (const object of result.contents) inner += contentsElement(object, encode, owner, result.showsChecksums)
  inner += commonPrefixElements(result.commonPrefixes, encode)
  return successDocument('ListBucketResult', inner)
}

/** The parameters are echoed. */
export interface ListObjectsV2Result extends ListObjectsV2Parameters {
  readonly bucket: string
  readonly contents: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is truncated: where the next page starts. */
  readonly nextContinuationToken: string | undefined
  /** Shown when the request asked for owners; every object has the same one. */
  readonly owner: Owner
  readonly showsChecksums: boolean
}

export function listObjectsV2Result(result: ListObjectsV2Result): string {
  const encode = nameEncoder(result.encodingType)
  let inner = `${element('Name', result.bucket)}<Prefix>${encode(result.prefix)}</Prefix>`
  if (result.startAfter !== undefined) inner += `<StartAfter>${encode(result.startAfter)}</StartAfter>`
  inner += optionalElement('ContinuationToken', result.continuationToken)
  inner += element('KeyCount', result.contents.length + result.commonPrefixes.length)
  inner += element('MaxKeys', result.maxKeys)
  if (result.delimiter !== undefined) inner += `<Delimiter>${encode(result.delimiter)}</Delimiter>`
  inner += optionalElement('EncodingType', result.encodingType)
  inner += element('IsTruncated', result.nextContinuationToken !== undefined)
  inner += optionalElement('NextContinuationToken', result.nextContinuationToken)
  const owner = result.fetchOwner ? ownerElement(result.owner) : ''
  for (const object of result.contents) inner += contentsElement(object, encode, owner, result.showsChecksums)
  inner += commonPrefixElements(result.commonPrefixes, encode)
  return successDocument('ListBucketResult', inner)
}

function contentsElement(
  object: ListedObject,
  encode: (text: string) => string,
  owner: string,
  showsChecksums: boolean,
): string {
  const modified = isoTimestamp(object.lastModifiedMicroseconds)
  return (
    `<Contents><Key>${encode(object.key)}</Key><LastModified>${modified}</LastModified>` +
    `${etagElement(object.etag)}${showsChecksums ? checksumKindElements(object.checksum) : ''}` +
    `<Size>${object.size}</Size>${owner}` +
    '<StorageClass>STANDARD</StorageClass></Contents>'
  )
}

/**
 * The result document of a copy.
 * @param etag without quotes
 */
export function copyResult(
  name: 'CopyObjectResult' | 'CopyPartResult',
  lastModifiedMicroseconds: Microseconds,
  etag: string,
  checksum?: ObjectChecksum,
): string {
  const modified = element('LastModified', isoTimestamp(lastModifiedMicroseconds))
  return successDocument(name, modified + etagElement(etag) + copiedChecksum(name, etag, checksum))
}

/** The result of UploadPartCopy has no ChecksumType: the checksum of a part always covers its bytes. */
function copiedChecksum(name: string, etag: string, checksum: ObjectChecksum | undefined): string {
  if (checksum === undefined || name === 'CopyObjectResult') return objectChecksumElements(checksum, etag)
  return checksumElement(checksum.algorithm, checksum.value)
}

/** The answer to GetBucketLocation. S3 spells us-east-1 as an empty element. */
export function locationConstraint(region: string): string {
  return successDocument('LocationConstraint', region === 'us-east-1' ? '' : escapeXml(region))
}
