import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ProjectionEnvironment, RangeOptions, Row, Table } from '../lmdb-environment.ts'
import type { DecodeRow } from '../row-bytes.ts'
import { appliedRow } from '../tables/applied.ts'
import { openTables, type Tables } from '../tables/table-list.ts'

const MAC_BYTES = 32
const SEALED = [
  'accounts',
  'accountTitles',
  'credentials',
  'policies',
  'bucketPolicies',
  'tokens',
  'tokenDigests',
  'accessVersion',
  'webhooks',
  'shares',
  'shareDigests',
  'shareTargets',
  'embeds',
  'embedDigests',
  'embedTargets',
  'buckets',
  'locks',
] as const
/** The table of the seal. Not among the tables that are compared with the journal: making it needs the master key. */
export const SEAL_TABLE = 'access-seal'
const KEY = Buffer.from('seal')

/** Writes a seal into the projections whose rows it covers. In the transaction that writes the rows. */
export function putSeal(environment: Pick<ProjectionEnvironment, 'table'>, seal: Uint8Array): void {
  environment.table(SEAL_TABLE).put(KEY, Buffer.from(seal))
}

/**
 * Authenticates the rows of access, of buckets and of locks, so that a start detects projections that were edited, or put together from an older
 * file (spec/decisions/0040-access-changes-are-authenticated.md).
 *
 * The seal is an HMAC over the applied position and the sum of all rows. The sum is the exclusive or of an HMAC of each
 * row, so a change costs what it changes; it is kept in memory and never stored.
 */
export class AccessSeal {
  readonly #key: Uint8Array
  readonly #tables: Tables
  readonly #seals: Table
  /** Undefined before the rows were read. */
  #sum: Buffer | undefined

  /** @param key 32 bytes, for this purpose only */
  constructor(environment: ProjectionEnvironment, key: Uint8Array) {
    this.#key = key
    this.#tables = openTables(environment)
    this.#seals = environment.table(SEAL_TABLE)
  }

  /** Whether all rows are as they were sealed. Reads them all: 100,000 take about a second. */
  holds(): boolean {
    this.#sum = this.#sumOfAll()
    const stored = this.#seals.get(KEY)
    const expected = this.#seal()
    return stored?.length === MAC_BYTES && expected !== undefined && timingSafeEqual(stored, expected)
  }

  /** Whether it seals with this key. */
  isOf(key: Uint8Array): boolean {
    return Buffer.compare(this.#key, key) === 0
  }

  /** Seals the rows as they are. In a write transaction. */
  sealAll(): void {
    this.#sum = this.#sumOfAll()
    this.write()
  }

  /** The tables for a transaction: its writes into the tables of access are followed. */
  followed(tables: Tables): Tables {
    const followed = SEALED.map((name) => [name, new FollowedTable(tables[name], (row) => this.#toggle(name, row))])
    return { ...tables, ...(Object.fromEntries(followed) as Pick<Tables, (typeof SEALED)[number]>) }
  }

  /** Puts the seal over the written rows. In a write transaction, after the position. */
  write(): void {
    const seal = this.#seal()
    if (seal !== undefined) this.#seals.put(KEY, seal)
  }

  /** The seal over rows of `followed` tables that are held back, for `putSeal`; undefined before the first position. */
  ofHeld(tables: Pick<Tables, 'applied'>): Uint8Array | undefined {
    return this.#seal(tables)
  }

  /** Runs a transaction: when it throws, its rows count as never written. */
  guarded<T>(work: () => T): T {
    const before = this.#sum && Buffer.from(this.#sum)
    try {
      return work()
    } catch (error) {
      this.#sum = before
      throw error
    }
  }

  #seal(tables: Pick<Tables, 'applied'> = this.#tables): Buffer | undefined {
    const applied = appliedRow(tables.applied)
    this.#sum ??= this.#sumOfAll()
    if (applied === undefined) return undefined
    return createHmac('sha256', this.#key).update('seal').update(applied).update(this.#sum).digest()
  }

  #sumOfAll(): Buffer {
    this.#sum = Buffer.alloc(MAC_BYTES)
    for (const name of SEALED) for (const row of this.#tables[name].rows({})) this.#toggle(name, row)
    return this.#sum
  }

  #toggle(table: string, { key, value }: Row): void {
    this.#sum ??= this.#sumOfAll()
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(key.length, 0)
    lengths.writeUInt32BE(value.length, 4)
    const row = createHmac('sha256', this.#key)
      .update(`row ${table} `)
      .update(lengths)
      .update(key)
      .update(value)
      .digest()
    for (let at = 0; at < MAC_BYTES; at += 1) this.#sum[at] = (this.#sum[at] as number) ^ (row[at] as number)
  }
}

/** Reports every row that is put or removed. */
class FollowedTable implements Table {
  readonly #table: Table
  readonly #toggle: (row: Row) => void

  constructor(table: Table, toggle: (row: Row) => void) {
    this.#table = table
    this.#toggle = toggle
  }

  get(key: Buffer): Buffer | undefined {
    return this.#table.get(key)
  }

  rows(options: RangeOptions): Iterable<Row> {
    return this.#table.rows(options)
  }

  decoded<T>(options: RangeOptions, decode: DecodeRow<T>): Iterable<T> {
    return this.#table.decoded(options, decode)
  }

  keys(options: RangeOptions): Iterable<Buffer> {
    return this.#table.keys(options)
  }

  count(): number {
    return this.#table.count()
  }

  put(key: Buffer, value: Buffer): void {
    this.#forget(key)
    this.#toggle({ key, value })
    this.#table.put(key, value)
  }

  remove(key: Buffer): void {
    this.#forget(key)
    this.#table.remove(key)
  }

  #forget(key: Buffer): void {
    const value = this.#table.get(key)
    if (value !== undefined) this.#toggle({ key, value })
  }
}
