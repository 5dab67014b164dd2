import type { Microseconds, Sequence } from '../../../engine/brands.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { EngineLoop } from '../../../engine/loop/engine-loop.ts'
import type { StrangerRecords } from '../../../engine/records/stranger-records.ts'
import type { CutTail } from '../../../engine/journal/evidence.ts'
import type { SegmentGap } from '../../../engine/journal/recovery/linked-segments.ts'
import type { StateStore } from '../../../engine/state-store.ts'
import type { EngineUnavailableError } from '../../../engine/errors.ts'
import type { Journal } from '../../../engine/journal/journal.ts'
import type { RoomFor } from '../../../engine/journal/journal-room.ts'
import type { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import type { OpenedProjections } from '../../../projections/open-projections.ts'

/** The result of opening, for the log. */
export interface OpeningReport {
  readonly created: boolean
  readonly replayedRecords: number
  readonly discardedProjections: string | undefined
  /** The snapshot that the projections were made from, and snapshots that could not be used. */
  readonly snapshot: string | undefined
  readonly refusedSnapshots: OpenedProjections['refusedSnapshots']
  readonly cut: CutTail | undefined
  /** Damaged segments of the journal that this start went on without. */
  readonly gaps: readonly SegmentGap[]
  /** Whether the journal was there and its high-water mark, in `HEAD`, was not, or could not be read. */
  readonly lostMark: boolean
  /** Id of the master key that this start has given the store in place of the previous one. */
  readonly changedMasterKey: string | undefined
  /** The records whose chain this start verified; undefined for a new store. */
  readonly verified: { readonly from: Sequence; readonly through: Sequence; readonly headHash: string } | undefined
}

/** An open store: the engine and what belongs to it. The caller holds the lock. */
export interface OpenStore {
  readonly deploymentId: string
  /** Name of this start; the names of its payload files begin with it. */
  readonly start: string
  readonly loop: EngineLoop
  readonly client: EngineClient
  readonly catalog: CatalogReader
  readonly journal: Journal
  readonly strangers: StrangerRecords
  readonly report: OpeningReport
  readonly space: SpaceGuard
  /** `healthy`: false after a failure; then nothing may be written, not even the mark. */
  close(healthy: boolean): Promise<void>
}

/** How far a start has brought the projections. */
export interface ReplayReport {
  /** Records of the journal that they have. */
  readonly done: number
  /** Records of the journal. */
  readonly total: number
}

export interface StoreHooks {
  /** Called while the projections are brought up to the journal, at first before anything is read. */
  readonly onReplay?: (report: ReplayReport) => void
  /** Whether the start is to end: what it has done so far is kept. */
  readonly stopAsked?: () => boolean
  /** `forWaiters`: the error for callers that wait for the engine. */
  readonly onFailure: (error: unknown, forWaiters: EngineUnavailableError) => void
  /** Called after each batch, before its replies are sent. `time`: of the last entry of the journal. */
  readonly onBatchDone: (time: Microseconds) => void
  /** The journal has room for something else than before. */
  readonly onRoomChanged?: (roomFor: RoomFor) => void
  /** Called after a commit that changes access, before any reply. */
  readonly onSettingsChanged?: (time: Microseconds) => void
  /** Called when records came too late for the journal: they are kept for the next start, or lost by an error. */
  readonly onUnrecorded?: (count: number, error: unknown) => void
  /** Called with counters that were wrong, and were counted again. */
  readonly onRecounted?: (found: Recounted) => void
  /** Called with the time that each sync of the journal took, in seconds. */
  readonly onSync?: (seconds: number) => void
  /** Replaces the clock of the host. */
  readonly clock?: Clock
  /** Wraps the projections that the engine writes to. */
  readonly wrapState?: (state: StateStore) => StateStore
}
