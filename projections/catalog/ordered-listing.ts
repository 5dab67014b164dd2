import { successor } from '../keys.ts'

/**
 * Lists versions or uploads, of which a key can have many: by key, then in order within the key, seeking past common
 * prefixes. Listings of objects, one for each key, have their own code (object-listing.ts).
 */

/** A place in such a listing. */
export type OrderedPosition =
  | { readonly kind: 'after-key' | 'after-prefix' /** Raw bytes. */; readonly bytes: Buffer }
  /** After one entry of a key, which may have been removed. */
  | { readonly kind: 'after-entry'; readonly bytes: Buffer; readonly order: number }

/** Parameters of a listing. Byte strings are UTF-8. */
export interface OrderedRequest {
  readonly prefix: Buffer
  readonly delimiter: Buffer | undefined
  readonly after: OrderedPosition | undefined
  /** Entries and common prefixes together, at most. */
  readonly entriesMaximum: number
}

/** Entries and common prefixes, each in its own order. */
export interface OrderedPage<E> {
  readonly entries: readonly E[]
  readonly prefixes: readonly string[]
  /** Start of the next page; undefined on the last page. */
  readonly next: OrderedPosition | undefined
}

interface OrderedEntry {
  readonly key: string
  /** Ascends within a key. */
  readonly order: number
}

/** Start of a scan: the first entry of the keys from `bytes` on, and after `afterOrder` within that key. */
export interface ScanStart {
  readonly bytes: Buffer
  readonly afterOrder: number | undefined
}

type Scan<E> = (start: ScanStart, limit: number) => Iterable<E>

function startOf({ prefix, after }: OrderedRequest): ScanStart {
  if (after === undefined) return { bytes: prefix, afterOrder: undefined }
  const start = startAfter(after)
  return Buffer.compare(start.bytes, prefix) < 0 ? { bytes: prefix, afterOrder: undefined } : start
}

function startAfter(after: OrderedPosition): ScanStart {
  switch (after.kind) {
    case 'after-entry':
      return { bytes: after.bytes, afterOrder: after.order }
    case 'after-key':
      return { bytes: Buffer.concat([after.bytes, Buffer.of(0)]), afterOrder: undefined }
    case 'after-prefix':
      // UTF-8 has no byte 0xff, so a prefix always has a successor.
      return { bytes: successor(after.bytes) as Buffer, afterOrder: undefined }
  }
}

/** Takes one page from a scan, seeking past each common prefix. */
export function listOrdered<E extends OrderedEntry>(request: OrderedRequest, scan: Scan<E>): OrderedPage<E> {
  const { entriesMaximum } = request
  const entries: E[] = []
  const prefixes: string[] = []
  /** Where the last common prefix ends, while no entry follows it. */
  let afterPrefix: OrderedPosition | undefined
  let start: ScanStart | undefined = entriesMaximum === 0 ? undefined : startOf(request)
  while (start !== undefined) {
    const from: ScanStart = start
    start = undefined
    for (const entry of scan(from, entriesMaximum - entries.length - prefixes.length + 1)) {
      if (entries.length + prefixes.length === entriesMaximum) {
        return { entries, prefixes, next: afterPrefix ?? afterEntry(entries.at(-1) as E) }
      }
      const prefix = commonPrefix(entry.key, request)
      if (prefix === undefined) {
        entries.push(entry)
        afterPrefix = undefined
        continue
      }
      prefixes.push(prefix)
      afterPrefix = { kind: 'after-prefix', bytes: Buffer.from(prefix) }
      start = startAfter(afterPrefix)
      break
    }
  }
  return { entries, prefixes, next: undefined }
}

function afterEntry({ key, order }: OrderedEntry): OrderedPosition {
  return { kind: 'after-entry', bytes: Buffer.from(key), order }
}

function commonPrefix(key: string, { prefix, delimiter }: OrderedRequest): string | undefined {
  if (delimiter === undefined) return undefined
  const bytes = Buffer.from(key)
  const at = bytes.indexOf(delimiter, prefix.length)
  return at === -1 ? undefined : bytes.toString('utf8', 0, at + delimiter.length)
}
