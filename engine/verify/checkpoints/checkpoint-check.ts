import type { JournalFiles } from '../journal-files.ts'
import type { ProblemList } from '../verdicts.ts'
import type { CheckpointEntry } from './checkpoint-entry.ts'
import type { HandoverEntry } from './handover-entry.ts'
import { KeyInForce } from './key-in-force.ts'
import { type JournalTrees, type ReadSegment, type Roots, treesOfJournal } from './journal-trees.ts'
import type { VerifiedHistory } from './verified-history.ts'

const NO_TREES: JournalTrees = { roots: new Map(), tops: undefined }
const NO_HASH = '0'.repeat(64)

/** A checkpoint that an outside party kept. */
export interface KeptCheckpoint {
  readonly size: number
  /** Of the tree of transparency logs, in hexadecimal. */
  readonly root: string
}

/** An earlier verification, which this one continues. */
export interface Since {
  readonly state: VerifiedHistory
  /** Public key that signed its checkpoint, in hexadecimal; undefined when that was not asked for. */
  readonly signer: string | undefined
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
  /** Root of all records, in hexadecimal; undefined when it was not asked for, or not all can be read. */
  readonly root: string | undefined
  /** What the trees are before the last record of the kept checkpoint, where that is asked for. */
  readonly tops: JournalTrees['tops']
  /** Sentences about skipped checks. */
  readonly notes: readonly string[]
}

/**
 * Checks the checkpoints in the journal (`spec/formats/journal.md`, "Checkpoints"), and that it extends a kept
 * checkpoint. Reads the segments a second time if there are checkpoints: their sizes are known only after all are read.
 * @param options `isWhole`: whether the journal is read from its beginning; `knownUntil`: the first sequence of a record that
 *   this verifier does not know, after which an entry may follow what is in it
 * @throws the system's error when a file cannot be read
 */
export async function checkCheckpoints(
  segments: readonly ReadSegment[],
  {
    kept,
    since,
    isWhole,
    knownUntil,
    ...reading
  }: {
    kept: KeptCheckpoint | undefined
    since: Since | undefined
    isWhole: boolean
    knownUntil: number
    threads: number
    files: JournalFiles | undefined
  },
  problems: ProblemList,
): Promise<CheckpointFindings> {
  const entries = segments.flatMap(({ result }) => result.checkpoints)
  const nextSequence = segments.at(-1)?.result.nextSequence ?? 0
  const fits = entries.filter(({ size, sequence }) => size >= 1 && size <= sequence)
  const isThere = kept !== undefined && kept.size >= 1 && kept.size <= nextSequence
  const stated = [...fits.map(({ size }) => size), ...(isThere ? [kept.size] : [])]
  const sizes = stated.length > 0 || since !== undefined ? [...stated, nextSequence] : []
  const asked = { sizes, topsAt: isThere ? kept.size - 1 : -1, since: since?.state, ...reading }
  const { roots, tops } = isWhole || since ? await treesOfJournal(segments, asked) : NO_TREES
  let keys = new KeyInForce(isWhole)
  let before: CheckpointEntry | undefined
  for (const { result } of segments) {
    const said = [...result.checkpoints, ...result.handovers].toSorted((one, other) => one.sequence - other.sequence)
    for (const entry of said) {
      const { sequence, offset } = entry
      const place = { segment: result.name, offset, sequence }
      const mayFollow = isWhole && sequence < knownUntil
      if (sequence >= knownUntil) {
        keys = new KeyInForce(false, keys.handovers)
        before = undefined
      }
      // Who signed the checkpoint of an earlier verification signs what comes after it, until it hands over.
      if (since?.signer !== undefined && sequence >= since.state.size && sequence < knownUntil)
        keys.expect(since.signer)
      if ('newKey' in entry) {
        const fault = keys.handOver(entry, before)
        if (fault !== undefined) problems.add({ ...place, verdict: 'hand-over does not hold', detail: fault })
        continue
      }
      const isFirst = before === undefined && mayFollow
      const fault = faultOf(entry, isFirst ? 'none' : before, roots.get(entry.size)) ?? keys.sign(entry)
      if (fault !== undefined) problems.add({ ...place, verdict: 'checkpoint does not hold', detail: fault })
      before = entry
    }
  }
  const verifiedBefore = since?.state.size ?? 0
  const unchecked = fits.filter(({ size }) => size >= verifiedBefore && !roots.has(size)).length
  const why = isWhole ? 'records before them cannot be read' : 'this is not the whole journal'
  const notes = unchecked === 0 ? [] : [`The roots of ${unchecked} checkpoints were not checked: ${why}.`]
  const extendsKept = kept && compareKept(kept, segments, roots.get(kept.size), problems)
  if (kept !== undefined && extendsKept === undefined) {
    notes.push(
      'Whether the journal extends the checkpoint was not checked: the records that it covers cannot all be read.',
    )
  }
  return {
    count: entries.length,
    last: entries.at(-1),
    handovers: keys.handovers,
    extendsKept,
    root: roots.get(nextSequence)?.root,
    tops,
    notes,
  }
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
