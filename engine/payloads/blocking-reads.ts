/** The page cache takes a tenth of it. What takes longer waited for a disk, or for the processor. */
const SLOW_MILLISECONDS = 0.5
/** Longer than any wait for a processor. The kernel does not count every wait of a file system as a disk read. */
const VERY_SLOW_MILLISECONDS = 20
/** Blocking reads from a busy disk take at most one part in this many of a thread's time. */
const REST_FACTOR = 20
const REST_MILLISECONDS_MAXIMUM = 10_000

/** Clocks that judge a read. */
interface ReadClocks {
  /** Milliseconds of a monotonic clock. */
  now(): number
  /** How often the process has read from a disk, as the kernel counts it (getrusage(2), ru_inblock). */
  diskReads(): number
}

const processClocks: ReadClocks = {
  now: () => performance.now(),
  diskReads: () => process.resourceUsage().fsRead,
}

/**
 * When a thread may read a file itself, in place of the thread pool. With the bytes in the page cache, as they mostly are,
 * that halves the cost of a read. The kernel does not say beforehand whether they are, so a read is tried and timed:
 * after a read that waited for a disk, all reads of the thread go through the pool for twenty times as long as it took
 * (spec/decisions/0097-reads-of-front-ends.md).
 */
export class BlockingReads {
  readonly #clocks: ReadClocks
  #diskReads = 0
  #restUntil = 0

  constructor(clocks: ReadClocks = processClocks) {
    this.#clocks = clocks
  }

  /** Whether the next read may block the thread. */
  get allowed(): boolean {
    return this.#clocks.now() >= this.#restUntil
  }

  /** Runs a read that blocks the thread, for a few hundred KiB at most, and times it. Passes on its errors. */
  run<T>(read: () => T): T {
    const started = this.#clocks.now()
    try {
      return read()
    } finally {
      const ended = this.#clocks.now()
      const milliseconds = ended - started
      if (milliseconds > SLOW_MILLISECONDS && this.#waitedForDisk(milliseconds)) {
        this.#restUntil = ended + Math.min(milliseconds * REST_FACTOR, REST_MILLISECONDS_MAXIMUM)
      }
    }
  }

  /** In doubt it did: reads of other threads count as well, and reads since the last slow read. */
  #waitedForDisk(milliseconds: number): boolean {
    const before = this.#diskReads
    this.#diskReads = this.#clocks.diskReads()
    return this.#diskReads !== before || milliseconds > VERY_SLOW_MILLISECONDS
  }
}
