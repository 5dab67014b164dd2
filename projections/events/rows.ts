import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { Microseconds, Sequence } from '../../engine/brands.ts'
import type { Change } from '../../engine/events/changes.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { makesEvents } from './derive-events.ts'
import { blockOf, getEventsBegan, noteBlock, putEventsBegan, type eventTables } from './tables.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'

type RowTables = NamedTables<typeof eventTables>

/** Applies changes to the index of storage events. */
export class EventRows implements FeatureRows {
  readonly #tables: RowTables
  #haveBegun: boolean | undefined
  /** The last sequence with events in each block that is not noted yet. */
  readonly #blocks = new Map<number, Sequence>()

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  entry(sequence: Sequence, { timeMicroseconds }: RecordTimes, changes: readonly Change[]): void {
    if (changes.some(beginsEvents)) this.#begin(sequence, timeMicroseconds)
    if (changes.some(makesEvents) && this.#begun) this.#blocks.set(blockOf(sequence), sequence)
  }

  /** Storage events begin with this entry, if they have not begun before. */
  #begin(sequence: Sequence, timeMicroseconds: Microseconds): void {
    if (this.#begun) return
    putEventsBegan(this.#tables.eventsBegan, { sequence, timeMicroseconds })
    this.#haveBegun = true
  }

  /** Ends the batch: what its entries made is found at its place. */
  finish(position: AppliedPosition): void {
    for (const [block, sequence] of this.#blocks) {
      // A seal before the batch has its own position.
      if (sequence > position.sequence) continue
      noteBlock(this.#tables.eventIndex, block, position)
      this.#blocks.delete(block)
    }
  }

  get #begun(): boolean {
    this.#haveBegun ??= getEventsBegan(this.#tables.eventsBegan) !== undefined
    return this.#haveBegun
  }
}

function beginsEvents(change: Change): boolean {
  return change.name === 'server.started'
}
