/** The whole state as the engine changes it. Implemented by the projections. */
import type { Sequence, VolumeNumber } from './brands.ts'
import type { DecisionContext } from './domain/decision.ts'
import type { Change } from './events/changes.ts'
import type { FeatureRules, features } from './features.ts'
import type { CredentialUse } from './journal/credential-uses.ts'
import type { AppliedPosition } from './journal/positions.ts'
import type { RecordTimes } from './journal/record-times.ts'
import type { Intersection } from './merged.ts'
import type { StateReader } from './state-ports.ts'

type ContextOf<Rule> = Rule extends (command: never, context: infer Context) => unknown ? Context : never
type Passed = Intersection<ContextOf<FeatureRules[keyof FeatureRules]>>
type Helpers = Intersection<(typeof features)[number]['helpers']>

/** The state of each feature by its name, as the rules of the feature ask for it. */
export type FeatureStates = Omit<Passed, keyof DecisionContext | keyof Helpers>

/** The state of the spine and of every feature. */
export interface StoreState extends StateReader {
  readonly features: FeatureStates
}

export interface StateTransaction extends StoreState {
  /** Applies the changes of one entry. Never refuses: the journal is the truth. */
  apply(sequence: Sequence, times: RecordTimes, changes: readonly Change[]): void
  /**
   * Ends a batch: records how far the journal will be applied, and the place of the batch for the audit log. The
   * transaction needs only its commit after that.
   * @param firstSequence of the batch
   * @param uses of credentials in the batch
   */
  finish(position: AppliedPosition, firstSequence: Sequence, uses: readonly CredentialUse[]): void
  /** Payload files that lost their last reference; they may be removed once the transaction is committed. */
  readonly releasedFiles: readonly string[]
  /** Volumes that were removed; the same holds for their files. */
  readonly removedVolumes: readonly VolumeNumber[]
  /**
   * Payloads and parts that got or lost references so far: the cost of a batch on top of the records of its requests.
   */
  readonly rowsTouched: number
  /** The last change of access. */
  readonly accessCode: Uint8Array
  /** Whether access or a bucket changed: other threads keep copies of both. */
  readonly settingsChanged: boolean
}

export interface StateStore {
  /** Undefined when nothing is applied. */
  applied(): AppliedPosition | undefined
  /** Runs `work` in one write transaction: committed when it returns, rolled back when it throws. */
  update<T>(work: (state: StateTransaction) => T): T
  /** The volume that is written, and the end of the bytes in it that entries refer to. */
  volumeEnd(): { readonly volume: VolumeNumber; readonly end: number } | undefined
}
