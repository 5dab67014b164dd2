/** Work in a background thread was stopped; what it made is lost. */
export class WorkStoppedError extends Error {
  override readonly name = 'WorkStoppedError'

  constructor() {
    super('the work was stopped')
  }
}

/** How fast a background thread works. Both methods may sleep, and throw WorkStoppedError. */
export interface Pace {
  /** Called after `bytes` were read or written. */
  moved(bytes: number): void
  /** After a piece of work with the processor. */
  worked(): void
}

/** At full speed. */
export const NO_PACE: Pace = { moved: () => undefined, worked: () => undefined }

/** Shortest sleep: shorter ones are added up. */
const REST_MILLISECONDS = 5

/** Sleeps in its thread, so that bytes and work stay below a rate; a stop wakes it. */
export class SteadyPace implements Pace {
  readonly #bytesPerMillisecond: number
  readonly #stop: Int32Array
  #moved = 0
  #movedSince: number | undefined
  #workedSince = performance.now()

  /** @param stop shared memory of one number, which is not 0 when the work must stop */
  constructor(bytesPerSecond: number, stop: Int32Array) {
    this.#bytesPerMillisecond = bytesPerSecond / 1000
    this.#stop = stop
  }

  moved(bytes: number): void {
    const now = performance.now()
    this.#movedSince ??= now
    this.#moved += bytes
    const due = this.#movedSince + this.#moved / this.#bytesPerMillisecond
    this.#rest(due - now)
    // Time that was lost is not made up for by a burst.
    if (due < now) {
      this.#moved = 0
      this.#movedSince = now
    }
    this.#workedSince = performance.now()
  }

  /** Rests as long as it worked: half of a processor at most. */
  worked(): void {
    const worked = performance.now() - this.#workedSince
    if (worked < REST_MILLISECONDS) return
    this.#rest(worked)
    this.#workedSince = performance.now()
  }

  #rest(milliseconds: number): void {
    if (milliseconds > 0) Atomics.wait(this.#stop, 0, 0, milliseconds)
    if (Atomics.load(this.#stop, 0) !== 0) throw new WorkStoppedError()
  }
}
