import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import type { ObjectState } from '../../../engine/state-ports.ts'
import { httpTimestamp } from '../../http/headers/http-date.ts'
import { objectAttributesResult, type ObjectParts } from '../documents/object-attributes.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { requireObject } from '../handling/lookup.ts'
import { defineOperation } from '../handling/operation.ts'
import { attributesAsked, type PartsAsked, partsAsked } from '../request/attributes.ts'
import { versionHeader } from '../handling/version-headers.ts'

/** S3 API reference, GetObjectAttributes. */
export const getObjectAttributes = defineOperation({
  name: 'GetObjectAttributes',
  method: 'GET',
  level: 'object',
  subresource: 'attributes',
  extension: 'checksums',
  action: 's3:GetObjectAttributes',
  besides: ['s3:GetObject'],
  accepts: ['versionId'],
  handle(request, services) {
    const { http, target } = request
    const asked = attributesAsked(http, target)
    const page = partsAsked(http, target)
    const { snapshot, bucket, object } = requireObject(request, services)
    const document = objectAttributesResult({
      etag: asked.has('ETag') ? object.etag : undefined,
      checksum: asked.has('Checksum') ? object.checksum : undefined,
      parts: asked.has('ObjectParts') ? partsOf(snapshot, object, page) : undefined,
      storageClass: asked.has('StorageClass') ? 'STANDARD' : undefined,
      size: asked.has('ObjectSize') ? object.size : undefined,
    })
    const modified = ['last-modified', httpTimestamp(object.modifiedMicroseconds)] as const
    return xmlResponse(document, [modified, ...versionHeader(bucket, object, services)])
  },
})

/**
 * The parts of a multipart object; undefined for an object written by one request. Parts are numbered by their place in
 * the object, as for `partNumber`. As in S3, parts without checksums are only counted, not listed.
 */
function partsOf(
  snapshot: CatalogSnapshot,
  object: ObjectState,
  { after, maximum }: PartsAsked,
): ObjectParts | undefined {
  const location = object.payload === undefined ? undefined : snapshot.payload(object.payload)
  if (location?.kind !== 'parts') return undefined
  const { parts } = location
  const { checksum } = object
  if (checksum === undefined || parts.checksum(0) === undefined) return { count: parts.count, page: undefined }
  const end = Math.max(after, Math.min(parts.count, after + maximum))
  const listed = Array.from({ length: end - after }, (_, index) => ({
    number: after + index + 1,
    size: parts.size(after + index),
    checksum: parts.checksum(after + index),
  }))
  const next = end < parts.count && end > after ? end : undefined
  return { count: parts.count, page: { after, maximum, next, algorithm: checksum.algorithm, listed } }
}
