/** The newest snapshot, with the changes after it. */
interface NewestSnapshot {
  /** Of the last record that it holds. */
  readonly sequence: number
  readonly bytes: number
  /** Undefined when its description cannot be read. */
  readonly createdMilliseconds: number | undefined
}

/** State of the snapshots. */
export interface SnapshotFacts {
  readonly state: 'off' | 'waiting' | 'making' | 'no-room'
  readonly newest: NewestSnapshot | undefined
  /** Whole snapshots. */
  readonly count: number
  /** Files of changes. */
  readonly changes: number
  /** Of all snapshots, including an unfinished one, and of the projections that they are copied from. */
  readonly bytes: number
  /** Since the start of the process. */
  readonly made: number
  /** To files of snapshots, since the start of the process. */
  readonly writtenBytes: number
  readonly failures: number
}
