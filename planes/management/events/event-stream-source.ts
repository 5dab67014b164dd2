import type { Microseconds } from '../../../engine/brands.ts'
import type { EventLog } from '../../../projections/events/event-log.ts'
import { EventLines, type LineForm } from '../../../projections/events/event-lines.ts'
import type { EventFilter, EventPageEnd } from '../../../projections/events/event-scan.ts'
import { damageText } from '../../../projections/audit/journal-damage.ts'
import { threadTurns, type Turns } from '../../../projections/audit/turns.ts'
import { type EventPosition, storageEventId } from '../../../projections/events/storage-event.ts'
import type { Share } from '../../../engine/shares/shares.ts'
import type { BodySource } from '../../http/exchange.ts'
import { problemRecord } from '../audit/chain-problem.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import type { ManagementServices } from '../services.ts'
import type { EventStreams } from '../../exchange/event-streams.ts'

/** Interval at which a stream without events checks whether its client is still authorized. */
const CHECK_MILLISECONDS = 1000

/** How events and heartbeats are written. */
interface StreamForm {
  readonly contentType: string
  readonly lines: LineForm
  /** Reports that there is nothing new up to the position of a page. */
  readonly heartbeat: (page: EventPageEnd) => string
  /** Reports the position of a stream in the past whose filter matches little. */
  readonly progress: (page: EventPageEnd) => string
}

/** The position of a stream, as a line of JSON that is not an event. */
function progressLine({ position, head }: EventPageEnd): string {
  const { timeMicroseconds } = position
  const progress = {
    id: storageEventId(position),
    time: rfc3339(timeMicroseconds),
    head_id: storageEventId(head),
  }
  return `${JSON.stringify({ progress })}\n`
}

const LINES = { contentType: 'application/x-ndjson', lines: 'ndjson' } as const

export const STREAM_FORMS = {
  ndjson: { ...LINES, heartbeat: () => '\n', progress: () => '\n' },
  ndjsonWithProgress: { ...LINES, heartbeat: progressLine, progress: progressLine },
  /** Server-sent events (HTML standard, section 9.2). A heartbeat advances the id without dispatching an event. */
  sse: {
    contentType: 'text/event-stream',
    lines: 'sse',
    heartbeat: ({ position }) => `: heartbeat\nid: ${storageEventId(position)}\n\n`,
    progress: ({ position, head }) =>
      `: at entry ${position.sequence} of ${head.sequence}\nid: ${storageEventId(position)}\n\n`,
  },
} as const satisfies Readonly<Record<string, StreamForm>>

/** The query of a stream. */
interface StreamQuery extends EventFilter {
  readonly after: EventPosition | undefined
  readonly sinceMicroseconds: Microseconds | undefined
  /** Whether to continue with new events; otherwise the stream ends at the present. */
  readonly follow: boolean
  readonly heartbeatMilliseconds: number
}

interface StreamParts {
  readonly events: Pick<EventLog, 'collect'>
  readonly streams: EventStreams
  /** Id of the credential of the reader. */
  readonly owner: string
  readonly form: StreamForm
  /** Whether the client may still read events. */
  readonly isAllowed: () => boolean
  readonly damageFound: ManagementServices['damageFound']
}

/**
 * The body of a stream. Nothing is buffered for a slow reader: each piece is read from the journal after the kernel has
 * taken the previous one. Records that cannot be read are a line in their place, and the stream continues after them.
 */
export class EventStreamSource implements BodySource {
  readonly length = undefined
  readonly #query: StreamQuery
  readonly #parts: StreamParts
  readonly #lines: EventLines
  #after: EventPosition | undefined
  /** Time of the last piece. */
  #lastMilliseconds = performance.now()
  /** The first heartbeat at the present is sent at once: it marks the end of the past. */
  #saidPresent = false
  readonly #share: Share
  readonly #turns: Turns
  /** Whether the client has gone, or the place was given to another credential. */
  #isGone = false
  #giveUp: () => void = () => undefined

  /** Takes a place among the streams, until it is closed or evicted for another credential. @throws BusyError */
  constructor(query: StreamQuery, parts: StreamParts) {
    this.#share = parts.streams.enter(parts.owner, () => this.abandon())
    this.#turns = threadTurns.of(parts.owner)
    this.#query = query
    this.#parts = parts
    this.#lines = new EventLines(parts.form.lines, problemRecord)
    this.#after = query.after
  }

  async next(): Promise<Buffer | undefined> {
    const { events, streams, form, isAllowed, damageFound } = this.#parts
    const { follow, heartbeatMilliseconds, bucket, types, prefix, sinceMicroseconds } = this.#query
    for (;;) {
      if (streams.hasEnded || this.#isGone || !isAllowed()) return undefined
      this.#lines.begin()
      const page = await events.collect(
        { bucket, types, prefix, sinceMicroseconds, after: this.#after },
        this.#lines,
        this.#turns,
      )
      const [damage] = page.damage.entries
      if (damage !== undefined) damageFound('audit', damageText(damage))
      this.#after = page.position
      if (!this.#lines.isEmpty) return this.#piece(this.#lines.bytes)
      const silent = performance.now() - this.#lastMilliseconds
      if (!page.isAtEnd) {
        if (silent >= heartbeatMilliseconds) return this.#piece(Buffer.from(form.progress(page)))
        continue
      }
      if (!follow) return undefined
      if (!this.#saidPresent || silent >= heartbeatMilliseconds) {
        this.#saidPresent = true
        return this.#piece(Buffer.from(form.heartbeat(page)))
      }
      const wait = streams.wait(page.head.sequence, Math.min(CHECK_MILLISECONDS, heartbeatMilliseconds - silent))
      this.#giveUp = wait.giveUp
      await wait.over
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

  #piece(bytes: Buffer): Buffer {
    this.#lastMilliseconds = performance.now()
    return bytes
  }
}
