import type { OrderedPage, OrderedPosition, OrderedRequest } from '../../projections/ordered-listing.ts'
import { KEY_BYTES_MAXIMUM } from './object-key.ts'

/** No key begins with a prefix that is longer than a key can be, and the catalog cannot seek to it. */
export const NO_ENTRIES: OrderedPage<never> = { entries: [], prefixes: [], next: undefined }

/**
 * Where a listing with markers goes on: behind one entry of a key, behind all entries of a key, or behind a common
 * prefix, which is what a key marker is that ends with the delimiter.
 */
export function markerPosition(
  keyMarker: string | undefined,
  order: number | undefined,
  delimiter: string | undefined,
): OrderedPosition | undefined {
  if (keyMarker === undefined) return undefined
  // What a marker holds beyond the longest key cannot decide: every key is before or behind it by its first bytes.
  const bytes = Buffer.from(keyMarker).subarray(0, KEY_BYTES_MAXIMUM + 1)
  if (order !== undefined) return { kind: 'after-entry', bytes, order }
  if (delimiter !== undefined && keyMarker.endsWith(delimiter)) return { kind: 'after-prefix', bytes }
  return { kind: 'after-key', bytes }
}

/** What the catalog is asked for; undefined when there can be nothing. */
export function orderedRequest(
  prefix: string,
  delimiter: string | undefined,
  after: OrderedPosition | undefined,
  entriesMaximum: number,
): OrderedRequest | undefined {
  const bytes = Buffer.from(prefix)
  if (bytes.length > KEY_BYTES_MAXIMUM) return undefined
  const separator = delimiter === undefined ? undefined : Buffer.from(delimiter)
  return { prefix: bytes, delimiter: separator, after, entriesMaximum }
}
