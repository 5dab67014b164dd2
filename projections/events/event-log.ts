import { type Microseconds, microsecondsOf, next, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { AppliedPosition, SegmentPlace } from '../../engine/journal/positions.ts'
import { JournalCursor } from '../audit/journal-cursor.ts'
import { beginningAt } from '../audit/journal-places.ts'
import { JournalRange } from '../audit/journal-range.ts'
import { PieceMemory } from '../audit/segment-pieces.ts'
import { type Stretch, stretchesOf } from '../audit/time-stretches.ts'
import type { Turns } from '../audit/turns.ts'
import type { ProjectionEnvironment } from '../lmdb-environment.ts'
import { getApplied } from '../tables/applied.ts'
import { type AuditPlace, JOURNAL_START } from '../tables/audit-index.ts'
import { blockFrom, blockOf, type EventsBeginning, getEventsBegan, startOfBlock } from './tables.ts'
import { openTables, type Tables } from '../tables/table-list.ts'
import { type EventIds, EventNames } from './event-names.ts'
import { type EventCollector, EventList } from './event-collectors.ts'
import { type EventCursor, type EventPageEnd, type EventRange, EventScan } from './event-scan.ts'
import { EVENT_INDEX_MAXIMUM, type EventPosition, type StorageEvent } from './storage-event.ts'

interface EventQuery extends EventRange {
  /** Events of the page at most. */
  readonly limit: number
}

interface EventPage extends EventPageEnd {
  readonly events: readonly StorageEvent[]
}

/**
 * The storage events, read from the journal, from any thread while it is written.
 *
 * For a worker: `read({ after, limit }, turns)` returns the events after a position in their order, as many as are there
 * and fit into a page, and `page.position`, from which the next call continues; `page.isAtEnd` says that there are no
 * more for now. A position is `{ sequence, index }` of an event; `position` at the end of a page may be after events that
 * a filter left out. Each call sees everything that was acknowledged before it, and nothing that is not durable.
 * Positions stay valid for ever: the journal is never shortened. Nothing is held open between two calls.
 */
export class EventLog {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #environment: ProjectionEnvironment
  readonly #tables: Tables
  readonly #names: EventNames
  readonly #memory = new PieceMemory()

  constructor(disk: Disk, paths: StorePaths, environment: ProjectionEnvironment, ids: EventIds) {
    this.#disk = disk
    this.#paths = paths
    this.#environment = environment
    this.#tables = openTables(environment)
    this.#names = new EventNames(this.#tables.bucketNames, ids)
  }

  /** The entry of the first start. Undefined before it. */
  get beginning(): EventsBeginning | undefined {
    this.#environment.refresh()
    return getEventsBegan(this.#tables.eventsBegan)
  }

  /** After everything that has happened so far. */
  get head(): EventCursor {
    return headOf(this.#applied())
  }

  /**
   * One page of events, oldest first. Its cost depends on the events and on their neighbours in the journal, not on the
   * length of the journal.
   */
  async read(query: EventQuery, turns: Turns): Promise<EventPage> {
    const list = new EventList(query.limit)
    return { ...(await this.collect(query, list, turns)), events: list.events }
  }

  /** Feeds the events of a range to a collector, until it is full or a page has examined its maximum. */
  async collect(range: EventRange, collector: EventCollector, turns: Turns): Promise<EventPageEnd> {
    const applied = this.#applied()
    const began = getEventsBegan(this.#tables.eventsBegan)
    const head = headOf(applied)
    const scan = new EventScan(range, collector, this.#names, turns)
    if (applied === undefined || began === undefined) return scan.end(head)
    const begin = sequenceOf(Math.max(began.sequence, firstAfter(range.after)))
    for (const stretch of this.#stretches(range, applied)) {
      let from: Sequence | undefined = sequenceOf(Math.max(begin, stretch.first))
      if (from >= stretch.following) continue
      scan.begin(stretch)
      while (from !== undefined && !scan.isOver) from = await this.#readBlocks(scan, from, stretch, turns)
      if (scan.isFull) break
    }
    return scan.end(head)
  }

  /** All that can hold events of a range. Without a range of time that is the whole journal, in whatever order. */
  #stretches({ sinceMicroseconds, untilMicroseconds }: EventRange, applied: AppliedPosition): readonly Stretch[] {
    const { segmentFirstSequence, offset, timeMicroseconds, head } = applied
    const end = {
      nextSequence: next(applied.sequence),
      timeMicroseconds,
      head,
      place: { segmentFirstSequence, offset },
    }
    const whole = { first: sequenceOf(0), beginning: JOURNAL_START, following: end.nextSequence, end: end.place }
    if (sinceMicroseconds === undefined && untilMicroseconds === undefined) return [{ ...whole, isOrdered: false }]
    const range = {
      sinceMicroseconds: sinceMicroseconds ?? microsecondsOf(0),
      untilMicroseconds: untilMicroseconds ?? microsecondsOf(Number.POSITIVE_INFINITY),
    }
    return stretchesOf(this.#tables, range, end)
  }

  /**
   * Reads from a sequence on, as long as one block with events follows another.
   * @returns start of the next block with events; undefined at the end
   */
  async #readBlocks(
    scan: EventScan,
    from: Sequence,
    { following: afterLast, end }: Stretch,
    turns: Turns,
  ): Promise<Sequence | undefined> {
    const first = blockFrom(this.#tables.eventIndex, from)
    // The index may be newer than the page: a block can have had its first event since.
    if (first === undefined || isAtOrAfter(first.place, end)) return undefined
    let wanted = sequenceOf(Math.max(from, startOfBlock(first.block)))
    const cursor = new JournalCursor(this.#disk, this.#paths, turns, beginningAt(first.place), end, this.#memory)
    // Records up to the last applied one were acknowledged, so a missing one is damage.
    const journal = new JournalRange(cursor, wanted, afterLast, 'after it')
    try {
      for (;;) {
        const step = await journal.next()
        if (step === undefined) return undefined
        await scan.step(step, journal.place, wanted)
        if (scan.isOver) return undefined
        if (step.kind === 'gap') continue
        const following = sequenceOf(step.header.firstSequence + step.header.recordCount)
        if (following >= afterLast) return undefined
        const block = blockFrom(this.#tables.eventIndex, following)?.block
        if (block === undefined) return undefined
        if (block !== blockOf(following)) return following
        wanted = following
      }
    } finally {
      cursor.close()
    }
  }

  #applied(): AppliedPosition | undefined {
    this.#environment.refresh()
    return getApplied(this.#tables.applied)?.position
  }
}

/** The first sequence that can have events after a position. */
function firstAfter(position: EventPosition | undefined): Sequence {
  if (position === undefined) return sequenceOf(0)
  // After a whole entry, so that damage which ends with it is not found again.
  return position.index === EVENT_INDEX_MAXIMUM ? next(position.sequence) : position.sequence
}

/** Whether a batch is at a place or after it. */
function isAtOrAfter(batch: AuditPlace, place: SegmentPlace): boolean {
  if (batch.segmentFirstSequence !== place.segmentFirstSequence) {
    return batch.segmentFirstSequence > place.segmentFirstSequence
  }
  return batch.batchOffset >= place.offset
}

function headOf(applied: AppliedPosition | undefined): EventCursor {
  const sequence = applied?.sequence ?? sequenceOf(0)
  const timeMicroseconds: Microseconds = applied?.timeMicroseconds ?? microsecondsOf(0)
  return { sequence, index: EVENT_INDEX_MAXIMUM, timeMicroseconds }
}
