import type { SegmentResult } from './segment-result.ts'
import type { ProblemList, Verdict } from './verdicts.ts'

const ZERO_HASH = '0'.repeat(64)

/** What a segment must continue: the end of the segment before it. */
type Predecessor = Pick<
  SegmentResult,
  'nextSequence' | 'nextBatchNumber' | 'lastHash' | 'lastTime' | 'statedDigest'
> & {
  readonly nextSegmentNumber: number | undefined
}

/** The start of a journal, which continues nothing. */
const BEGINNING: Predecessor = {
  nextSequence: 0,
  nextSegmentNumber: 0,
  nextBatchNumber: 0,
  lastHash: ZERO_HASH,
  lastTime: 0,
  statedDigest: ZERO_HASH,
}

/**
 * Adds the problems of all segments, and of the links between them, to a list, in the order of the journal.
 * @param segments in the order of the journal
 * @param fromBeginning true when the first segment must be the beginning of the journal
 * @param deploymentId that every segment must state
 */
export function linkSegments(
  segments: readonly SegmentResult[],
  fromBeginning: boolean,
  deploymentId: string | undefined,
  problems: ProblemList,
): void {
  let predecessor: Predecessor | undefined = fromBeginning ? BEGINNING : undefined
  for (const segment of segments) {
    const report = (sequence: number, verdict: Verdict, detail: string): void =>
      problems.add({ segment: segment.name, offset: 0, sequence, verdict, detail })
    if (predecessor !== undefined) compareWithPredecessor(segment, predecessor, report)
    if (segment.header !== undefined && segment.header.deploymentId !== deploymentId) {
      const detail = `the segment is of deployment ${segment.header.deploymentId}, the journal of ${deploymentId}`
      report(segment.firstSequence, 'damaged batch', detail)
    }
    problems.addAll(segment.problems, segment.problemCount)
    const { segmentNumber } = segment
    predecessor = { ...segment, nextSegmentNumber: segmentNumber === undefined ? undefined : segmentNumber + 1 }
  }
}

function compareWithPredecessor(
  segment: SegmentResult,
  before: Predecessor,
  report: (sequence: number, verdict: Verdict, detail: string) => void,
): void {
  const sequence = segment.firstSequence
  if (sequence !== before.nextSequence) {
    const detail =
      sequence > before.nextSequence
        ? `sequences ${before.nextSequence} to ${sequence - 1} are missing before this segment`
        : `the segment begins with sequence ${sequence}; expected was ${before.nextSequence}`
    // Where a segment is missing, number, hash and digest cannot match: one report is enough.
    return report(before.nextSequence, 'record is missing from the log', detail)
  }
  const links: readonly (readonly [
    Verdict,
    string,
    stated: string | number | undefined,
    before: string | number | undefined,
  ])[] = [
    ['damaged batch', 'segment number', segment.segmentNumber, before.nextSegmentNumber],
    ['damaged batch', 'first batch number', segment.firstBatchNumber, before.nextBatchNumber],
    ['broken link to the previous record', 'chain head', segment.firstPreviousHash, before.lastHash],
    ['broken link to the previous record', 'content digest', segment.header?.previousDigest, before.statedDigest],
  ]
  for (const [verdict, name, stated, expected] of links) {
    if (stated === undefined || expected === undefined || stated === expected) continue
    report(sequence, verdict, `the ${name} of the segment is ${stated}; the segment before makes it ${expected}`)
  }
  if (segment.firstTime !== undefined && segment.firstTime < before.lastTime) {
    const detail = `the time ${segment.firstTime} is before ${before.lastTime}, the time of a record before`
    report(sequence, 'damaged batch', detail)
  }
}
