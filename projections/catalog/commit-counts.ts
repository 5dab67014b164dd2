const COMMITS = 0
const SETTINGS = 1

/** The memory of the counts; goes through `workerData`. */
export type SharedCounts = Int32Array<SharedArrayBuffer>

/**
 * Counts of commits in memory that all threads share: the engine thread counts before it replies to anybody, so a reader
 * that finds a count as it was before has seen everything that was acknowledged.
 */
export class CommitCounts {
  readonly shared: SharedCounts

  constructor(shared: SharedCounts = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))) {
    this.shared = shared
  }

  /** A number that is different after each commit. */
  get commits(): number {
    return Atomics.load(this.shared, COMMITS)
  }

  /** A number that is different after each commit that changed a bucket or who may do what. */
  get settings(): number {
    return Atomics.load(this.shared, SETTINGS)
  }

  /** Called after each commit, before any reply. */
  countCommit(): void {
    Atomics.add(this.shared, COMMITS, 1)
  }

  /** Called as well after a commit that changed a bucket or who may do what. */
  countSettings(): void {
    // First the commit: whoever sees that settings changed must not read them from the commit before.
    this.countCommit()
    Atomics.add(this.shared, SETTINGS, 1)
  }
}
