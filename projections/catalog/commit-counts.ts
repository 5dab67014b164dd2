import { type Microseconds, type Milliseconds, millisecondsOf } from '../../engine/brands.ts'

const COMMITS = 0
const SETTINGS = 1
const COUNTS = 2
/** The time of the last entry follows the counts, at a multiple of its own size: so reads of it are never torn. */
const TIME_OFFSET = COUNTS * Int32Array.BYTES_PER_ELEMENT
const SHARED_BYTES = TIME_OFFSET + Float64Array.BYTES_PER_ELEMENT

/** The memory of the counts; sent through `workerData`. */
export type SharedCounts = Int32Array<SharedArrayBuffer>

/**
 * Counts of commits, and the time of the last one, in memory that all threads share: the engine thread counts before it
 * replies to anybody, so a reader that finds a count as it was before has seen everything that was acknowledged.
 */
export class CommitCounts {
  readonly shared: SharedCounts
  /** Milliseconds since 1970. */
  readonly #time: Float64Array

  constructor(shared: SharedCounts = new Int32Array(new SharedArrayBuffer(SHARED_BYTES))) {
    this.shared = shared
    this.#time = new Float64Array(shared.buffer, TIME_OFFSET, 1)
  }

  /**
   * The clock by which everything is judged that expires, as the engine judges it: the later of the host's clock and the time
   * of the journal's last entry. A clock that is set back gives nothing back that has expired
   * (spec/decisions/0019-object-lock-and-clocks.md).
   * @param host the host's clock
   */
  expiryClock(host: () => Milliseconds): () => Milliseconds {
    return () => millisecondsOf(Math.max(host(), this.#time[0] ?? 0))
  }

  /** A number that is different after each commit. */
  get commits(): number {
    return Atomics.load(this.shared, COMMITS)
  }

  /** A number that changes with each commit that changed a bucket or access. */
  get settings(): number {
    return Atomics.load(this.shared, SETTINGS)
  }

  /** Called after each commit, before any reply. @param time of the last entry */
  countCommit(time: Microseconds): void {
    this.#time[0] = Math.floor(time / 1000)
    Atomics.add(this.shared, COMMITS, 1)
  }

  /** Called in addition after a commit that changed a bucket or access. */
  countSettings(time: Microseconds): void {
    // First the commit: a reader that sees changed settings must not read them from the commit before.
    this.countCommit(time)
    Atomics.add(this.shared, SETTINGS, 1)
  }
}
