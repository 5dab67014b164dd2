import type { EventLog } from '../../../projections/events/event-log.ts'
import { BusyError } from '../../../engine/shares/shares.ts'

/** Streams at the same time. */
const STREAMS_MAXIMUM = 32
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
  #open = 0
  #seen = 0
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(events: Pick<EventLog, 'head'>) {
    this.#events = events
  }

  get open(): number {
    return this.#open
  }

  /** The server stops: every stream ends as if it had come to its end. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * Opens a stream, which `leave` ends.
   * @throws BusyError
   */
  enter(): void {
    if (this.#open >= STREAMS_MAXIMUM || this.#hasEnded) throw new BusyError()
    this.#open += 1
  }

  leave(): void {
    this.#open -= 1
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
