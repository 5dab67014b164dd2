import { type Sequence, sequenceOf } from '../../brands.ts'
import type { Disk } from '../../disk/disk.ts'
import { type StorePaths, segmentName } from '../../disk/store-paths.ts'
import { JournalDamagedError } from '../journal-errors.ts'
import { scanOneSegment } from '../read-journal.ts'
import { segmentFirsts } from '../segment.ts'
import { factsOrFault, linkFault, type SegmentFacts } from '../segment-chain.ts'

/** A sealed segment that a start cannot read, and does not need: everything in it is applied. */
export interface SegmentGap {
  readonly first: Sequence
  /** The first record after it. */
  readonly following: Sequence
  /** What is wrong with it. */
  readonly fault: string
  /** SHA-256 of its bytes before the seal, as the segment after it states. */
  readonly contentDigest: Uint8Array
}

/** Segments in order, up to the first that does not continue the one before; `broken` says why. */
interface LinkedSegments {
  readonly segments: readonly SegmentFacts[]
  readonly gaps: readonly SegmentGap[]
  readonly broken: string | undefined
}

/**
 * Reads header and seal of every segment, and nothing between: enough to know that the files belong together. Replay and
 * `journal verify` check their content.
 *
 * A segment whose header, seal or index cannot be read is bridged when nothing of it is needed any more and the segment after it is
 * sound: that one states the digest and the last hash of the segment, and its records continue this hash.
 * @param applied the last record that the projections have; segments that end after it are needed
 */
export function readLinkedSegments(disk: Disk, paths: StorePaths, applied: Sequence | undefined): LinkedSegments {
  const segments: SegmentFacts[] = []
  const gaps: SegmentGap[] = []
  const firsts = segmentFirsts(disk, paths)
  for (const [index, first] of firsts.entries()) {
    const name = segmentName(first)
    const following = firsts[index + 1]
    const found = factsOrFault(disk, paths.segment(first))
    let facts = found
    const isApplied = following !== undefined && applied !== undefined && applied >= following - 1
    const own = readFault(found)
    if (own !== undefined && isApplied) {
      const isNextOpen = index + 2 === firsts.length
      const bridged = bridge(disk, paths, { first, following, isNextOpen, before: segments.at(-1), found })
      if (typeof bridged === 'string') return { segments, gaps, broken: `${name}: ${own}, and ${bridged}` }
      facts = bridged
      gaps.push({ first, following, fault: own, contentDigest: bridged.sealed.seal.contentDigest })
    }
    const unread = following === undefined && typeof facts === 'object' ? undefined : readFault(facts)
    if (unread !== undefined || typeof facts === 'string') return { segments, gaps, broken: `${name}: ${unread}` }
    const fault = linkFault(segments.at(-1), facts, first)
    if (fault !== undefined) return { segments, gaps, broken: `${name}: ${fault}` }
    segments.push(facts)
  }
  return { segments, gaps, broken: undefined }
}

/** What is wrong with a segment that another one follows, by itself. */
function readFault(facts: SegmentFacts | string): string | undefined {
  if (typeof facts === 'string') return facts
  return facts.sealed === undefined ? 'its seal is damaged' : undefined
}

interface Bridged {
  readonly first: Sequence
  readonly following: Sequence
  /** Whether the segment after it is the last one. */
  readonly isNextOpen: boolean
  readonly before: SegmentFacts | undefined
  /** What can be read of it. */
  readonly found: SegmentFacts | string
}

type SealedFacts = SegmentFacts & { readonly sealed: NonNullable<SegmentFacts['sealed']> }

/** The facts of a segment as its neighbours state them; or why they cannot. */
function bridge(
  disk: Disk,
  paths: StorePaths,
  { first, following, isNextOpen, before, found }: Bridged,
): SealedFacts | string {
  const next = factsOrFault(disk, paths.segment(following))
  if (typeof next === 'string') return `${segmentName(following)}, which states what it must be, is damaged too`
  const unproved = chainFault(disk, paths, next, isNextOpen)
  if (unproved !== undefined)
    return `${segmentName(following)}, which states what it must be, is damaged too: ${unproved}`
  const { segmentNumber, firstBatch, chainHead, previousDigest, createdMicroseconds, deploymentId } = next.header
  const own = typeof found === 'string' ? undefined : found
  const header = own?.header ?? {
    segmentNumber: segmentNumber - 1,
    firstSequence: first,
    firstBatch: before?.sealed === undefined ? 0 : before.sealed.batch + 1,
    createdMicroseconds: before?.header.createdMicroseconds ?? createdMicroseconds,
    deploymentId,
    chainHead: before?.sealed?.hash ?? Buffer.alloc(chainHead.length),
    previousDigest: before?.sealed?.seal.contentDigest ?? Buffer.alloc(previousDigest.length),
  }
  // Where the seal began is not known; `linkFault` compares the two lengths and nothing else.
  const size = own?.size ?? 0
  const seal = {
    segmentNumber: header.segmentNumber,
    firstSequence: header.firstSequence,
    lastSequence: sequenceOf(following - 2),
    lengthBytes: size,
    contentDigest: previousDigest,
  }
  const sealed = { seal, hash: chainHead, batch: firstBatch - 1, offset: size }
  return { path: paths.segment(first), header, size, isCold: own?.isCold ?? false, sealed }
}

/** Why the records of a segment are no chain from the hash that its header states; the open one is read by the caller anyway. */
function chainFault(
  disk: Disk,
  paths: StorePaths,
  { header, sealed }: SegmentFacts,
  isOpen: boolean,
): string | undefined {
  if (sealed === undefined) return isOpen ? undefined : 'its seal is damaged'
  try {
    const { end, chain } = scanOneSegment(disk, paths, header.firstSequence, {})
    if (end.end !== 'sealed') return `offset ${end.offset}: ${end.reason}`
    return chain.head.equals(sealed.hash) ? undefined : 'its records do not lead to its seal'
  } catch (error) {
    if (error instanceof JournalDamagedError) return error.message
    throw error
  }
}

/**
 * The gap of a genesis that cannot be read, in a segment that is sound at both ends.
 * @param gaps that are known
 * @throws JournalDamagedError when something of that segment is still needed
 */
export function withGenesisGap(
  disk: Disk,
  paths: StorePaths,
  fault: string | undefined,
  { gaps, applied }: { readonly gaps: readonly SegmentGap[]; readonly applied: Sequence | undefined },
): readonly SegmentGap[] {
  if (fault === undefined || gaps.some(({ first }) => first === 0)) return gaps
  const [first, following] = segmentFirsts(disk, paths)
  const facts = first === undefined ? undefined : factsOrFault(disk, paths.segment(first))
  const isApplied = following !== undefined && applied !== undefined && applied >= following - 1
  if (first === undefined || typeof facts !== 'object' || facts.sealed === undefined || !isApplied) {
    throw new JournalDamagedError(fault)
  }
  return [{ first, following, fault, contentDigest: facts.sealed.seal.contentDigest }, ...gaps]
}
