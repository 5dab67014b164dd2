import { damageText } from '../../../projections/audit/journal-damage.ts'
import { threadTurns, type Turns } from '../../../projections/audit/turns.ts'
import type { EventLog } from '../../../projections/events/event-log.ts'
import type { Share } from '../../../engine/shares/shares.ts'
import type { EventStreams } from '../../exchange/event-streams.ts'
import type { BodySource } from '../../http/exchange.ts'
import { notificationLine, notificationOf, type NotificationContext } from './notification-record.ts'

/** Events that are read from the journal at once. */
const EVENTS_OF_READ = 100
/** Interval at which a stream without events checks whether its client is still authorized. */
const CHECK_MILLISECONDS = 1000
/** Longest silence of a stream: a connection without progress for 10 seconds may be cut while places are short. */
const HEARTBEAT_MILLISECONDS = 5000
/** Between two lines it says nothing to a reader of JSON, and shows that the stream is alive. */
const BLANK = ' '

/** What is listened to, and by whom. */
interface Listener extends NotificationContext {
  /** Undefined: all buckets. */
  readonly bucket: string | undefined
  readonly prefix: string
  /** Silence after which an empty line of JSON is sent; undefined: never, only blanks are. */
  readonly pingMilliseconds: number | undefined
  /** Id of the credential. */
  readonly credential: string
  /** Of which buckets the client may hear by now; undefined when it may listen no longer. */
  readonly mayHear: () => ((bucket: string) => boolean) | undefined
}

/** The parts of a front end that a stream reads. */
export interface NotificationParts {
  readonly events: Pick<EventLog, 'head' | 'read'>
  readonly streams: EventStreams
}

/**
 * The body of a stream of notifications: the events after its beginning, as they come. Nothing is buffered for a slow
 * reader: each piece is read from the journal after the kernel has taken the previous one.
 */
export class NotificationSource implements BodySource {
  readonly length = undefined
  readonly isLasting = true
  readonly #listener: Listener
  readonly #parts: NotificationParts
  readonly #share: Share
  readonly #turns: Turns
  #after: EventLog['head']
  /** Undefined before the first piece, which is sent at once: a client sees then that it listens. */
  #lastMilliseconds: number | undefined
  #isGone = false
  #giveUp: () => void = () => undefined

  /** Takes a place among the streams, until it is closed or evicted for another credential. @throws BusyError */
  constructor(listener: Listener, parts: NotificationParts) {
    this.#share = parts.streams.enter(listener.credential, () => this.abandon())
    this.#turns = threadTurns.of(listener.credential)
    this.#listener = listener
    this.#parts = parts
    this.#after = parts.events.head
  }

  /** @throws Error when a part of the journal cannot be read: events may be missing, so the stream must not go on */
  async next(): Promise<Buffer | undefined> {
    const { events, streams } = this.#parts
    const { bucket, prefix, subscription, mayHear } = this.#listener
    const range = { bucket, prefix: prefix === '' ? undefined : prefix, types: subscription.types }
    for (;;) {
      if (streams.hasEnded || this.#isGone || mayHear() === undefined) return undefined
      const page = await events.read({ ...range, after: this.#after, limit: EVENTS_OF_READ }, this.#turns)
      const [damage] = page.damage.entries
      if (damage !== undefined) throw new Error(`a stream of notifications cannot go on: ${damageText(damage)}`)
      this.#after = page.position
      // Judged after the read, which takes time: what was revoked meanwhile is not sent.
      const hears = mayHear()
      if (hears === undefined) return undefined
      const heard = page.events.filter((event) => hears(event.bucket))
      const records = heard.flatMap((event) => notificationOf(event, this.#listener) ?? [])
      if (records.length > 0) return this.#piece(records.map((record) => notificationLine([record])).join(''))
      const alive = this.#signOfLife()
      if (alive !== undefined) return this.#piece(alive)
      if (page.isAtEnd) await this.#wait(page.head.sequence)
    }
  }

  /** Ends the stream regularly, and any wait for events. */
  abandon(): void {
    this.#isGone = true
    this.#giveUp()
  }

  /** Calling again does nothing. */
  close(): void {
    this.#share.leave()
  }

  /** What says that the stream is alive, when it was silent for long enough. */
  #signOfLife(): string | undefined {
    if (this.#lastMilliseconds === undefined) return BLANK
    const silent = performance.now() - this.#lastMilliseconds
    const { pingMilliseconds } = this.#listener
    if (pingMilliseconds !== undefined && silent >= pingMilliseconds) return notificationLine([])
    return silent >= HEARTBEAT_MILLISECONDS ? BLANK : undefined
  }

  async #wait(sequence: number): Promise<void> {
    const wait = this.#parts.streams.wait(sequence, CHECK_MILLISECONDS)
    this.#giveUp = wait.giveUp
    await wait.over
  }

  #piece(text: string): Buffer {
    this.#lastMilliseconds = performance.now()
    return Buffer.from(text)
  }
}
