import type { Verdict } from '../verdicts.ts'

/** Bytes in the journal's files. */
export interface SegmentPlace {
  /** First sequence of the segment, by the name of its file. */
  readonly segmentFirstSequence: number
  readonly offset: number
}

/** A span of the chain to verify. Plain data: it is sent to a worker thread. */
export interface SpanJob {
  /** Directory with the segments. */
  readonly directory: string
  /** First sequence of the span. */
  readonly from: number
  /** Last sequence of the span, not after the last of the journal. */
  readonly last: number
  /** Start of reading: a batch at or before the record in front of the span. */
  readonly beginning: SegmentPlace
  /** Where reading ends: after the last batch that counts. */
  readonly end: SegmentPlace
  /** The last record of the journal, and its hash as it was when it was applied. */
  readonly head: { readonly sequence: number; readonly hash: Uint8Array }
}

/** Verdicts on a record of the chain. */
export type ChainVerdict = Exclude<Verdict, 'damaged batch' | 'acknowledged entries lost'>

/** One thing that is wrong, with one record or with a run of them. */
export interface ChainProblem {
  readonly sequence: number
  /** Of the run; the same sequence when it is one record. */
  readonly lastSequence: number
  readonly verdict: ChainVerdict
  /** Where it shows. */
  readonly place: SegmentPlace
  readonly detail: string
}

/** The findings in a span. Plain data: it comes from a worker thread. */
export interface SpanResult {
  /** Records examined. */
  readonly checked: number
  /** Records with the right hash that continue the record before. */
  readonly verified: number
  /** In the order in which they show. Empty when the span is intact. */
  readonly problems: readonly ChainProblem[]
}
