import type { EventLog } from '../../../projections/events/event-log.ts'
import { BusyError, type Share, Shares } from '../../../engine/shares/shares.ts'

/** How often the journal is looked at while streams wait for it to go on. */
const LOOK_MILLISECONDS = 50

interface Waiting {
  readonly untilMilliseconds: number
  readonly wake: () => void
}

function nothing(): void {}

/** The open streams of events: how many there are, and one look at the journal for all that wait. */
export class EventStreams {
  readonly #events: Pick<EventLog, 'head'>
  readonly #waiting = new Set<Waiting>()
  readonly #shares = new Shares('event-streams')
  #seen = 0
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(events: Pick<EventLog, 'head'>) {
    this.#events = events
  }

  get open(): number {
    return this.#shares.used
  }

  /** The server stops: every stream ends as if it had come to its end. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * Opens a stream, which ends with its share. When there are as many as there may be, the oldest of the credential that has
   * the most ends, unless that has no more than this one.
   * @param owner id of the credential
   * @param evict called when it is to end for another one
   * @throws BusyError
   */
  enter(owner: string, evict: () => void): Share {
    const share = this.#hasEnded ? undefined : this.#shares.take(owner, 1, evict)
    if (share === undefined) throw new BusyError()
    return share
  }

  /** Ends all streams, and lets no further one begin. */
  end(): void {
    this.#hasEnded = true
    this.#wakeAll()
  }

  /**
   * Resolves when the journal is longer than `sequence`, after the time at the latest, and when a wait is given up.
   * @returns how to give it up, beside the wait
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
