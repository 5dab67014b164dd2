import { BusyError } from '../../engine/shares/shares.ts'

/** Copies of a thread that move bytes at the same time. More would share the same disk and the same two hashes. */
const RUNNING_MAXIMUM = 2
/** Copies of a thread that wait for one to end. Each of them has a place in the gate. */
export const COPIES_WAITING_MAXIMUM = 32

/** Who of a thread may move bytes from one payload to another: few at a time, and few wait; those beyond are refused. */
export class CopyTurns {
  readonly #runningMaximum: number
  readonly #waitingMaximum: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(runningMaximum = RUNNING_MAXIMUM, waitingMaximum = COPIES_WAITING_MAXIMUM) {
    this.#runningMaximum = runningMaximum
    this.#waitingMaximum = waitingMaximum
  }

  /** Copies that run. */
  get running(): number {
    return this.#running
  }

  /** Copies that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Carries out a copy when it is its turn.
   * @throws BusyError when too many wait already; what `copy` throws
   */
  async run<T>(copy: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMaximum) this.#running += 1
    else {
      if (this.#waiting.length >= this.#waitingMaximum) throw new BusyError()
      // Whoever ends hands its place over, so nobody comes in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    try {
      return await copy()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

/** Those of this thread. */
export const copyTurns = new CopyTurns()
