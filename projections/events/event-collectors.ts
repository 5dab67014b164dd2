import type { Microseconds, Sequence } from '../../engine/brands.ts'
import type { JournalDamage } from '../audit/journal-damage.ts'
import type { ObjectEntry } from './object-entry.ts'
import type { StorageEvent } from './storage-event.ts'

/** Fields of an object entry from the record around it, and the names that clients know. */
export interface NamedEntry {
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
  readonly bucket: string
  readonly versionId: string
}

/** Gets the events of a page in their order. */
export interface EventCollector {
  /** The page ends. */
  readonly isFull: boolean
  /**
   * Takes the event of an entry that was not decoded.
   * @param bytes where the places of the entry are; valid during the call
   * @returns false when it needs the event decoded
   */
  addEntry(bytes: Buffer, entry: ObjectEntry, named: NamedEntry): boolean
  /**
   * @param bytes of the event in the journal
   * @returns false without room for it
   */
  add(event: StorageEvent, bytes: number): boolean
  /** Takes records that cannot be read, in their place among the events. They may have had events that the filter wants. */
  damaged(damage: JournalDamage): void
}

/** A page ends after this many bytes of its events, as their entries are in the journal. */
const PAGE_BYTES_MAXIMUM = 1024 ** 2

/** Collects events as objects. */
export class EventList implements EventCollector {
  readonly events: StorageEvent[] = []
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.#bytes >= PAGE_BYTES_MAXIMUM
  }

  addEntry(): boolean {
    return false
  }

  add(event: StorageEvent, bytes: number): boolean {
    if (this.events.length >= this.#limit) return false
    this.events.push(event)
    this.#bytes += bytes
    return true
  }

  /** The end of the page has them. */
  damaged(): void {}
}
