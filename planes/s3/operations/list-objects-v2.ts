import type { BucketId } from '../../../engine/brands.ts'
import type { ListPosition } from '../../../projections/catalog/object-listing.ts'
import { decodeContinuationToken, encodeContinuationToken } from '../request/continuation-token.ts'
import { listObjectsV2Parameters } from '../request/list-parameters.ts'
import { bucketIn } from '../handling/lookup.ts'
import { objectPage } from '../../objects/list-pages.ts'
import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { listObjectsV2Result } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, ListObjectsV2. */
export const listObjectsV2 = defineOperation({
  name: 'ListObjectsV2',
  method: 'GET',
  level: 'bucket',
  action: 's3:ListBucket',
  mark: { query: 'list-type', value: '2' },
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.bucket)
    const parameters = listObjectsV2Parameters(request.target.query)
    const { prefix, delimiter, maxKeys, continuationToken, startAfter } = parameters
    const after = positionOf(continuationToken, startAfter, services.tokenKey, bucket.id)
    const page = objectPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum: maxKeys })
    const next = page.next && encodeContinuationToken(services.tokenKey, bucket.id, page.next)
    const document = listObjectsV2Result({
      ...parameters,
      bucket: bucket.name,
      contents: page.objects,
      commonPrefixes: page.prefixes,
      nextContinuationToken: next,
      owner: services.owner,
      showsChecksums: services.extensions.has('checksums'),
    })
    return xmlResponse(document)
  },
})

/**
 * The position of the page. A continuation token overrides start-after; an empty token means the first page. Bytes of
 * start-after beyond the longest key do not change the order to any key.
 */
function positionOf(
  token: string | undefined,
  startAfter: string | undefined,
  tokenKey: Buffer,
  bucketId: BucketId,
): ListPosition | undefined {
  if (token !== undefined && token !== '') return decodeContinuationToken(tokenKey, bucketId, token)
  if (startAfter === undefined) return undefined
  return { kind: 'after-key', bytes: Buffer.from(startAfter).subarray(0, KEY_BYTES_MAXIMUM) }
}
