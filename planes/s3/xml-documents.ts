/** The XML documents of successful answers. Element names and their order are those of the S3 API reference. */

import { isoTimestamp } from './timestamps.ts'
import { encodeUri } from './uri-encoding.ts'
import { element, escapeXml, successDocument } from './xml-writer.ts'

export interface Owner {
  readonly id: string
  readonly displayName: string
}

export interface ListedBucket {
  readonly name: string
  readonly createdMicroseconds: number
}

export interface ListBucketsResult {
  readonly owner: Owner
  readonly buckets: readonly ListedBucket[]
  /** Given when the list goes on. */
  readonly continuationToken?: string | undefined
  readonly prefix?: string | undefined
}

export function listBucketsResult(result: ListBucketsResult): string {
  let buckets = ''
  for (const bucket of result.buckets) {
    const created = isoTimestamp(bucket.createdMicroseconds)
    buckets += `<Bucket>${element('Name', bucket.name)}<CreationDate>${created}</CreationDate></Bucket>`
  }
  const rest = optional('ContinuationToken', result.continuationToken) + optional('Prefix', result.prefix || undefined)
  return successDocument('ListAllMyBucketsResult', `${ownerElement(result.owner)}<Buckets>${buckets}</Buckets>${rest}`)
}

export interface ListedObject {
  readonly key: string
  readonly lastModifiedMicroseconds: number
  /** Without quotes. */
  readonly etag: string
  readonly size: number
}

export interface ListObjectsV2Result {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter?: string | undefined
  readonly startAfter?: string | undefined
  /** The token of the request, to be echoed. */
  readonly continuationToken?: string | undefined
  readonly maxKeys: number
  readonly encodingType?: 'url' | undefined
  readonly contents: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  /** Given when the list is cut off; where it goes on. */
  readonly nextContinuationToken?: string | undefined
  /** Given when the request asked for owners; every object has the same one. */
  readonly owner?: Owner | undefined
}

export function listObjectsV2Result(result: ListObjectsV2Result): string {
  const encode = result.encodingType === 'url' ? encodeName : escapeXml
  let inner = `${element('Name', result.bucket)}<Prefix>${encode(result.prefix)}</Prefix>`
  if (result.startAfter !== undefined) inner += `<StartAfter>${encode(result.startAfter)}</StartAfter>`
  inner += optional('ContinuationToken', result.continuationToken)
  inner += element('KeyCount', result.contents.length + result.commonPrefixes.length)
  inner += element('MaxKeys', result.maxKeys)
  if (result.delimiter !== undefined) inner += `<Delimiter>${encode(result.delimiter)}</Delimiter>`
  inner += optional('EncodingType', result.encodingType)
  inner += element('IsTruncated', result.nextContinuationToken !== undefined)
  inner += optional('NextContinuationToken', result.nextContinuationToken)
  const owner = result.owner === undefined ? '' : ownerElement(result.owner)
  for (const object of result.contents) inner += contentsElement(object, encode, owner)
  for (const prefix of result.commonPrefixes) {
    inner += `<CommonPrefixes><Prefix>${encode(prefix)}</Prefix></CommonPrefixes>`
  }
  return successDocument('ListBucketResult', inner)
}

function contentsElement(object: ListedObject, encode: (text: string) => string, owner: string): string {
  const modified = isoTimestamp(object.lastModifiedMicroseconds)
  return (
    `<Contents><Key>${encode(object.key)}</Key><LastModified>${modified}</LastModified>` +
    `<ETag>&quot;${escapeXml(object.etag)}&quot;</ETag><Size>${object.size}</Size>${owner}` +
    '<StorageClass>STANDARD</StorageClass></Contents>'
  )
}

/** Percent-encoded text holds nothing that XML would want escaped. */
function encodeName(text: string): string {
  return encodeUri(text, true)
}

/** @param etag without quotes */
export function copyObjectResult(lastModifiedMicroseconds: number, etag: string): string {
  const modified = element('LastModified', isoTimestamp(lastModifiedMicroseconds))
  return successDocument('CopyObjectResult', `${modified}<ETag>&quot;${escapeXml(etag)}&quot;</ETag>`)
}

/** The answer to GetBucketLocation. S3 spells us-east-1 as an empty element. */
export function locationConstraint(region: string): string {
  return successDocument('LocationConstraint', region === 'us-east-1' ? '' : escapeXml(region))
}

function ownerElement(owner: Owner): string {
  return `<Owner>${element('ID', owner.id)}${element('DisplayName', owner.displayName)}</Owner>`
}

function optional(name: string, text: string | undefined): string {
  return text === undefined ? '' : element(name, text)
}
