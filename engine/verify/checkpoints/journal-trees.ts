import type { JournalFiles } from '../journal-files.ts'
import { treesOfSegments } from '../threads/segment-pool.ts'
import type { SegmentResult } from '../segment-result.ts'
import { emptyTrees, topsOf, treesOfHistory, type TwoTrees, type VerifiedHistory } from './verified-history.ts'

/** Roots of both trees, in hexadecimal. */
export interface Roots {
  readonly root: string
  readonly bundleRoot: string
}

/** A segment, and where its file is. */
export interface ReadSegment {
  readonly path: string
  readonly result: SegmentResult
}

/** The trees of a journal at some sizes. */
export interface JournalTrees {
  /** By size, as far as records can be read without a gap. */
  readonly roots: ReadonlyMap<number, Roots>
  /** The tops at the size that was asked for, as the state of a verification has them. */
  readonly tops: Pick<VerifiedHistory, 'tops' | 'bundleTops'> | undefined
}

interface Asked {
  readonly sizes: readonly number[]
  /** Size of which the tops are wanted; below 0: none. */
  readonly topsAt: number
  /** What an earlier verification came to. Records that it covers are not read. */
  readonly since: VerifiedHistory | undefined
  readonly threads: number
  readonly files: JournalFiles | undefined
}

/** Makes the trees of the records of a journal. @throws the system's error when a file cannot be read */
export async function treesOfJournal(
  segments: readonly ReadSegment[],
  { sizes, topsAt, since, threads, files }: Asked,
): Promise<JournalTrees> {
  const roots = new Map<number, Roots>()
  const wanted = new Set([...sizes, topsAt])
  const trees = since === undefined ? emptyTrees() : treesOfHistory(since)
  const begin = trees.log.end
  let tops = topsAt === begin ? topsIn(trees) : undefined
  if (since !== undefined && topsAt === since.size - 1) tops = { tops: since.tops, bundleTops: since.bundleTops }
  if (begin > 0) roots.set(begin, rootsIn(trees))
  const ascending = [...wanted].filter((size) => size > begin).toSorted((left, right) => left - right)
  for (const part of (await treesOfSegments(jobsFor(segments, ascending, begin), threads, files)).flat()) {
    // Records after unreadable ones have no root.
    if (part.log.begin !== trees.log.end) break
    trees.log.extend(part.log)
    trees.bundle.extend(part.bundle)
    if (trees.log.end > begin && wanted.has(trees.log.end)) roots.set(trees.log.end, rootsIn(trees))
    if (trees.log.end === topsAt) tops = topsIn(trees)
  }
  return { roots, tops }
}

function jobsFor(segments: readonly ReadSegment[], ascending: readonly number[], begin: number) {
  const limit = ascending.at(-1) ?? 0
  return segments
    .filter(({ result }) => result.firstSequence < limit && result.nextSequence > begin)
    .map(({ path, result: { firstSequence, nextSequence } }) => ({
      path,
      firstSequence,
      from: Math.max(firstSequence, begin),
      sizes: ascending.filter((size) => size > firstSequence && size <= nextSequence),
      limit: Math.min(limit, nextSequence),
    }))
}

function rootsIn({ log, bundle }: TwoTrees): Roots {
  return { root: log.root(), bundleRoot: bundle.root() }
}

function topsIn({ log, bundle }: TwoTrees): JournalTrees['tops'] {
  return { tops: topsOf(log), bundleTops: topsOf(bundle) }
}
