import type { JournalSpot } from './journal-cursor.ts'

/** What can be wrong with a record (specification, Audit chain). */
export type ChainVerdict = 'content changed' | 'broken link to the previous record' | 'record is missing from the log'

/** One thing that is wrong, with one record or with a run of them. */
export interface ChainProblem {
  readonly sequence: number
  /** Of the run; the same sequence when it is one record. */
  readonly lastSequence: number
  readonly verdict: ChainVerdict
  /** Where it shows. */
  readonly spot: JournalSpot
  readonly detail: string
}

/** What became of a span of the chain. */
export interface ChainReport {
  /** First sequence of the span. */
  readonly from: number
  /** Records examined. */
  readonly checked: number
  /** Records among them that hash to what they state and continue the record before. */
  readonly verified: number
  /** Of the last record of the log. */
  readonly headSequence: number
  /** First sequence of the next span; undefined when this one ends with the log. */
  readonly nextFrom: number | undefined
  /** In the order in which they show. Empty when the span is intact. */
  readonly problems: readonly ChainProblem[]
}
