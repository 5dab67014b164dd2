/** How the values of rows are stored, where they are not laid out byte by byte. */
import { Packr } from 'msgpackr/index-no-eval'
import type { Kind } from '../../engine/events/schema/kinds.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { type Counts, decodeCounts, Tally } from './tally.ts'

const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

interface Packed<T> {
  encode(value: T): Buffer
  decode(stored: Buffer): T
}

/** Values of a kind of the journal, as MessagePack. */
export function packed<T>(kind: Kind<T>): Packed<T> {
  return {
    encode: (value) => packr.pack(kind.encode(value)),
    decode: (stored) => kind.decode(packr.unpack(stored), kind.page),
  }
}

/** No id or access key is longer, and LMDB fails on keys beyond a few KiB: anybody may ask for anything. */
const KEY_BYTES_MAXIMUM = 255

/** Rows of MessagePack by an id, which is their key in UTF-8 and a property of the decoded row. */
export interface IdRows<S> {
  get(table: TableReader, id: string): S | undefined
  /** All rows by id. */
  all(table: TableReader): S[]
  put(table: Table, state: S): void
}

export function idRows<N extends keyof S & string, S extends Readonly<Record<N, string>>>(
  name: N,
  kind: Kind<Omit<S, N>>,
): IdRows<S> {
  const { encode, decode } = packed(kind)
  const stateOf = (id: string, value: Buffer) => ({ [name]: id, ...decode(value) }) as unknown as S
  return {
    get: (table, id) => {
      const key = Buffer.from(id)
      const value = key.length === 0 || key.length > KEY_BYTES_MAXIMUM ? undefined : table.get(key)
      return value === undefined ? undefined : stateOf(id, value)
    },
    all: (table) => Array.from(table.rows({}), ({ key, value }) => stateOf(key.toString(), value)),
    put: (table, state) => table.put(Buffer.from(state[name]), encode(state)),
  }
}

/** Rows of counters. `Id` is what their key is made of. */
export interface CountRows<F extends string, Id extends unknown[]> {
  decode(value: Buffer | undefined): Counts<F>
  /** All are 0 where there is no row. */
  get(table: TableReader, ...id: Id): Counts<F>
  /** The same, to be changed. */
  tally(table: TableReader, ...id: Id): Tally<F>
  /** The stored counters, to be changed. */
  tallyOf(value: Buffer): Tally<F>
  put(table: Table, tally: Tally<F>, ...id: Id): void
}

/** The counters of a kind of rows. */
export type CountsOf<R> = R extends CountRows<infer F, infer _Id> ? Counts<F> : never

/** Counters of 8 bytes each, in this order. */
export function countRows<F extends string, Id extends unknown[]>(
  fields: readonly F[],
  keyOf: (...id: Id) => Buffer,
): CountRows<F, Id> {
  return {
    decode: (value) => decodeCounts(fields, value),
    get: (table, ...id) => decodeCounts(fields, table.get(keyOf(...id))),
    tally: (table, ...id) => new Tally(fields, table.get(keyOf(...id))),
    tallyOf: (value) => new Tally(fields, value),
    put: (table, tally, ...id) => table.put(keyOf(...id), tally.encode()),
  }
}
