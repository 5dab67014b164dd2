import { Rate } from '../../engine/shares/rate.ts'

/** Refusals of unauthenticated requests that a thread answers per second at once; also the size of the burst. */
export const REFUSALS_PER_SECOND = 1000
/** Further refusals wait for the next turn, at this interval. */
const TURN_MILLISECONDS = 50

/**
 * Limits the rate of refusals of requests without valid credentials. A refusal costs half as much as a signed read, so
 * unlimited refusals would take processor time from everyone else (spec/decisions/0038). A waiting request holds only
 * its connection, so the bound of connections bounds how many wait.
 */
export class RefusalPace {
  readonly #rate: Rate
  readonly #later: (turn: () => void) => void
  /** Waiting refusals by network. The network served longest ago is first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #perSecond: number

  /**
   * @param now milliseconds of a clock that only goes forward
   * @param later calls back after a turn's time
   * @param perSecond 20 or more: one for each turn
   */
  constructor(
    now: () => number = () => performance.now(),
    later: (turn: () => void) => void = (turn) => void setTimeout(turn, TURN_MILLISECONDS),
    perSecond = REFUSALS_PER_SECOND,
  ) {
    this.#perSecond = perSecond
    this.#rate = new Rate({ perSecond, saved: perSecond, now })
    this.#later = later
  }

  /**
   * When the next refusal may be answered; undefined for at once. Networks that wait take turns; within a network it is
   * first come, first served.
   */
  turn(network: string): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#rate.allowed >= 1) {
      this.#rate.spend(1)
      return undefined
    }
    if (this.#waiting.size === 0) this.#later(() => this.#release())
    return new Promise((resolve) => {
      const line = this.#waiting.get(network)
      if (line === undefined) this.#waiting.set(network, [resolve])
      else line.push(resolve)
    })
  }

  #release(): void {
    let left = (this.#perSecond * TURN_MILLISECONDS) / 1000
    // A line moved to the end is visited again by this loop.
    for (const [network, line] of this.#waiting) {
      if (left === 0) break
      left -= 1
      line.shift()?.()
      this.#waiting.delete(network)
      if (line.length > 0) this.#waiting.set(network, line)
    }
    // What was saved up meanwhile has just been given to the networks that waited.
    this.#rate.empty()
    if (this.#waiting.size > 0) this.#later(() => this.#release())
  }
}

/** The pace of this thread. */
export const refusalPace = new RefusalPace()
