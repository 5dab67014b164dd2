import type { ListPage, ListPosition } from '../../../projections/object-listing.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { decodeContinuationToken, encodeContinuationToken } from '../continuation-token.ts'
import { listObjectsV2Parameters } from '../list-parameters.ts'
import { requireBucket } from '../lookup.ts'
import { KEY_BYTES_MAXIMUM } from '../../objects/names.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { listObjectsV2Result } from '../xml-documents.ts'
import { xmlResponse } from '../xml-response.ts'

/** No key begins with a prefix that is longer than a key can be, and the catalog cannot seek to it. */
const NO_KEYS: ListPage = { objects: [], prefixes: [], next: undefined }

/** S3 API reference, ListObjectsV2. */
export function listObjectsV2(request: S3Request, services: S3Services): HttpResponse {
  const bucket = requireBucket(request, services)
  const parameters = listObjectsV2Parameters(request.target.query)
  const { prefix, delimiter, maxKeys, continuationToken, startAfter } = parameters
  const prefixBytes = Buffer.from(prefix)
  const wanted = {
    prefix: prefixBytes,
    delimiter: delimiter === undefined ? undefined : Buffer.from(delimiter),
    after: positionOf(continuationToken, startAfter, services.tokenKey, bucket.id),
    entriesMaximum: maxKeys,
  }
  const page = prefixBytes.length > KEY_BYTES_MAXIMUM ? NO_KEYS : services.catalog.list(bucket.id, wanted)
  const next = page.next && encodeContinuationToken(services.tokenKey, bucket.id, page.next)
  const document = listObjectsV2Result({
    bucket: bucket.name,
    prefix,
    delimiter,
    startAfter,
    continuationToken,
    maxKeys,
    encodingType: parameters.encodingType,
    contents: page.objects,
    commonPrefixes: page.prefixes,
    nextContinuationToken: next,
    owner: parameters.fetchOwner ? services.owner : undefined,
  })
  return xmlResponse(200, document)
}

/**
 * A continuation token wins over start-after; an empty one is the first page. What a start-after holds beyond the
 * longest key cannot decide: every key is before or behind it by its first bytes.
 */
function positionOf(
  token: string | undefined,
  startAfter: string | undefined,
  tokenKey: Buffer,
  bucketId: number,
): ListPosition | undefined {
  if (token !== undefined && token !== '') return decodeContinuationToken(tokenKey, bucketId, token)
  if (startAfter === undefined) return undefined
  return { kind: 'after-key', bytes: Buffer.from(startAfter).subarray(0, KEY_BYTES_MAXIMUM) }
}
