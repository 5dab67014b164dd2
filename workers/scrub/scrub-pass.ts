import { setImmediate } from 'node:timers/promises'
import { sequenceOf } from '../../engine/brands.ts'
import { boundedText } from '../../engine/events/bounded-text.ts'
import type { ScrubDamage, ScrubProgress } from '../../engine/events/values.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { StoredPayload } from '../../projections/catalog/catalog-snapshot.ts'
import { HolderSearch } from '../../projections/catalog/payload-holders.ts'
import type { PayloadScrub } from './payload-scrub.ts'
import type { SegmentScrub } from './segment-scrub.ts'

/** Damage of one record. */
const DAMAGE_MAXIMUM = 256
/** Objects that are named for one payload; copies share theirs. */
const OBJECTS_MAXIMUM = 10
const REASON_BYTES_MAXIMUM = 256
/** Rows that the search for objects reads before other work gets a turn. */
const ROWS = 500
/** Small payloads of one step. */
const PAYLOADS = 64

/** The data that a pass reads. */
export interface Scrubbed {
  readonly payloads: PayloadScrub
  readonly segments: SegmentScrub
}

/** Damage whose objects are not known yet. */
type Found = Omit<ScrubDamage, 'objects'> & { readonly row: StoredPayload | undefined }

/** One pass over all payloads, by their ids, and then over all sealed segments of the journal. */
export class ScrubPass {
  readonly #catalog: CatalogReader
  readonly #scrubbed: Scrubbed
  #progress: ScrubProgress
  #hasMoved = false
  #found: Found[] = []

  /** @param progress where it continues */
  constructor(catalog: CatalogReader, scrubbed: Scrubbed, progress: ScrubProgress) {
    this.#catalog = catalog
    this.#scrubbed = scrubbed
    this.#progress = progress
  }

  get progress(): ScrubProgress {
    return this.#progress
  }

  /** Whether it read anything since it was made or recorded. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  /** Damage found since the last record. */
  get damage(): readonly unknown[] {
    return this.#found
  }

  /** Whether it must be recorded before the next step. */
  get isFull(): boolean {
    return this.#found.length >= DAMAGE_MAXIMUM - PAYLOADS
  }

  /** Reads a bounded piece. @returns how many bytes */
  async step(): Promise<number> {
    this.#hasMoved = true
    switch (this.#progress.stage) {
      case 'payloads':
        return this.#readPayloads()
      case 'segments':
        return this.#readSegment()
      case 'over':
        return 0
    }
  }

  /** Damage found since the last record, with the objects that it belongs to; at most 256. */
  async damageWithObjects(): Promise<ScrubDamage[]> {
    const rows = this.#found.flatMap(({ row }) => row ?? [])
    const search = new HolderSearch(rows, OBJECTS_MAXIMUM)
    if (rows.length > 0) while (this.#catalog.snapshot().searchHolders(search, ROWS)) await setImmediate()
    return this.#found.map(({ row, kind, number, reason }) => {
      const holders = row === undefined ? [] : search.holdersOf(row.payload)
      const objects = holders.map(({ bucketId, key, version }) => ({ bucketId, key, version }))
      return { kind, number, reason: boundedText(reason, REASON_BYTES_MAXIMUM), objects }
    })
  }

  /** The first `count` that were found are recorded. */
  forget(count: number): void {
    this.#found = this.#found.slice(count)
    this.#hasMoved = false
  }

  close(): void {
    this.#scrubbed.payloads.close()
    this.#scrubbed.segments.close()
  }

  async #readPayloads(): Promise<number> {
    const rows = this.#catalog.snapshot().storedPayloads(this.#progress.place - 1, PAYLOADS)
    if (rows.length === 0) {
      this.#advance({ stage: 'segments', place: 0 })
      return 0
    }
    const { bytes, whole, damaged } = await this.#scrubbed.payloads.read(rows)
    for (const { row, reason } of damaged) this.#found.push({ kind: 'payload', number: row.payload, reason, row })
    const last = rows[whole - 1]
    this.#advance({
      place: last === undefined ? this.#progress.place : last.payload + 1,
      payloads: this.#progress.payloads + whole,
      bytes: this.#progress.bytes + bytes,
      damaged: this.#progress.damaged + damaged.length,
    })
    return bytes
  }

  async #readSegment(): Promise<number> {
    const { bytes, segment, reason } = await this.#scrubbed.segments.read(sequenceOf(this.#progress.place))
    if (reason !== undefined && segment !== undefined) {
      this.#found.push({ kind: 'segment', number: segment, reason, row: undefined })
    }
    if (bytes === 0 && segment === undefined) this.#advance({ stage: 'over' })
    else {
      this.#advance({
        place: segment === undefined ? this.#progress.place : segment + 1,
        segments: this.#progress.segments + (segment === undefined ? 0 : 1),
        bytes: this.#progress.bytes + bytes,
        damaged: this.#progress.damaged + (reason === undefined ? 0 : 1),
      })
    }
    return bytes
  }

  #advance(to: Partial<ScrubProgress>): void {
    this.#progress = { ...this.#progress, ...to }
  }
}
