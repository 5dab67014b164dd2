/** What a proof is: a machine that tries to break one of the promises of the README. */

/** What the amount of a proof is counted in; also the name of its flag. */
export type ProofUnit = 'seeds' | 'flips' | 'worlds' | 'cycles' | 'seconds'

/** What a run of a proof is asked to do. */
export interface ProofTask {
  /** How many seeds, flips, worlds, cycles or seconds. */
  readonly amount: number
  /** Where chance begins. The same seed and amount do the same again, as far as the proof is deterministic. */
  readonly seed: number
  /** An empty directory, removed after a run in which nothing was lost. */
  readonly directory: string
  /** One line about how far it is, or about what was found; with the command that does it again. */
  readonly say: (line: string) => void
}

export interface ProofResult {
  /** What was tried and what was lost: `100000 crashes, 0 lost, 0 wrong`. */
  readonly summary: string
  /** Whether nothing was: the exit code of the run. */
  readonly passed: boolean
}

export interface Proof {
  /** Word of the command line. */
  readonly name: string
  /** What it tries to break, for the usage text. */
  readonly tries: string
  readonly unit: ProofUnit
  /** How much of it without a flag: what `.ci/nightly` does. */
  readonly amount: number
  /** Where chance begins without a flag; undefined: somewhere else each time. */
  readonly seed?: number
  run(task: ProofTask): Promise<ProofResult>
}
