import { successor } from './keys.ts'

/**
 * Listing what a key can have many of (versions, uploads): by key, then in order within the key, with common prefixes
 * found by seeking behind them. ListObjectsV2, where a key has one object, has its own (catalog-reader.ts).
 */

/** A place in such a listing. */
export type OrderedPosition =
  | { readonly kind: 'after-key' | 'after-prefix' /** Raw bytes. */; readonly bytes: Buffer }
  /** Behind one entry of a key, which need not be there any more. */
  | { readonly kind: 'after-entry'; readonly bytes: Buffer; readonly order: number }

/** What is asked for. Byte strings are UTF-8. */
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
  /** Where the next page begins; undefined when this is the last one. */
  readonly next: OrderedPosition | undefined
}

/** What an entry must tell of itself. */
export interface OrderedEntry {
  readonly key: string
  /** Ascends within a key. */
  readonly order: number
}

/** Where a scan begins: at the first entry of the keys from `bytes` on, and behind `afterOrder` within that very key. */
export interface ScanStart {
  readonly bytes: Buffer
  readonly afterOrder: number | undefined
}

export type Scan<E> = (start: ScanStart, limit: number) => Iterable<E>

function startOf({ prefix, after }: OrderedRequest): ScanStart {
  if (after === undefined) return { bytes: prefix, afterOrder: undefined }
  const start = startBehind(after)
  return Buffer.compare(start.bytes, prefix) < 0 ? { bytes: prefix, afterOrder: undefined } : start
}

function startBehind(after: OrderedPosition): ScanStart {
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

/** Takes one page from a scan, seeking behind each common prefix. */
export function listOrdered<E extends OrderedEntry>(request: OrderedRequest, scan: Scan<E>): OrderedPage<E> {
  const { entriesMaximum } = request
  const entries: E[] = []
  const prefixes: string[] = []
  /** Where the last common prefix ends, when nothing stands behind it yet. */
  let behindPrefix: OrderedPosition | undefined
  let start: ScanStart | undefined = entriesMaximum === 0 ? undefined : startOf(request)
  while (start !== undefined) {
    const from: ScanStart = start
    start = undefined
    for (const entry of scan(from, entriesMaximum - entries.length - prefixes.length + 1)) {
      if (entries.length + prefixes.length === entriesMaximum) {
        return { entries, prefixes, next: behindPrefix ?? behindEntry(entries.at(-1) as E) }
      }
      const prefix = commonPrefix(entry.key, request)
      if (prefix === undefined) {
        entries.push(entry)
        behindPrefix = undefined
        continue
      }
      prefixes.push(prefix)
      behindPrefix = { kind: 'after-prefix', bytes: Buffer.from(prefix) }
      start = startBehind(behindPrefix)
      break
    }
  }
  return { entries, prefixes, next: undefined }
}

function behindEntry({ key, order }: OrderedEntry): OrderedPosition {
  return { kind: 'after-entry', bytes: Buffer.from(key), order }
}

function commonPrefix(key: string, { prefix, delimiter }: OrderedRequest): string | undefined {
  if (delimiter === undefined) return undefined
  const bytes = Buffer.from(key)
  const at = bytes.indexOf(delimiter, prefix.length)
  return at === -1 ? undefined : bytes.toString('utf8', 0, at + delimiter.length)
}
