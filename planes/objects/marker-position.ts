import type { OrderedPage, OrderedPosition, OrderedRequest } from '../../projections/ordered-listing.ts'
import { KEY_BYTES_MAXIMUM } from './names.ts'

/** No key begins with a prefix that is longer than a key can be, and the catalog cannot seek to it. */
export const NO_ENTRIES: OrderedPage<never> = { entries: [], prefixes: [], next: undefined }

/**
 * Where a listing with markers goes on: behind one entry of a key, behind all entries of a key, or behind a common
 * prefix, when the key marker is one.
 */
export function markerPosition(
  keyMarker: string | undefined,
  order: number | undefined,
  prefix: string,
  delimiter: string | undefined,
): OrderedPosition | undefined {
  if (keyMarker === undefined) return undefined
  // What a marker holds beyond the longest key cannot decide: every key is before or behind it by its first bytes.
  const bytes = Buffer.from(keyMarker).subarray(0, KEY_BYTES_MAXIMUM + 1)
  if (order !== undefined) return { kind: 'after-entry', bytes, order }
  return { kind: isCommonPrefix(keyMarker, prefix, delimiter) ? 'after-prefix' : 'after-key', bytes }
}

/** Whether the delimiter is found behind the prefix at the very end, and not before: `a/` is a key where `a/` is listed. */
function isCommonPrefix(keyMarker: string, prefix: string, delimiter: string | undefined): boolean {
  if (delimiter === undefined || !keyMarker.startsWith(prefix)) return false
  const at = keyMarker.indexOf(delimiter, prefix.length)
  return at !== -1 && at === keyMarker.length - delimiter.length
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
