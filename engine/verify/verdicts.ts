/**
 * The verdicts of `spec/formats/journal.md`, section "Verdicts". A torn tail is not among them: it is a note about the open
 * segment and not a problem.
 */
export type Verdict =
  | 'content changed'
  | 'broken link to the previous record'
  | 'record is missing from the log'
  | 'damaged batch'
  | 'acknowledged entries lost'
  | 'change without its attempt'
  | 'access not authenticated'
  | 'forbidden value'
  | 'checkpoint does not hold'
  | 'hand-over does not hold'
  | 'rolled back behind a checkpoint'
  | 'rewritten since a checkpoint'

/** One thing that is wrong, and where. */
export interface Problem {
  /** File name of the segment. */
  readonly segment: string
  /** Byte offset in that file of the header, batch or record concerned. */
  readonly offset: number
  /** Sequence of the record concerned; of a batch, its first; of a gap, the first missing. */
  readonly sequence: number
  readonly verdict: Verdict
  /** One sentence for a person: the found and the expected value. */
  readonly detail: string
}

/** Problems kept in full; the rest is only counted, so that a destroyed journal cannot exhaust memory. */
export const PROBLEMS_KEPT_MAXIMUM = 1_000

/** A bounded list of problems in the order they were found. */
export class ProblemList {
  readonly kept: Problem[] = []
  /** All problems, including those no longer kept. */
  count = 0

  add(problem: Problem): void {
    this.count += 1
    if (this.kept.length < PROBLEMS_KEPT_MAXIMUM) this.kept.push(problem)
  }

  /** Appends another list's problems, including the ones that it only counted. */
  addAll(kept: readonly Problem[], count: number): void {
    for (const problem of kept) this.add(problem)
    this.count += count - kept.length
  }
}
