import { BusyError, type Share, Shares } from '../../engine/shares/shares.ts'

/** Interval at which the journal is checked while streams wait for new entries. */
const LOOK_MILLISECONDS = 50

/** What has a last entry: the log of events. */
interface Followed {
  readonly head: { readonly sequence: number }
}

interface Waiting {
  readonly untilMilliseconds: number
  readonly wake: () => void
}

function nothing(): void {}

/** The open streams of events: limits their number, and checks the journal once for all waiting streams. */
export class EventStreams {
  readonly #events: Followed
  readonly #waiting = new Set<Waiting>()
  readonly #shares = new Shares('event-streams')
  #seen = 0
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(events: Followed) {
    this.#events = events
  }

  get open(): number {
    return this.#shares.used
  }

  /** Whether the server is stopping: every stream ends regularly. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * Opens a stream. When all places are taken, the oldest stream of the credential with the most streams is evicted,
   * unless this credential has as many.
   * @param owner id of the credential
   * @param evict called when the stream must end
   * @returns the share, to be left when the stream ends
   * @throws BusyError
   */
  enter(owner: string, evict: () => void): Share {
    const share = this.#hasEnded ? undefined : this.#shares.take(owner, 1, evict)
    if (share === undefined) throw new BusyError()
    return share
  }

  /** Ends all streams and refuses new ones. */
  end(): void {
    this.#hasEnded = true
    this.#wakeAll()
  }

  /**
   * Waits for an entry after `sequence`.
   * @returns `over` resolves on a newer entry, after the time, or when `giveUp` is called
   */
  wait(sequence: number, milliseconds: number): { readonly over: Promise<void>; readonly giveUp: () => void } {
    let giveUp = nothing
    const over = new Promise<void>((resolve) => {
      if (this.#hasEnded || this.#events.head.sequence > sequence) {
        resolve()
        return
      }
      const waiting = { untilMilliseconds: performance.now() + milliseconds, wake: resolve }
      giveUp = () => {
        this.#waiting.delete(waiting)
        resolve()
        this.#stopLooking()
      }
      this.#seen = this.#waiting.size === 0 ? sequence : Math.min(this.#seen, sequence)
      this.#waiting.add(waiting)
      this.#timer ??= setInterval(() => this.#look(), LOOK_MILLISECONDS)
    })
    return { over, giveUp }
  }

  #look(): void {
    const { sequence } = this.#events.head
    if (sequence > this.#seen) {
      this.#wakeAll()
      return
    }
    const now = performance.now()
    for (const waiting of this.#waiting) {
      if (waiting.untilMilliseconds > now) continue
      this.#waiting.delete(waiting)
      waiting.wake()
    }
    this.#stopLooking()
  }

  #wakeAll(): void {
    for (const { wake } of this.#waiting) wake()
    this.#waiting.clear()
    this.#stopLooking()
  }

  #stopLooking(): void {
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
