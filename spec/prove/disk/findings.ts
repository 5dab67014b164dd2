/** What a seed did, and what it found. */

/** Something that a store must never do. `lost`: what was acknowledged is not there as it was. */
export interface Finding {
  readonly kind: 'lost' | 'wrong'
  readonly text: string
}

/** What was tried: a proof that tried nothing has failed. */
export interface Tally {
  /** Times that the power went, or the process was killed, and the store was opened again. */
  crashes: number
  /** Of them: while an earlier crash was recovered from. */
  crashesInRecovery: number
  /** Commands that were answered. */
  acknowledged: number
  /** Failed operations of the disk. */
  faults: number
  /** Damages to the medium. */
  damages: number
  /** Of them: named by an error or by the verifier. The others hit bytes that nothing needs. */
  damagesNamed: number
  /** Ends of the journal that were cut off. */
  tailsCut: number
  segments: number
  /** Comparisons of the live projections with a replay. */
  rebuilds: number
  volumesRemoved: number
}

export function emptyTally(): Tally {
  return {
    crashes: 0,
    crashesInRecovery: 0,
    acknowledged: 0,
    faults: 0,
    damages: 0,
    damagesNamed: 0,
    tailsCut: 0,
    segments: 0,
    rebuilds: 0,
    volumesRemoved: 0,
  }
}

export function addTally(sum: Tally, more: Tally): void {
  for (const name of Object.keys(more) as (keyof Tally)[]) sum[name] += more[name]
}

export interface SeedReport {
  readonly tally: Tally
  /** The first thing found ends a seed. */
  readonly findings: readonly Finding[]
}
