import { type BucketId, type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import { DamageList, damageOfGap, damageOfRecord, type JournalDamage, mayBeIn } from '../audit/journal-damage.ts'
import type { RangeStep } from '../audit/journal-range.ts'
import { JOURNAL_START } from '../tables/audit-index.ts'
import { decodeEntry, type Entry } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { countedAs, SCAN_MAXIMUM } from '../audit/audit-query.ts'
import { RecordFrames } from '../audit/record-frames.ts'
import type { Stretch } from '../audit/time-stretches.ts'
import type { Turns } from '../audit/turns.ts'
import { deriveEvents, type EventFact, principalKind } from './derive-events.ts'
import type { EventCollector } from './event-collectors.ts'
import type { EventNames } from './event-names.ts'
import { ObjectEntry, type TextPlace } from './object-entry.ts'
import { EVENT_INDEX_MAXIMUM, type EventPosition, type StorageEventType } from './storage-event.ts'

/** Which events are wanted. Every condition that is set must hold. */
export interface EventFilter {
  /** Name of the bucket; of every bucket that had it. */
  readonly bucket?: string | undefined
  readonly types?: ReadonlySet<StorageEventType> | undefined
  /** Prefix of the key; an event of a bucket has no key. */
  readonly prefix?: string | undefined
}

/** A position and the time of its entry. */
export interface EventCursor extends EventPosition {
  readonly timeMicroseconds: Microseconds
}

/** Which events, and of which part of the journal. Times are microseconds since 1970. */
export interface EventRange extends EventFilter {
  /** Only events after it; undefined: from the first on. */
  readonly after?: EventPosition | undefined
  /** Inclusive. */
  readonly sinceMicroseconds?: Microseconds | undefined
  /** Exclusive. */
  readonly untilMicroseconds?: Microseconds | undefined
}

/** How far a page has come. */
export interface EventPageEnd {
  /** Everything up to here was examined: `after` of the next page. */
  readonly position: EventCursor
  /** There is nothing more for now, or up to `untilMicroseconds`. */
  readonly isAtEnd: boolean
  /** A part of the journal could not be read: events may be missing from the page. */
  readonly damaged: boolean
  /** The records that could not be read, with their sequences and the place. */
  readonly damage: DamageList
  /** After everything that had happened when the page was read. */
  readonly head: EventCursor
}

const EARLIEST = microsecondsOf(0)
const LATEST = microsecondsOf(Number.POSITIVE_INFINITY)

/** Finds the events of one page. */
export class EventScan {
  readonly #range: EventRange
  readonly #prefix: Buffer | undefined
  readonly #collector: EventCollector
  readonly #names: EventNames
  readonly #turns: Turns
  readonly #objectEntry = new ObjectEntry()
  #examined = 0
  #position: EventCursor | undefined
  /** That the collector was given as an object, or the damage after it. */
  #lastEvent: EventCursor | undefined
  readonly #damage = new DamageList()
  /** Of the batch that is read. */
  #place: SegmentPlace = JOURNAL_START
  #isFull = false
  #isOrdered = true
  /** All records of a batch were later than the range, and so are all after it in the stretch. */
  #isAfterUntil = false

  constructor(range: EventRange, collector: EventCollector, names: EventNames, turns: Turns) {
    this.#range = range
    this.#prefix = range.prefix === undefined ? undefined : Buffer.from(range.prefix)
    this.#collector = collector
    this.#names = names
    this.#turns = turns
  }

  /** The page is full. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** The page is full, or nothing of the stretch is left. */
  get isOver(): boolean {
    return this.#isFull || this.#isAfterUntil
  }

  /** The next records are of this stretch. */
  begin({ isOrdered }: Pick<Stretch, 'isOrdered'>): void {
    this.#isOrdered = isOrdered
    this.#isAfterUntil = false
  }

  end(head: EventCursor): EventPageEnd {
    const isAtEnd = !this.#isFull
    const position = isAtEnd && !this.#isAfterUntil ? head : (this.#position ?? head)
    return { position, isAtEnd, damaged: this.#damage.count > 0, damage: this.#damage, head }
  }

  /**
   * Takes the next batch or gap of the journal.
   * @param place of a batch
   * @param wanted records before it were taken
   */
  async step(step: RangeStep, place: SegmentPlace, wanted: Sequence): Promise<void> {
    if (step.kind === 'gap') {
      const { sinceMicroseconds = EARLIEST, untilMicroseconds = LATEST } = this.#range
      if (!this.#isOrdered || mayBeIn(step, sinceMicroseconds, untilMicroseconds)) {
        this.#met(damageOfGap(step), step.afterMicroseconds ?? step.beforeMicroseconds ?? EARLIEST)
      }
      return
    }
    this.#place = place
    const frames = new RecordFrames(step.bytes, step.header)
    let areLater = true
    while (!this.#isFull && frames.next()) {
      const isLater = this.#isLater(frames)
      areLater &&= isLater
      if (frames.sequence < wanted || (isLater && this.#isOrdered)) continue
      this.#record(frames)
      if (this.#turns.isOver) await this.#turns.next()
    }
    if (areLater && this.#isOrdered) this.#isAfterUntil = true
  }

  /** The next page starts after the damage of this one. */
  #met(damage: JournalDamage, timeMicroseconds: Microseconds): void {
    this.#damage.add(damage)
    this.#collector.damaged(damage)
    this.#position = { sequence: sequenceOf(damage.lastSequence), index: EVENT_INDEX_MAXIMUM, timeMicroseconds }
    this.#lastEvent = this.#position
  }

  #isLater({ timeMicroseconds }: RecordFrames): boolean {
    const { untilMicroseconds } = this.#range
    return untilMicroseconds !== undefined && timeMicroseconds >= untilMicroseconds
  }

  #record(frames: RecordFrames): void {
    const { sequence, timeMicroseconds, kind } = frames
    const { sinceMicroseconds } = this.#range
    const isInRange =
      (sinceMicroseconds === undefined || timeMicroseconds >= sinceMicroseconds) && !this.#isLater(frames)
    if (kind === RECORD_KIND.change && isInRange) this.#entry(frames)
    if (this.#isFull) return
    this.#examined += countedAs(frames.bodyLength)
    this.#position = { sequence, index: EVENT_INDEX_MAXIMUM, timeMicroseconds }
    this.#isFull = this.#examined >= SCAN_MAXIMUM || this.#collector.isFull
  }

  #entry(frames: RecordFrames): void {
    const { bytes, bodyAt, bodyLength, sequence } = frames
    const { after } = this.#range
    const first = after !== undefined && after.sequence === sequence ? after.index + 1 : 0
    const content = this.#contentOf(bytes, bodyAt, bodyAt + bodyLength)
    if (content === 'damaged') return this.#met(damageOfRecord(sequence, this.#place), frames.timeMicroseconds)
    if (content === 'nothing') return
    if (content === 'one event' && (first > 0 || !this.#isObjectMeant(bytes) || this.#tookObject(frames))) return
    this.#decoded(frames, first)
  }

  /** `damaged` where the body is not an entry: its events are missing, and the page says so. */
  #contentOf(bytes: Buffer, at: number, end: number): ReturnType<ObjectEntry['read']> | 'damaged' {
    try {
      return this.#objectEntry.read(bytes, at, end)
    } catch {
      return 'damaged'
    }
  }

  /** Undefined where the body is not an entry. */
  #factsOf(sequence: Sequence, body: Uint8Array): { entry: Entry; facts: readonly EventFact[] } | undefined {
    try {
      const entry = decodeEntry(body)
      return { entry, facts: deriveEvents(sequence, entry.changes) }
    } catch {
      return undefined
    }
  }

  /** Whether the collector has the event of the object entry now. */
  #tookObject({ bytes, sequence, timeMicroseconds }: RecordFrames): boolean {
    const { bucketId, isNull } = this.#objectEntry
    const bucket = this.#names.bucket(bucketId as BucketId)
    const versionId = this.#names.version({ sequence, isNull })
    const named = { sequence, timeMicroseconds, bucket, versionId }
    return this.#collector.addEntry(bytes, this.#objectEntry, named)
  }

  /** The events of an entry, from an index on. */
  #decoded(frames: RecordFrames, first: number): void {
    const { sequence, timeMicroseconds } = frames
    const read = this.#factsOf(sequence, frames.body)
    if (read === undefined) return this.#met(damageOfRecord(sequence, this.#place), timeMicroseconds)
    const { entry, facts } = read
    const common = { principal_kind: principalKind(entry), request_id: entry.requestId }
    for (let index = first; index < facts.length; index += 1) {
      const fact = facts[index] as EventFact
      if (!this.#isMeant(fact)) continue
      const event = {
        sequence,
        index,
        timeMicroseconds,
        type: fact.type,
        bucket: this.#names.bucket(fact.bucketId),
        object: fact.key,
        versionId: fact.version && this.#names.version(fact.version),
        size: fact.size,
        metadata: this.#names.metadata({ ...common, ...fact.metadata }),
      }
      if (!this.#collector.add(event, Math.ceil(frames.bodyLength / facts.length))) {
        // The next page starts after the last event of this one.
        this.#isFull = true
        this.#position = this.#lastEvent ?? this.#position
        return
      }
      this.#lastEvent = { sequence, index, timeMicroseconds }
    }
  }

  #isMeant({ type, bucketId, key }: EventFact): boolean {
    const { types, prefix } = this.#range
    if (types !== undefined && !types.has(type)) return false
    if (prefix !== undefined && key?.startsWith(prefix) !== true) return false
    return this.#isBucketMeant(bucketId)
  }

  #isObjectMeant(bytes: Buffer): boolean {
    const { type, bucketId, key } = this.#objectEntry
    const { types } = this.#range
    if (types !== undefined && !types.has(type)) return false
    return hasPrefix(bytes, key, this.#prefix) && this.#isBucketMeant(bucketId as BucketId)
  }

  #isBucketMeant(bucketId: BucketId): boolean {
    const { bucket } = this.#range
    return bucket === undefined || this.#names.bucket(bucketId) === bucket
  }
}

function hasPrefix(bytes: Buffer, { start, end }: TextPlace, prefix: Buffer | undefined): boolean {
  if (prefix === undefined) return true
  if (end - start < prefix.length) return false
  return bytes.compare(prefix, 0, prefix.length, start, start + prefix.length) === 0
}
