import { orderOfSequence } from '../../../projections/tables/version-keys.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { markerPosition, NO_ENTRIES, orderedRequest } from '../../objects/marker-position.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { versionIdOf, versionOf } from '../object-lookup.ts'
import { integerParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { requireBucket } from './buckets.ts'
import { listedObjectRecord, listedVersionRecord } from './object-records.ts'

const LIMIT = { minimum: 1, maximum: 1000, standard: 100 } as const

/** What both listings take: `after` is the last key or common prefix of the page before. */
function pageOf({ query }: ManagementRequest): {
  readonly prefix: string
  readonly delimiter: string | undefined
  readonly after: string | undefined
} {
  const prefix = query.get('prefix') ?? ''
  return { prefix, delimiter: query.get('delimiter') || undefined, after: query.get('after') || undefined }
}

/** A page of current objects, by key; common prefixes stand beside them. */
export function listObjects(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const bucket = requireBucket(request, services)
  const limit = integerParameter(request, 'limit', LIMIT)
  const { prefix, delimiter, after } = pageOf(request)
  const position = markerPosition(after, undefined, prefix, delimiter)
  const wanted = orderedRequest(prefix, delimiter, undefined, limit)
  const page =
    wanted === undefined
      ? { objects: [], prefixes: [], next: undefined }
      : services.catalog.list(bucket.id, {
          prefix: wanted.prefix,
          delimiter: wanted.delimiter,
          after: position?.kind === 'after-entry' ? undefined : position,
          entriesMaximum: limit,
        })
  return jsonResponse(200, {
    objects: page.objects.map(listedObjectRecord),
    prefixes: page.prefixes,
    next_after: page.next?.bytes.toString() ?? null,
  })
}

/** A page of versions and delete markers, by key, newest first within a key. */
export function listObjectVersions(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const bucket = requireBucket(request, services)
  const limit = integerParameter(request, 'limit', LIMIT)
  const { prefix, delimiter, after } = pageOf(request)
  const order = orderOf(request, bucket.id, after, services)
  const wanted = orderedRequest(prefix, delimiter, markerPosition(after, order, prefix, delimiter), limit)
  const page = wanted === undefined ? NO_ENTRIES : services.catalog.listVersions(bucket.id, wanted)
  const last = page.entries.at(-1)
  return jsonResponse(200, {
    versions: page.entries.map((entry) => listedVersionRecord(entry, services)),
    prefixes: page.prefixes,
    next_after: page.next?.bytes.toString() ?? null,
    next_after_version_id: page.next?.kind === 'after-entry' && last !== undefined ? versionIdOf(last, services) : null,
  })
}

function orderOf(
  { query }: ManagementRequest,
  bucketId: number,
  key: string | undefined,
  services: ManagementServices,
): number | undefined {
  const id = query.get('after_version_id')
  if (id === undefined) return undefined
  if (key === undefined) throw invalid('after_version_id', 'stands only beside after')
  const version = versionOf(id, services)
  const sequence = version === 'null' ? services.catalog.version(bucketId, key, version)?.sequence : version
  if (sequence === undefined) throw new ManagementError('VERSION_NOT_FOUND')
  return orderOfSequence(sequence)
}
