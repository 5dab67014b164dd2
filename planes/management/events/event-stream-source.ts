import type { Microseconds } from '../../../engine/brands.ts'
import type { EventLog } from '../../../projections/events/event-log.ts'
import type { EventFilter } from '../../../projections/events/event-scan.ts'
import {
  eventResource,
  type EventPosition,
  type StorageEvent,
  storageEventId,
} from '../../../projections/events/storage-event.ts'
import type { BodySource } from '../../http/exchange.ts'
import type { EventStreams } from './event-streams.ts'

/** Events of one piece of the body. */
const PIECE_EVENTS = 1000
/** How often a stream without events asks whether its client may still have them. */
const CHECK_MILLISECONDS = 1000

/** How events and heartbeats are written. */
interface StreamForm {
  readonly contentType: string
  readonly event: (event: StorageEvent) => string
  /** Says that there is nothing new up to a position. */
  readonly heartbeat: (position: EventPosition) => string
}

export const STREAM_FORMS = {
  ndjson: {
    contentType: 'application/x-ndjson',
    event: (event) => `${JSON.stringify(eventResource(event))}\n`,
    heartbeat: () => '\n',
  },
  /** Server-sent events (HTML standard, section 9.2). A heartbeat moves the id on, and dispatches nothing. */
  sse: {
    contentType: 'text/event-stream',
    event: (event) =>
      `id: ${storageEventId(event)}\nevent: ${event.type}\ndata: ${JSON.stringify(eventResource(event))}\n\n`,
    heartbeat: (position) => `: heartbeat\nid: ${storageEventId(position)}\n\n`,
  },
} as const satisfies Readonly<Record<string, StreamForm>>

/** What a stream shows. */
interface StreamQuery extends EventFilter {
  readonly after: EventPosition | undefined
  readonly sinceMicroseconds: Microseconds | undefined
  /** Whether to go on with what comes; otherwise it ends at the present. */
  readonly follow: boolean
  readonly heartbeatMilliseconds: number
}

interface StreamParts {
  readonly events: Pick<EventLog, 'read'>
  readonly streams: EventStreams
  readonly form: StreamForm
  /** Whether the client may still read events. */
  readonly isAllowed: () => boolean
}

/** Thrown where the journal cannot be read: the connection is cut, since what comes next would not be all. */
class EventsDamagedError extends Error {
  override readonly name = 'EventsDamagedError'
}

/**
 * The body of a stream. Nothing is held for a reader that is slow: each piece is read from the journal when the one before is
 * with the kernel.
 */
export class EventStreamSource implements BodySource {
  readonly length = undefined
  readonly #query: StreamQuery
  readonly #parts: StreamParts
  #after: EventPosition | undefined
  #lastMilliseconds = Number.NEGATIVE_INFINITY
  /** The first heartbeat comes at once: it says that what was before is over. */
  #saidPresent = false
  #isGone = false
  #isClosed = false
  #giveUp: () => void = () => undefined

  /** Takes a place among the streams, until it is closed. @throws BusyError */
  constructor(query: StreamQuery, parts: StreamParts) {
    parts.streams.enter()
    this.#query = query
    this.#parts = parts
    this.#after = query.after
  }

  async next(): Promise<Buffer | undefined> {
    const { events, streams, form, isAllowed } = this.#parts
    const { follow, heartbeatMilliseconds, bucket, types, prefix, sinceMicroseconds } = this.#query
    for (;;) {
      if (streams.hasEnded || this.#isGone || !isAllowed()) return undefined
      const filter = { bucket, types, prefix, sinceMicroseconds }
      const page = await events.read({ ...filter, after: this.#after, limit: PIECE_EVENTS })
      if (page.damaged) throw new EventsDamagedError('the journal is damaged where a stream of events reads it')
      this.#after = page.position
      if (page.events.length > 0) return this.#piece(page.events.map(form.event).join(''))
      if (!page.isAtEnd) continue
      if (!follow) return undefined
      const silent = performance.now() - this.#lastMilliseconds
      if (!this.#saidPresent || silent >= heartbeatMilliseconds) {
        this.#saidPresent = true
        return this.#piece(form.heartbeat(page.position))
      }
      const wait = streams.wait(page.head.sequence, Math.min(CHECK_MILLISECONDS, heartbeatMilliseconds - silent))
      this.#giveUp = wait.giveUp
      await wait.over
    }
  }

  /** The client has gone: a wait for events ends. */
  abandon(): void {
    this.#isGone = true
    this.#giveUp()
  }

  /** Calling again does nothing. */
  close(): void {
    if (!this.#isClosed) this.#parts.streams.leave()
    this.#isClosed = true
  }

  #piece(text: string): Buffer {
    this.#lastMilliseconds = performance.now()
    return Buffer.from(text)
  }
}
