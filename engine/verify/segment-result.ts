import type { WatchedRecord } from './chain-walker.ts'
import type { CheckpointEntry } from './checkpoints/checkpoint-entry.ts'
import type { HandoverEntry } from './checkpoints/handover-entry.ts'
import type { AccessRecord, DistantChange, OpenAttempt } from './entry-examiner.ts'
import type { SegmentHeader } from './format-reader.ts'
import type { NewerKind } from './newer-kinds.ts'
import type { Problem } from './verdicts.ts'

/** A segment to verify. Plain data: it is sent to a worker thread. */
export interface SegmentJob {
  readonly path: string
  /** File name, as problems state it. */
  readonly name: string
  /** True for the last segment, which may be open. */
  readonly isLast: boolean
  /** Sequences whose hashes the caller wants. */
  readonly watched: readonly number[]
  /** How long to wait before a batch that looks torn is read again: it may be on its way to the disk. */
  readonly settleMilliseconds: number
}

/** A batch that was not wholly written, at the end of the open segment. No sign of tampering. */
export interface TornTail {
  readonly segment: string
  readonly offset: number
  /** Bytes up to the last non-zero byte. */
  readonly bytes: number
  /** Sequence that the first record of the batch would have had. */
  readonly sequence: number
  readonly detail: string
}

/** The findings in one segment. Plain data: it comes from worker threads. */
export interface SegmentResult {
  readonly name: string
  /** Whether its file is compressed. */
  readonly isCold: boolean
  /** Undefined when it is not valid. */
  readonly header: SegmentHeader | undefined
  readonly segmentNumber: number | undefined
  /** As the header or, without one, the first readable batch and record state it. */
  readonly firstSequence: number
  readonly firstBatchNumber: number | undefined
  readonly firstPreviousHash: string | undefined
  readonly firstTime: number | undefined
  /** The position that the next segment must continue. */
  readonly nextSequence: number
  readonly nextBatchNumber: number | undefined
  /** Hash of the last record, undefined when the last record could not be read. */
  readonly lastHash: string | undefined
  readonly lastTime: number
  /** The content digest that the seal states, undefined without a seal. */
  readonly statedDigest: string | undefined
  /** Deployment id of the genesis, when it is in this segment. */
  readonly genesisDeploymentId: string | undefined
  /** The check by which its genesis recognizes the master key. */
  readonly genesisMasterKeyCheck: string | undefined
  /** Attempts without an outcome in this segment. */
  readonly openAttempts: readonly OpenAttempt[]
  /** Changes whose attempt is not in this segment. */
  readonly distantChanges: readonly DistantChange[]
  readonly access: readonly AccessRecord[]
  readonly checkpoints: readonly CheckpointEntry[]
  readonly handovers: readonly HandoverEntry[]
  /** Changes of the system itself that carry another principal. */
  readonly otherPrincipals: number
  readonly records: number
  readonly batches: number
  /** Bytes up to the end of the data. */
  readonly bytes: number
  readonly tornTail: TornTail | undefined
  readonly found: readonly WatchedRecord[]
  /** Records of kinds that the page does not have. */
  readonly newer: readonly NewerKind[]
  readonly problems: readonly Problem[]
  readonly problemCount: number
}
