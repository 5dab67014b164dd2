import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { Change } from '../../engine/events/changes.ts'
import { decodeEntry, type Entry } from '../../engine/events/entry-codec.ts'
import { isObjectMeant, objectsOfRecord } from '../../engine/events/record-objects.ts'
import { HASH_BYTES, RECORD_KIND } from '../../engine/journal/format.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { readJournal } from '../../engine/journal/read-journal.ts'
import { TREE_PIECE_BYTES } from './tree-files.ts'
import { TreeTails } from './tree-tails.ts'

/** An object to search for, and the sequences of records to search, both included. */
export interface RangeSearch {
  readonly bucket: string
  readonly key: string
  readonly from: number
  readonly to: number
}

/** A record that names the object. */
export interface NamingRecord {
  readonly sequence: number
  readonly operation: string
  readonly result: string
}

interface SearchReport {
  /** Records that were read: `size` of them, or fewer when the journal has no more. */
  readonly records: number
  /** Root of the tree of RFC 6962 over the records; undefined for no records. */
  readonly root: Buffer | undefined
  readonly found: number
  /** The first of them. */
  readonly first: readonly NamingRecord[]
}

/** Records that a report shows. */
export const SHOWN_MAXIMUM = 100

/** Everything that the checkpoint covers was read. */
class EnoughRead extends Error {
  override readonly name = 'EnoughRead'
}

/**
 * Reads the first `size` records of a journal, and searches a range of them for records that name an object: as the
 * resource, in the metadata, or in a change, by any bucket that ever had the name. Whether they are the records of a
 * checkpoint is for the caller to judge by the root.
 * @throws JournalDamagedError
 */
export function searchRange(disk: Disk, paths: StorePaths, size: number, search: RangeSearch): SearchReport {
  const tails = new TreeTails()
  const piece = Buffer.alloc(TREE_PIECE_BYTES)
  const bucketIds = new Set<number>()
  const first: NamingRecord[] = []
  let [records, length, found] = [0, 0, 0]
  const flush = () => {
    if (length > 0) tails.append(piece.subarray(0, length))
    length = 0
  }
  const visitor = {
    record: ({ kind, sequence, body, hash }: { kind: number; sequence: Sequence; body: Buffer; hash: Buffer }) => {
      if (sequence >= size) throw new EnoughRead()
      hash.copy(piece, length)
      length += HASH_BYTES
      records += 1
      if (length === piece.length) flush()
      if (kind !== RECORD_KIND.change && kind !== RECORD_KIND.audit) return
      const entry = entryOf(sequence, body)
      noteBuckets(entry.changes, search.bucket, bucketIds)
      if (sequence < search.from || sequence > search.to || !namedIn(entry, search, bucketIds)) return
      found += 1
      if (first.length < SHOWN_MAXIMUM) {
        first.push({ sequence, operation: entry.operation, result: entry.result })
      }
    },
    batch: () => undefined,
  }
  try {
    readJournal(disk, paths, undefined, visitor, sequenceOf(size))
  } catch (error) {
    if (!(error instanceof EnoughRead)) throw error
  }
  flush()
  return { records, root: records > 0 ? tails.root('log') : undefined, found, first }
}

/**
 * @throws JournalDamagedError for a body that is not an entry: the objects that it names are unknown, so absence is not
 *   proved
 */
export function entryOf(sequence: Sequence, body: Buffer): Entry {
  try {
    return decodeEntry(Buffer.from(body))
  } catch (error) {
    throw new JournalDamagedError(`record ${sequence}: the body is not an entry; run journal verify`, { cause: error })
  }
}

/** Ids of buckets that ever had the name: a bucket may be deleted, and another be made under its name. */
export function noteBuckets(changes: readonly Change[], bucket: string, ids: Set<number>): void {
  for (const change of changes) {
    if (change.name === 'bucket.created' && change.bucket === bucket) ids.add(change.bucketId)
  }
}

/** Whether an entry names the object: as the resource, in the metadata, or in a change. */
export function namedIn(
  { resource, metadata, changes }: Entry,
  { bucket, key }: RangeSearch,
  ids: ReadonlySet<number>,
): boolean {
  if (objectsOfRecord(resource, metadata).some((object) => isObjectMeant(object, { bucket, key }))) return true
  return changes.some((change) => {
    const mentioned = { texts: new Set<unknown>(), bucketIds: new Set<unknown>() }
    collect(change, mentioned)
    return mentioned.texts.has(key) && [...ids].some((id) => mentioned.bucketIds.has(id))
  })
}

/** Every text and every id of a bucket in a change, at any depth: a kind of change that is added later is searched as well. */
function collect(value: unknown, mentioned: { readonly texts: Set<unknown>; readonly bucketIds: Set<unknown> }): void {
  if (typeof value === 'string') mentioned.texts.add(value)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  for (const [name, part] of Object.entries(value)) {
    if (name === 'bucketId') mentioned.bucketIds.add(part)
    else collect(part, mentioned)
  }
}
