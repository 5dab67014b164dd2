import type { BucketId } from '../../engine/brands.ts'
import { KEY_BYTES_MAXIMUM } from '../../engine/domain/names.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'
import type { ListPage, ListPosition } from '../../projections/catalog/object-listing.ts'
import type { OrderedPage, OrderedPosition } from '../../projections/catalog/ordered-listing.ts'
import type { UploadEntry } from '../../projections/catalog/upload-listing.ts'
import type { ListedVersion } from '../../projections/tables/objects.ts'

/** The request for a page of a bucket's listing. */
interface PageRequest<Position> {
  readonly prefix: string
  readonly delimiter: string | undefined
  readonly after: Position | undefined
  /** Maximum number of entries and common prefixes together. */
  readonly entriesMaximum: number
}

const NO_OBJECTS: ListPage = { objects: [], prefixes: [], next: undefined }
const NO_ENTRIES: OrderedPage<never> = { entries: [], prefixes: [], next: undefined }

/** Current objects by key. */
export function objectPage(snapshot: CatalogSnapshot, bucketId: BucketId, page: PageRequest<ListPosition>): ListPage {
  const request = inBytes(page)
  return request === undefined ? NO_OBJECTS : snapshot.list(bucketId, request)
}

/** Versions and delete markers by key, newest first within a key. */
export function versionPage(
  snapshot: CatalogSnapshot,
  bucketId: BucketId,
  page: PageRequest<OrderedPosition>,
): OrderedPage<ListedVersion> {
  const request = inBytes(page)
  return request === undefined ? NO_ENTRIES : snapshot.listVersions(bucketId, request)
}

/** Multipart uploads in progress by key, oldest first within a key. */
export function uploadPage(
  snapshot: CatalogSnapshot,
  bucketId: BucketId,
  page: PageRequest<OrderedPosition>,
): OrderedPage<UploadEntry> {
  const request = inBytes(page)
  return request === undefined ? NO_ENTRIES : snapshot.listUploads(bucketId, request)
}

/** The request for the catalog, in bytes. Undefined for a prefix longer than any key, to which LMDB cannot seek. */
function inBytes<Position>({ prefix, delimiter, after, entriesMaximum }: PageRequest<Position>) {
  const bytes = Buffer.from(prefix)
  if (bytes.length > KEY_BYTES_MAXIMUM) return undefined
  return {
    prefix: bytes,
    delimiter: delimiter === undefined ? undefined : Buffer.from(delimiter),
    after,
    entriesMaximum,
  }
}

/** The position after a key, or after all keys of a common prefix if the marker is one. */
export function positionAfter(marker: string, prefix: string, delimiter: string | undefined): ListPosition {
  return { kind: isCommonPrefix(marker, prefix, delimiter) ? 'after-prefix' : 'after-key', bytes: markerBytes(marker) }
}

/** As `positionAfter`, or after one entry of the key if its order is given. Undefined without a marker. */
export function orderedPositionAfter(
  marker: string | undefined,
  order: number | undefined,
  prefix: string,
  delimiter: string | undefined,
): OrderedPosition | undefined {
  if (marker === undefined) return undefined
  if (order !== undefined) return { kind: 'after-entry', bytes: markerBytes(marker), order }
  return positionAfter(marker, prefix, delimiter)
}

/** The marker cut to the length of the longest key: bytes beyond that do not change the order to any key. */
function markerBytes(marker: string): Buffer {
  return Buffer.from(marker).subarray(0, KEY_BYTES_MAXIMUM + 1)
}

/** Whether the first delimiter after the prefix is at the very end: `a/` is a key where `a/` is listed. */
function isCommonPrefix(marker: string, prefix: string, delimiter: string | undefined): boolean {
  if (delimiter === undefined || !marker.startsWith(prefix)) return false
  const at = marker.indexOf(delimiter, prefix.length)
  return at !== -1 && at === marker.length - delimiter.length
}
