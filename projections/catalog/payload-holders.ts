import {
  type BucketId,
  bucketIdOf,
  type PayloadId,
  payloadIdOf,
  type Sequence,
  type UploadId,
  uploadIdOf,
} from '../../engine/brands.ts'
import { readNumber } from '../keys.ts'
import type { Row } from '../lmdb-environment.ts'
import { decodeObject, keyOfRow, payloadOfRow } from '../tables/objects.ts'
import { decodePayload, type PayloadRow } from '../tables/payloads.ts'
import type { Tables } from '../tables/table-list.ts'
import { payloadOfPart } from '../tables/uploads.ts'
import { keyOfOrderedRow, orderOf } from '../tables/version-keys.ts'

/** A reference to a payload: a version of a key, or a part of an upload in progress to it. */
export interface PayloadHolder {
  readonly bucketId: BucketId
  readonly key: string
  /** Undefined for a part of an upload in progress. */
  readonly version: { readonly sequence: Sequence; readonly isNull: boolean } | undefined
}

/** In this order: payloads of parts are known before their objects are read, and uploads come last. */
const STAGES = ['payloads', 'parts', 'objects', 'versions', 'uploads'] as const
type Stage = (typeof STAGES)[number]

/**
 * The search for what refers to some payloads. No table leads from a payload to its objects, because only damage makes
 * anybody ask; so it reads the tables once, some rows at a time. What changes meanwhile may be missing.
 */
export class HolderSearch {
  readonly #holders: ReadonlyMap<PayloadId, PayloadHolder[]>
  /** How many references to each are still to be found. */
  readonly #open: Map<PayloadId, number>
  readonly #each: number
  /** A payload of parts, or an upload: which of the wanted ones it holds. */
  readonly #composed = new Map<PayloadId, PayloadId[]>()
  readonly #uploads = new Map<UploadId, PayloadId[]>()
  #stage = 0
  #after: Buffer | undefined

  /** `each`: most holders of one payload that are kept. */
  constructor(wanted: readonly (PayloadRow & { readonly payload: PayloadId })[], each: number) {
    this.#holders = new Map(wanted.map(({ payload }) => [payload, []]))
    this.#open = new Map(wanted.map(({ payload, references }) => [payload, references]))
    this.#each = each
  }

  /** The holders found: objects by bucket and key, then other versions, then uploads. */
  holdersOf(payload: PayloadId): readonly PayloadHolder[] {
    return this.#holders.get(payload) ?? []
  }

  /** Reads `limit` more rows; false at the end of the tables, or when all holders of the payloads are known. */
  step(tables: Tables, limit: number): boolean {
    const stage = STAGES[this.#stage]
    if (stage === undefined || this.#open.size === 0) return false
    const start = this.#after && Buffer.concat([this.#after, Buffer.of(0)])
    let rows = 0
    for (const row of tables[stage].rows({ ...(start && { start }), limit })) {
      this.#read(tables, stage, row)
      this.#after = row.key
      rows += 1
    }
    if (rows < limit) {
      this.#stage += 1
      this.#after = undefined
    }
    return true
  }

  #read(tables: Tables, stage: Stage, row: Row): void {
    switch (stage) {
      case 'payloads':
        return this.#readPayload(tables, row)
      case 'parts':
        return this.#note(this.#uploads, uploadIdOf(readNumber(row.key, 0)), this.#wanted(payloadOfPart(row.value)), 1)
      case 'objects':
        return this.#readVersion(row, keyOfRow)
      case 'versions':
        return this.#readVersion(row, keyOfOrderedRow)
      case 'uploads':
        return this.#readUpload(row)
    }
  }

  #wanted(payload: PayloadId | undefined): PayloadId | undefined {
    return payload !== undefined && this.#holders.has(payload) ? payload : undefined
  }

  #readPayload(tables: Tables, { key, value }: Row): void {
    const { location, references } = decodePayload(tables.payloads, value)
    if (location.kind !== 'parts') return
    for (let index = 0; index < location.parts.count; index += 1) {
      const part = this.#wanted(location.parts.payload(index))
      this.#note(this.#composed, payloadIdOf(readNumber(key, 0)), part, references)
    }
  }

  #readVersion({ key, value }: Row, keyOf: (row: Buffer) => string): void {
    const payload = payloadOfRow(value)
    if (payload === undefined) return
    const held = this.#holders.has(payload) ? [payload] : this.#composed.get(payload)
    if (held === undefined) return
    const { sequence, isNull } = decodeObject(value)
    this.#add(held, { bucketId: bucketIdOf(readNumber(key, 0)), key: keyOf(key), version: { sequence, isNull } })
  }

  #readUpload({ key }: Row): void {
    const held = this.#uploads.get(uploadIdOf(orderOf(key))) ?? []
    this.#add(held, { bucketId: bucketIdOf(readNumber(key, 0)), key: keyOfOrderedRow(key), version: undefined })
  }

  /** What holds a payload stands for as many holders as refer to it; that it has it twice makes no more of them. */
  #note<K>(map: Map<K, PayloadId[]>, key: K, payload: PayloadId | undefined, references: number): void {
    if (payload === undefined) return
    const present = map.get(key)
    const isNew = present?.includes(payload) !== true
    this.#open.set(payload, (this.#open.get(payload) ?? 0) - 1 + (isNew ? references : 0))
    if (present === undefined) map.set(key, [payload])
    else if (isNew) present.push(payload)
  }

  #add(held: readonly PayloadId[], holder: PayloadHolder): void {
    for (const payload of held) {
      const open = this.#open.get(payload)
      if (open === undefined) continue
      const holders = this.#holders.get(payload)
      if (holders?.push(holder) === this.#each || open === 1) this.#open.delete(payload)
      else this.#open.set(payload, open - 1)
    }
  }
}
