import type { BucketId } from '../../../engine/brands.ts'
import { orderOfSequence } from '../../../projections/tables/version-keys.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { objectPage, orderedPositionAfter, positionAfter, versionPage } from '../../objects/list-pages.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { bucketIn, versionOf } from '../object-lookup.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { queryNumber, queryText } from '../schemas/query.ts'
import { FLAG, listOf, object, orNull, TIME, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { listedObjectRecord, listedVersionRecord } from './object-records.ts'

const PAGE_QUERY = {
  prefix: queryText,
  delimiter: queryText,
  limit: queryNumber(100, { minimum: 1, maximum: 1000 }),
  after: queryText,
}

const PAGE_OPTIONS = {
  prefix: 'only keys that begin with this',
  delimiter: 'group keys up to this text',
  limit: 'only one page, with this many entries, 1 to 1000',
  after: 'continue after this key',
} as const

/** The parameters of both listings; `after` is the last key or common prefix of the previous page. */
function pageOf(request: { query(name: 'prefix' | 'delimiter' | 'after'): string | undefined }) {
  return {
    prefix: request.query('prefix') ?? '',
    delimiter: request.query('delimiter') || undefined,
    after: request.query('after') || undefined,
  }
}

const listObjects = defineRoute({
  pattern: 'GET /buckets/{bucket}/objects',
  roles: EVERYONE,
  summary: 'A page of the objects of a bucket.',
  query: PAGE_QUERY,
  answer: {
    200: json(
      object({
        objects: listOf(object({ key: text(), size: whole(), etag: text(), created_at: TIME })),
        prefixes: listOf(text()),
        next_after: orNull(text()),
      }),
    ),
  },
  /** Current objects by key, and common prefixes. */
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const entriesMaximum = request.query('limit')
    const { prefix, delimiter, after: marker } = pageOf(request)
    const after = marker === undefined ? undefined : positionAfter(marker, prefix, delimiter)
    const page = objectPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum })
    return jsonResponse(200, {
      objects: page.objects.map(listedObjectRecord),
      prefixes: page.prefixes,
      next_after: page.next?.bytes.toString() ?? null,
    })
  },
  command: command('object list', 'list the objects of a bucket', {
    arguments: { bucket: 'text' },
    options: PAGE_OPTIONS,
    show: { page: 'objects', columns: ['key', 'size', 'created_at', 'etag'] },
  }),
})

const listObjectVersions = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-versions',
  roles: EVERYONE,
  summary: 'A page of the versions and delete markers of a bucket.',
  query: { ...PAGE_QUERY, after_version_id: queryText },
  answer: {
    200: json(
      object({
        versions: listOf(
          object({
            key: text(),
            version_id: text(),
            is_latest: FLAG,
            delete_marker: FLAG,
            size: orNull(whole()),
            etag: orNull(text()),
            created_at: TIME,
          }),
        ),
        prefixes: listOf(text()),
        next_after: orNull(text()),
        next_after_version_id: orNull(text()),
      }),
    ),
  },
  errors: ['VERSION_NOT_FOUND'],
  /** By key, and newest first within a key. */
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const entriesMaximum = request.query('limit')
    const { prefix, delimiter, after: marker } = pageOf(request)
    const order = orderOf(request.query('after_version_id'), snapshot, bucket.id, marker, services)
    const after = orderedPositionAfter(marker, order, prefix, delimiter)
    const page = versionPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum })
    const last = page.entries.at(-1)
    return jsonResponse(200, {
      versions: page.entries.map((entry) => listedVersionRecord(entry, services)),
      prefixes: page.prefixes,
      next_after: page.next?.bytes.toString() ?? null,
      next_after_version_id:
        page.next?.kind === 'after-entry' && last !== undefined ? versionIdOf(last, services.versionIds) : null,
    })
  },
  command: command('object versions', 'list the versions and delete markers of a bucket', {
    arguments: { bucket: 'text' },
    options: { ...PAGE_OPTIONS, 'after-version-id': 'continue after this version of --after' },
    show: { page: 'versions', columns: ['key', 'version_id', 'is_latest', 'delete_marker', 'size', 'created_at'] },
  }),
})

/**
 * The order, within its key, of the version after which a page starts; undefined without an id.
 * @throws ManagementError INVALID_REQUEST without a key, VERSION_NOT_FOUND
 */
export function orderOf(
  id: string | undefined,
  snapshot: CatalogSnapshot,
  bucketId: BucketId,
  key: string | undefined,
  services: ManagementServices,
): number | undefined {
  if (id === undefined) return undefined
  if (key === undefined) throw invalid('after_version_id', 'is allowed only with after')
  const version = versionOf(id, services)
  const sequence = version === 'null' ? snapshot.version(bucketId, key, version)?.sequence : version
  if (sequence === undefined) throw new ManagementError('VERSION_NOT_FOUND')
  return orderOfSequence(sequence)
}

export const OBJECT_LIST_ROUTES: readonly Route[] = [listObjects, listObjectVersions]
