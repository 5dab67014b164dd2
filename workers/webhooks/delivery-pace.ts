/** How often it is looked whether the machine is busy. */
const LOOK_MILLISECONDS = 200
/** Deliveries that may begin between two looks: while the machine is busy, first when it is not, and at most. */
const LEAST = 6
const FIRST = 24
const MOST = 400
/** After this time without a delivery it starts with `FIRST` again. */
const FORGET_MILLISECONDS = 1000

/**
 * How many deliveries may start: a few while requests need the processors, since a POST takes several times as much of
 * them as a small write; twice as many with each look when they do not (spec/decisions/0066-webhooks.md).
 */
export class DeliveryPace {
  readonly #timer: () => number
  readonly #isBusy: () => boolean
  #allowed = FIRST
  #left = 0
  #nextLook = Number.NEGATIVE_INFINITY

  /** @param isBusy whether requests needed the processors since it was called last */
  constructor(timer: () => number, isBusy: () => boolean) {
    this.#timer = timer
    this.#isBusy = isBusy
  }

  /** Whether a delivery may begin, which it then does. */
  take(): boolean {
    const now = this.#timer()
    if (now >= this.#nextLook) this.#look(now)
    if (this.#left === 0) return false
    this.#left -= 1
    return true
  }

  /** Milliseconds until it is looked again. */
  get wait(): number {
    return Math.max(0, this.#nextLook - this.#timer())
  }

  #look(now: number): void {
    const isForgotten = now - this.#nextLook >= FORGET_MILLISECONDS
    const isBusy = this.#isBusy()
    if (isForgotten) this.#allowed = FIRST
    else this.#allowed = isBusy ? LEAST : Math.min(MOST, 2 * this.#allowed)
    this.#left = this.#allowed
    this.#nextLook = now + LOOK_MILLISECONDS
  }
}
