import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { RECORD_KIND, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { JournalCursor } from '../audit/journal-cursor.ts'
import { damageOfGap, damageText } from '../audit/journal-damage.ts'
import { JournalRange } from '../audit/journal-range.ts'
import { RecordFrames } from '../audit/record-frames.ts'
import { PieceMemory } from '../audit/segment-pieces.ts'
import { serverTurns } from '../audit/turns.ts'
import { type IndexPart, RecordIndex } from '../record-index/record-index.ts'
import { termOfCreated, termsOfObject } from '../record-index/terms.ts'
import { entryOf, namedIn, type NamingRecord, noteBuckets, type RangeSearch, SHOWN_MAXIMUM } from './search-range.ts'

interface IndexedReport {
  readonly found: number
  /** The first of them. */
  readonly first: readonly NamingRecord[]
  /** Records that were read: those that the index names, and those that it does not know. */
  readonly read: number
}

/**
 * Searches a range of records by the record index: only records that it names are read, and those that it does not know. A
 * record that is found names the object; absence depends on the files of the index.
 * @throws JournalDamagedError where a record that must be read cannot be
 */
export async function searchIndexed(disk: Disk, paths: StorePaths, search: RangeSearch): Promise<IndexedReport> {
  const index = new RecordIndex(disk, paths)
  const reader = new PartReader(disk, paths)
  const bucketIds = new Set<number>()
  const before = search.to + 1
  for (const part of index.ascending([termOfCreated(search.bucket)], 0, before)) {
    await reader.read(part, (sequence, body) => noteBuckets(entryOf(sequence, body).changes, search.bucket, bucketIds))
  }
  const first: NamingRecord[] = []
  let found = 0
  const terms = termsOfObject(search.bucket, search.key, bucketIds)
  for (const part of index.ascending(terms, search.from, before)) {
    await reader.read(part, (sequence, body) => {
      const entry = entryOf(sequence, body)
      if (!namedIn(entry, search, bucketIds)) return
      found += 1
      if (first.length < SHOWN_MAXIMUM) first.push({ sequence, operation: entry.operation, result: entry.result })
    })
  }
  return { found, first, read: reader.count }
}

/** After every segment, so that each is read to its end. */
const AFTER_ALL = { segmentFirstSequence: sequenceOf(Number.MAX_SAFE_INTEGER), offset: 0 }

/** Reads parts of the journal, of which no place but the segment is known. */
class PartReader {
  /** Records that were read. */
  count = 0
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #segments: readonly Sequence[]
  readonly #memory = new PieceMemory()

  constructor(disk: Disk, paths: StorePaths) {
    this.#disk = disk
    this.#paths = paths
    this.#segments = segmentFirsts(disk, paths)
  }

  async read({ first, following }: IndexPart, visit: (sequence: Sequence, body: Buffer) => void): Promise<void> {
    const begun = this.#segments.findLastIndex((segment) => segment <= first)
    const segments = this.#segments.slice(Math.max(0, begun)).filter((segment) => segment < following)
    const beginning = { segmentFirstSequence: segments[0] ?? sequenceOf(0), offset: SEGMENT_HEADER.bytes }
    const cursor = new JournalCursor(this.#disk, this.#paths, serverTurns, beginning, AFTER_ALL, this.#memory, segments)
    const range = new JournalRange(cursor, sequenceOf(first), sequenceOf(following), 'at wanted', true)
    try {
      for (let step = await range.next(); step !== undefined; step = await range.next()) {
        if (step.kind === 'gap') throw new JournalDamagedError(damageText(damageOfGap(step)))
        const frames = new RecordFrames(step.bytes, step.header)
        while (frames.next()) {
          if (frames.sequence < first || frames.sequence >= following) continue
          this.count += 1
          if (frames.kind === RECORD_KIND.change || frames.kind === RECORD_KIND.audit)
            visit(frames.sequence, frames.body)
        }
      }
    } finally {
      range.close()
    }
  }
}
