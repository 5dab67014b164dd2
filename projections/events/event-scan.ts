import type { BatchHeader } from '../../engine/journal/batch-reader.ts'
import { type Microseconds, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { decodeEntry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { RecordFrames } from '../audit/record-frames.ts'
import type { Turns } from '../audit/turns.ts'
import { deriveEvents, type EventFact, principalKind } from './derive-events.ts'
import type { EventNames } from './event-names.ts'
import { EVENT_INDEX_MAXIMUM, type EventPosition, type StorageEvent, type StorageEventType } from './storage-event.ts'

/** Most records examined for one page. The next page continues after them. */
const SCAN_MAXIMUM = 200_000

/** A page ends after so many bytes of its events, as their entries are in the journal. */
const PAGE_BYTES_MAXIMUM = 1024 ** 2

/** Which events are wanted. Every condition that is set must hold. */
export interface EventFilter {
  /** Name of the bucket; of every bucket that had it. */
  readonly bucket?: string | undefined
  readonly types?: ReadonlySet<StorageEventType> | undefined
  /** The key begins with it; an event of a bucket has no key. */
  readonly prefix?: string | undefined
}

/** A position and the time of its entry. */
export interface EventCursor extends EventPosition {
  readonly timeMicroseconds: Microseconds
}

/** Times are microseconds since 1970. */
export interface EventQuery extends EventFilter {
  /** Only events after it; undefined: from the first on. */
  readonly after?: EventPosition | undefined
  /** Inclusive. */
  readonly sinceMicroseconds?: Microseconds | undefined
  /** Exclusive. */
  readonly untilMicroseconds?: Microseconds | undefined
  /** Events of the page at most. */
  readonly limit: number
}

export interface EventPage {
  readonly events: readonly StorageEvent[]
  /** Everything up to here was examined: `after` of the next page. */
  readonly position: EventCursor
  /** There is nothing more for now, or up to `untilMicroseconds`. */
  readonly isAtEnd: boolean
  /** A part of the journal could not be read: events may be missing from the page. */
  readonly damaged: boolean
  /** After everything that had happened when the page was read. */
  readonly head: EventCursor
}

/** A batch, or damage in its place. */
type Step = 'damaged' | { readonly header: BatchHeader; readonly bytes: Buffer }

/** Collects the events of one page. */
export class EventScan {
  readonly #query: EventQuery
  readonly #names: EventNames
  readonly #turns: Turns
  readonly #requireWanted: () => void
  readonly #events: StorageEvent[] = []
  #examined = 0
  #bytes = 0
  #position: EventCursor | undefined
  #expected: Sequence | undefined
  #damaged = false
  #isFull = false
  #isAfterUntil = false

  /** @param requireWanted throws when nobody waits for the page any more */
  constructor(query: EventQuery, names: EventNames, turns: Turns, requireWanted: () => void) {
    this.#query = query
    this.#names = names
    this.#turns = turns
    this.#requireWanted = requireWanted
  }

  get isOver(): boolean {
    return this.#isFull || this.#isAfterUntil
  }

  page(head: EventCursor): EventPage {
    const isAtEnd = !this.#isFull
    const position = isAtEnd && !this.#isAfterUntil ? head : (this.#position ?? head)
    return { events: this.#events, position, isAtEnd, damaged: this.#damaged, head }
  }

  /**
   * Takes what the journal has next.
   * @returns the sequence after it; undefined for damage
   */
  async step(step: Step, wanted: Sequence): Promise<Sequence | undefined> {
    this.#requireWanted()
    if (step === 'damaged') {
      this.#damaged = true
      return undefined
    }
    const { firstSequence, recordCount } = step.header
    if (this.#expected !== undefined && firstSequence !== this.#expected) this.#damaged = true
    const frames = new RecordFrames(step.bytes, step.header)
    while (!this.isOver && frames.next()) {
      if (frames.sequence < wanted) continue
      this.#record(frames)
      if (this.#turns.isOver) {
        await this.#turns.next()
        this.#requireWanted()
      }
    }
    if (!this.isOver && !frames.isComplete) this.#damaged = true
    this.#expected = sequenceOf(firstSequence + recordCount)
    return this.#expected
  }

  /** Reading goes on at another place. */
  jump(): void {
    this.#expected = undefined
  }

  /** There is no further batch: records up to the last one that is applied were acknowledged. */
  ended(last: Sequence): void {
    if (this.#expected === undefined || this.#expected <= last) this.#damaged = true
  }

  #record(frames: RecordFrames): void {
    const { sequence, timeMicroseconds, kind } = frames
    const { sinceMicroseconds, untilMicroseconds, limit } = this.#query
    if (untilMicroseconds !== undefined && timeMicroseconds >= untilMicroseconds) {
      this.#isAfterUntil = true
      return
    }
    const isWanted =
      kind === RECORD_KIND.change && (sinceMicroseconds === undefined || timeMicroseconds >= sinceMicroseconds)
    if (isWanted) this.#entry(frames, limit)
    if (this.#isFull) return
    this.#examined += 1
    this.#position = { sequence, index: EVENT_INDEX_MAXIMUM, timeMicroseconds }
    this.#isFull = this.#examined >= SCAN_MAXIMUM || this.#bytes >= PAGE_BYTES_MAXIMUM
  }

  #entry(frames: RecordFrames, limit: number): void {
    const { sequence, timeMicroseconds } = frames
    const { after } = this.#query
    const entry = decodeEntry(frames.body)
    const common = { principal_kind: principalKind(entry), request_id: entry.requestId }
    const facts = deriveEvents(sequence, entry.changes)
    const first = after !== undefined && after.sequence === sequence ? after.index + 1 : 0
    for (let index = first; index < facts.length; index += 1) {
      const fact = facts[index] as EventFact
      if (!this.#isMeant(fact)) continue
      const last = this.#events.at(-1)
      if (last !== undefined && this.#events.length === limit) {
        this.#isFull = true
        this.#position = { sequence: last.sequence, index: last.index, timeMicroseconds: last.timeMicroseconds }
        return
      }
      this.#events.push({
        sequence,
        index,
        timeMicroseconds,
        type: fact.type,
        bucket: this.#names.bucket(fact.bucketId),
        object: fact.key,
        versionId: fact.version && this.#names.version(fact.version),
        size: fact.size,
        metadata: this.#names.metadata({ ...common, ...fact.metadata }),
      })
      this.#position = { sequence, index, timeMicroseconds }
      this.#bytes += Math.ceil(frames.bodyLength / facts.length)
    }
  }

  #isMeant({ type, bucketId, key }: EventFact): boolean {
    const { bucket, types, prefix } = this.#query
    if (types !== undefined && !types.has(type)) return false
    if (prefix !== undefined && key?.startsWith(prefix) !== true) return false
    return bucket === undefined || this.#names.bucket(bucketId) === bucket
  }
}
