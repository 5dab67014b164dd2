import type { JournalFiles } from '../journal-files.ts'
import { treesOfSegments } from '../segment-pool.ts'
import type { SegmentResult } from '../segment-result.ts'
import type { ProblemList } from '../verdicts.ts'
import type { CheckpointEntry } from './checkpoint-entry.ts'
import type { HandoverEntry } from './handover-entry.ts'
import { KeyInForce } from './key-in-force.ts'
import { CompactRange } from './compact-range.ts'
import { TreeHasher } from './tree-hasher.ts'

const NO_HASH = '0'.repeat(64)

/** A checkpoint that an outside party kept. */
export interface KeptCheckpoint {
  readonly size: number
  /** Of the tree of transparency logs, in hexadecimal. */
  readonly root: string
}

/** Results of checking the checkpoints of a journal. */
export interface CheckpointFindings {
  /** Entries that sign one. */
  readonly count: number
  readonly last: CheckpointEntry | undefined
  /** Hand-overs of the key that signs them, which hold. */
  readonly handovers: readonly HandoverEntry[]
  /** Whether the journal extends the kept checkpoint; undefined without one, or when that could not be computed. */
  readonly extendsKept: boolean | undefined
  /** Sentences about skipped checks. */
  readonly notes: readonly string[]
}

interface Roots {
  readonly root: string
  readonly bundleRoot: string
}

/** A segment, and where its file is. */
interface ReadSegment {
  readonly path: string
  readonly result: SegmentResult
}

/**
 * Checks the checkpoints in the journal (`spec/formats/journal.md`, "Checkpoints"), and that it extends a kept
 * checkpoint. Reads the segments a second time if there are checkpoints: their sizes are known only after all are read.
 * @param isWhole whether the journal is read from its beginning
 * @throws the system's error when a file cannot be read
 */
export async function checkCheckpoints(
  segments: readonly ReadSegment[],
  {
    kept,
    isWhole,
    ...reading
  }: { kept: KeptCheckpoint | undefined; isWhole: boolean; threads: number; files: JournalFiles | undefined },
  problems: ProblemList,
): Promise<CheckpointFindings> {
  const entries = segments.flatMap(({ result }) => result.checkpoints)
  const nextSequence = segments.at(-1)?.result.nextSequence ?? 0
  const fits = entries.filter(({ size, sequence }) => size >= 1 && size <= sequence)
  const isThere = kept !== undefined && kept.size >= 1 && kept.size <= nextSequence
  const sizes = [...fits.map(({ size }) => size), ...(isThere ? [kept.size] : [])]
  const roots = isWhole ? await rootsAt(segments, sizes, reading) : new Map<number, Roots>()
  const keys = new KeyInForce(isWhole)
  let before: CheckpointEntry | undefined
  for (const { result } of segments) {
    const said = [...result.checkpoints, ...result.handovers].toSorted((one, other) => one.sequence - other.sequence)
    for (const entry of said) {
      const { sequence, offset } = entry
      const place = { segment: result.name, offset, sequence }
      if ('newKey' in entry) {
        const fault = keys.handOver(entry, before)
        if (fault !== undefined) problems.add({ ...place, verdict: 'hand-over does not hold', detail: fault })
        continue
      }
      const isFirst = before === undefined && isWhole
      const fault = faultOf(entry, isFirst ? 'none' : before, roots.get(entry.size)) ?? keys.sign(entry)
      if (fault !== undefined) problems.add({ ...place, verdict: 'checkpoint does not hold', detail: fault })
      before = entry
    }
  }
  const unchecked = fits.filter(({ size }) => !roots.has(size)).length
  const why = isWhole ? 'records before them cannot be read' : 'this is not the whole journal'
  const notes = unchecked === 0 ? [] : [`The roots of ${unchecked} checkpoints were not checked: ${why}.`]
  const extendsKept = kept && compareKept(kept, segments, roots.get(kept.size), problems)
  if (kept !== undefined && extendsKept === undefined) {
    notes.push(
      'Whether the journal extends the checkpoint was not checked: the records that it covers cannot all be read.',
    )
  }
  return { count: entries.length, last: before, handovers: keys.handovers, extendsKept, notes }
}

function faultOf(
  { size, sequence, root, bundleRoot, previous, isSigned }: CheckpointEntry,
  before: CheckpointEntry | 'none' | undefined,
  roots: Roots | undefined,
): string | undefined {
  if (size < 1 || size > sequence) return `it covers ${size} records, and ${sequence} are before it`
  if (before === 'none' && previous !== NO_HASH) return 'it names a checkpoint before it, and there is none'
  if (before !== undefined && before !== 'none') {
    if (previous !== before.hash) return `it names another checkpoint before it than ${before.sequence}`
    if (size <= before.sequence) return `it does not cover ${before.sequence}, the checkpoint before it`
  }
  if (!isSigned) return 'its signature is not one of its key over what it says'
  if (roots === undefined) return undefined
  if (roots.root !== root) return `it signs the root ${root}, and the first ${size} records have ${roots.root}`
  if (roots.bundleRoot === bundleRoot) return undefined
  return `it states the bundle root ${bundleRoot}, and the first ${size} records have ${roots.bundleRoot}`
}

function compareKept(
  { size, root }: KeptCheckpoint,
  segments: readonly ReadSegment[],
  roots: Roots | undefined,
  problems: ProblemList,
): boolean | undefined {
  const last = segments.at(-1)?.result
  const nextSequence = last?.nextSequence ?? 0
  if (size > nextSequence) {
    const place = { segment: last?.name ?? 'HEAD', offset: last?.bytes ?? 0, sequence: nextSequence }
    const detail = `the checkpoint that was kept covers ${size} records; the journal has ${nextSequence}`
    problems.add({ ...place, verdict: 'rolled back behind a checkpoint', detail })
    return false
  }
  if (roots === undefined || roots.root === root) return roots && true
  const segment = segments.findLast(({ result }) => result.firstSequence < size)?.result
  const place = { segment: segment?.name ?? 'HEAD', offset: 0, sequence: size - 1 }
  const detail = `the checkpoint that was kept has the root ${root}; the first ${size} records have ${roots.root}`
  problems.add({ ...place, verdict: 'rewritten since a checkpoint', detail })
  return false
}

/** The roots of both trees at sizes, as far as records can be read from the beginning. */
async function rootsAt(
  segments: readonly ReadSegment[],
  sizes: readonly number[],
  { threads, files }: { readonly threads: number; readonly files: JournalFiles | undefined },
): Promise<ReadonlyMap<number, Roots>> {
  const roots = new Map<number, Roots>()
  const ascending = [...new Set(sizes)].toSorted((left, right) => left - right)
  const limit = ascending.at(-1) ?? 0
  const needed = segments.filter(({ result }) => result.firstSequence < limit)
  const jobs = needed.map(({ path, result: { firstSequence, nextSequence } }) => ({
    path,
    firstSequence,
    sizes: ascending.filter((size) => size > firstSequence && size <= nextSequence),
    limit: Math.min(limit, nextSequence),
  }))
  const log = new CompactRange(TreeHasher.log(), 0)
  const bundle = new CompactRange(TreeHasher.bundle(), 0)
  const wanted = new Set(ascending)
  for (const part of (await treesOfSegments(jobs, threads, files)).flat()) {
    // Records after unreadable ones have no root.
    if (part.log.begin !== log.end) break
    log.extend(part.log)
    bundle.extend(part.bundle)
    if (wanted.has(log.end)) roots.set(log.end, { root: log.root(), bundleRoot: bundle.root() })
  }
  return roots
}
