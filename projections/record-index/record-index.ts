import type { Disk } from '../../engine/disk/disk.ts'
import { isUnreadable } from '../../engine/disk/unreadable.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ColdSegmentDamagedError } from '../../engine/journal/cold/cold-segment.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { IndexFile } from './index-file.ts'
import { type IndexHeader, RecordIndexDamagedError } from './index-format.ts'
import { type IndexName, listIndex } from './index-names.ts'
import { headBefore } from './make-index.ts'
import { UNREADABLE } from './terms.ts'

/** A part of the records: what the index says of it, or that it says nothing and the records are to be read. */
export interface IndexPart {
  /** `found`: between two parts no record has the term. */
  readonly kind: 'found' | 'unknown'
  readonly first: number
  readonly following: number
}

/** Found records at most this far apart are one part: to read what is between them costs less than another start. */
const JOINED_RECORDS = 512
/** Records of one part at most. */
const PART_RECORDS = 16_384

/** Paths of files that are known to belong to the journal; there are fewer files. */
const PROVED_MAXIMUM = 1024

/** Of no record. */
const NO_HEAD = new Uint8Array(0)

/** How far the index reaches. */
export interface IndexFacts {
  readonly files: number
  readonly bytes: number
  /** Records that files have. */
  readonly records: number
}

/**
 * The record index: which records name an object, a bucket or a principal, by files of sealed segments. A file that is damaged,
 * or of another journal, says nothing: its records are read instead, and `onDamage` gets its path.
 */
export class RecordIndex {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #onDamage: (path: string, reason: string) => void
  /** Paths of files that belong to the journal. */
  readonly #proved = new Set<string>()

  /** @param onDamage called for each question that meets a damaged file */
  constructor(disk: Disk, paths: StorePaths, onDamage: (path: string, reason: string) => void = () => undefined) {
    this.#disk = disk
    this.#paths = paths
    this.#onDamage = onDamage
  }

  get facts(): IndexFacts {
    const { used } = listIndex(this.#disk, this.#paths)
    return {
      files: used.length,
      bytes: used.reduce((sum, { path }) => sum + this.#disk.sizeOf(path), 0),
      records: used.reduce((sum, { first, following }) => sum + following - first, 0),
    }
  }

  /**
   * The parts of the records from one sequence up to another that may have one of the terms, in the order of the journal. Files
   * are open only between two parts.
   */
  *ascending(terms: readonly number[], from: number, before: number): Generator<IndexPart, void> {
    let at = from
    for (const name of this.#used(before)) {
      if (name.following <= at) continue
      if (name.first >= before) break
      if (name.first > at) yield { kind: 'unknown', first: at, following: name.first }
      const [first, following] = [Math.max(at, name.first), Math.min(before, name.following)]
      at = first
      for (const part of this.#inFile(name, terms, first, following, false)) {
        yield part
        at = part.following
      }
      at = following
    }
    if (at < before) yield { kind: 'unknown', first: at, following: before }
  }

  /** The same, the last part first. */
  *descending(terms: readonly number[], from: number, before: number): Generator<IndexPart, void> {
    let end = before
    for (const name of this.#used(before).toReversed()) {
      if (name.first >= end) continue
      if (name.following <= from) break
      if (name.following < end) yield { kind: 'unknown', first: name.following, following: end }
      const [first, following] = [Math.max(from, name.first), Math.min(end, name.following)]
      yield* this.#inFile(name, terms, first, following, true)
      end = first
    }
    if (end > from) yield { kind: 'unknown', first: from, following: end }
  }

  #used(before: number): readonly IndexName[] {
    return listIndex(this.#disk, this.#paths).used.filter(({ first }) => first < before)
  }

  /** The parts in one file; what is left from where it turns out to be damaged is unknown. */
  *#inFile(
    name: IndexName,
    terms: readonly number[],
    first: number,
    following: number,
    isBackward: boolean,
  ): Generator<IndexPart, void> {
    let [least, most] = [first, following]
    let file: IndexFile | undefined
    try {
      file = this.#open(name)
      const wanted = file.header.unreadable > 0 ? [...terms, UNREADABLE] : terms
      const sequences = wanted.map((term) => {
        return file === undefined ? [] : isBackward ? file.descending(term, following) : file.ascending(term, first)
      })
      for (const part of joined(mergedSequences(sequences, isBackward), first, following)) {
        // All before the part, or after it, has been answered for.
        if (isBackward) most = part.first
        else least = part.following
        yield part
      }
    } catch (error) {
      if (isMissing(error) && file === undefined) {
        // It was put together with others since it was listed.
        yield* isBackward ? this.descending(terms, first, following) : this.ascending(terms, first, following)
        return
      }
      const isDamaged = error instanceof RecordIndexDamagedError || isUnreadable(error)
      if (!isDamaged && !(error instanceof NotProvedError)) throw error
      if (isDamaged) this.#onDamage(name.path, (error as Error).message)
      if (least < most) yield { kind: 'unknown', first: least, following: most }
    } finally {
      file?.close()
    }
  }

  /** @throws RecordIndexDamagedError, NotProvedError, and the disk's errors */
  #open(name: IndexName): IndexFile {
    const file = IndexFile.open(this.#disk, name.path)
    try {
      const { first, last } = file.header
      if (first !== name.first || last.sequence + 1 !== name.following) {
        throw new RecordIndexDamagedError(`${name.path}: it is of other records than its name says`)
      }
      this.#prove(name, file.header)
      return file
    } catch (error) {
      file.close()
      throw error
    }
  }

  /**
   * Makes sure that the record after the last one continues that. It is asked once: the journal is only appended to.
   * @throws RecordIndexDamagedError for a file of another journal, NotProvedError where that record cannot be read
   */
  #prove({ path }: IndexName, header: IndexHeader): void {
    if (this.#proved.has(path)) return
    if (this.#proved.size >= PROVED_MAXIMUM) this.#proved.clear()
    if (!Buffer.from(this.#headBefore(header)).equals(header.last.head)) {
      throw new RecordIndexDamagedError(`${path}: it is of another journal`)
    }
    this.#proved.add(path)
  }

  #headBefore(header: IndexHeader): Uint8Array {
    try {
      const stated = headBefore(this.#disk, this.#paths, header)
      // No batch of that sequence is there: it is not the end of a batch of this journal.
      return stated ?? NO_HEAD
    } catch (error) {
      if (isMissing(error)) return NO_HEAD
      if (!(error instanceof JournalDamagedError || error instanceof ColdSegmentDamagedError)) throw error
    }
    throw new NotProvedError(`record ${header.last.sequence + 1} cannot be read`)
  }
}

/** The journal cannot say whether a file belongs to it. */
class NotProvedError extends Error {
  override readonly name = 'NotProvedError'
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** The sequences of several terms, each once. */
function* mergedSequences(sources: readonly Iterable<number>[], isBackward: boolean): Generator<number, void> {
  const [only] = sources
  if (sources.length === 1 && only !== undefined) {
    yield* only
    return
  }
  const iterators = sources.map((source) => source[Symbol.iterator]())
  const heads = iterators.map((iterator) => iterator.next())
  for (;;) {
    const left = heads.flatMap(({ done, value }) => (done === true ? [] : [value as number]))
    if (left.length === 0) return
    const best = isBackward ? Math.max(...left) : Math.min(...left)
    for (const [index, head] of heads.entries()) {
      if (head.done !== true && head.value === best) heads[index] = (iterators[index] as Iterator<number>).next()
    }
    yield best
  }
}

/** Joins sequences that are near each other, in either order. */
function* joined(sequences: Iterable<number>, first: number, following: number): Generator<IndexPart, void> {
  let [low, high] = [-1, -1]
  for (const sequence of sequences) {
    if (sequence < first || sequence >= following) continue
    if (low === -1) [low, high] = [sequence, sequence]
    const [least, most] = [Math.min(low, sequence), Math.max(high, sequence)]
    const isNear = Math.max(low - sequence, sequence - high) <= JOINED_RECORDS && most - least < PART_RECORDS
    if (isNear) [low, high] = [least, most]
    else {
      yield { kind: 'found', first: low, following: high + 1 }
      ;[low, high] = [sequence, sequence]
    }
  }
  if (low !== -1) yield { kind: 'found', first: low, following: high + 1 }
}
