import type { BucketId } from '../../../engine/brands.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import type { ListedVersion as StoredVersion } from '../../../projections/tables/objects.ts'
import { orderOfSequence, sequenceOfOrder } from '../../../projections/tables/version-keys.ts'
import { invalidArgument } from '../errors/s3-errors.ts'
import { listObjectVersionsParameters } from '../request/list-parameters.ts'
import { versionIdsOf } from '../../objects/version-ids.ts'
import { bucketIn, parseVersionId } from '../handling/lookup.ts'
import { orderedPositionAfter, versionPage } from '../../objects/list-pages.ts'
import type { S3Services } from '../handling/services.ts'
import { nextMarkers } from '../documents/listing-elements.ts'
import { type ListedVersion, listVersionsResult } from '../documents/version-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, ListObjectVersions. */
export const listObjectVersions = defineOperation({
  name: 'ListObjectVersions',
  method: 'GET',
  level: 'bucket',
  subresource: 'versions',
  action: 's3:ListBucketVersions',
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.bucket)
    const parameters = listObjectVersionsParameters(request.target.query)
    const { prefix, delimiter, keyMarker, versionIdMarker, maxKeys } = parameters
    const order = markerOrder(snapshot, bucket.id, keyMarker, versionIdMarker, services)
    const after = orderedPositionAfter(keyMarker, order, prefix, delimiter)
    const page = versionPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum: maxKeys })
    const document = listVersionsResult({
      ...parameters,
      bucket: bucket.name,
      entries: listedEntries(page.entries, services),
      commonPrefixes: page.prefixes,
      // The marker after a `null` version contains its order: the id `null` would lose the place once it is replaced.
      next: nextMarkers(page.next, (last) => services.versionIds.encode(sequenceOfOrder(last))),
      owner: services.owner,
      showsChecksums: services.extensions.has('checksums'),
    })
    return xmlResponse(document)
  },
})

/** Copies field by field, which takes a tenth of the time of spreading a thousand entries. */
function listedEntries(entries: readonly StoredVersion[], services: S3Services): ListedVersion[] {
  const ids = versionIdsOf(entries, services.versionIds)
  return entries.map(({ key, isLatest, isMarker, lastModifiedMicroseconds, etag, size, checksum }, index) => ({
    key,
    versionId: ids[index] as string,
    isLatest,
    isMarker,
    lastModifiedMicroseconds,
    etag,
    size,
    checksum,
  }))
}

/**
 * Order of the marker's version among the versions of its key. A version that was deleted meanwhile keeps its order.
 * The `null` version must exist, because its id does not contain the order.
 * @throws S3Error InvalidArgument
 */
function markerOrder(
  snapshot: CatalogSnapshot,
  bucketId: BucketId,
  key: string | undefined,
  id: string | undefined,
  services: S3Services,
): number | undefined {
  if (key === undefined || id === undefined) return undefined
  const version = parseVersionId(id, services)
  const sequence = version === 'null' ? snapshot.version(bucketId, key, version)?.sequence : version
  if (sequence === undefined || sequence === 'unknown') {
    throw invalidArgument('version-id-marker', id, 'Invalid version id specified')
  }
  return orderOfSequence(sequence)
}
