/** What a seed did, and what it found. */
import type { Finding } from '../../support/dying-servers/client-findings.ts'

const NOTHING = {
  /** Times that the power went, or the process was killed, and the store was opened again. */
  crashes: 0,
  /** Of them: while an earlier crash was recovered from. */
  crashesInRecovery: 0,
  /** Commands that were answered. */
  acknowledged: 0,
  /** Failed operations of the disk. */
  faults: 0,
  /** Damages to the medium. */
  damages: 0,
  /** Of them: named by an error or by the verifier. The others hit bytes that nothing needs. */
  damagesNamed: 0,
  /** Ends of the journal that were cut off. */
  tailsCut: 0,
  segments: 0,
  /** Of them: those that were compressed. */
  coldSegments: 0,
  snapshots: 0,
  /** Starts whose projections were made from one. */
  snapshotStarts: 0,
  /** Snapshots that a start found and could not use. */
  snapshotsRefused: 0,
  /** Comparisons of the live projections with a replay. */
  rebuilds: 0,
  volumesRemoved: 0,
  /** Objects and versions that lifecycle rules removed. */
  removals: 0,
  /** Requests to a receiver of webhooks. */
  deliveries: 0,
}

/** What was tried: a proof that tried nothing has failed. */
export type Tally = typeof NOTHING

export function emptyTally(): Tally {
  return { ...NOTHING }
}

export function addTally(sum: Tally, more: Tally): void {
  for (const name of Object.keys(more) as (keyof Tally)[]) sum[name] += more[name]
}

export interface SeedReport {
  readonly tally: Tally
  /** The first thing found ends a seed. */
  readonly findings: readonly Finding[]
}
