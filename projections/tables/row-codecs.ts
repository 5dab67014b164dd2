/** How the values of rows are stored, where they are not laid out byte by byte. */
import { Packr } from 'msgpackr'
import type { Kind } from '../../engine/events/schema/kinds.ts'
import { NUMBER_BYTES, readNumber, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'

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

type Counts<F extends string> = Record<F, number>

/** Rows of counters. `Id` is what their key is made of. */
export interface CountRows<F extends string, Id extends unknown[]> {
  decode(value: Buffer | undefined): Counts<F>
  /** All are 0 where there is no row. */
  get(table: TableReader, ...id: Id): Counts<F>
  put(table: Table, counts: Counts<F>, ...id: Id): void
}

/** What rows of counters count. */
export type CountsOf<R> = R extends CountRows<infer F, infer _Id> ? Counts<F> : never

/** Counters of 8 bytes each, in this order. */
export function countRows<F extends string, Id extends unknown[]>(
  fields: readonly F[],
  keyOf: (...id: Id) => Buffer,
): CountRows<F, Id> {
  const decode = (value: Buffer | undefined): Counts<F> => {
    const pairs = fields.map((field, at) => [field, value === undefined ? 0 : readNumber(value, at * NUMBER_BYTES)])
    return Object.fromEntries(pairs) as Counts<F>
  }
  return {
    decode,
    get: (table, ...id) => decode(table.get(keyOf(...id))),
    put: (table, counts, ...id) => {
      const value = Buffer.allocUnsafe(fields.length * NUMBER_BYTES)
      fields.forEach((field, at) => writeNumber(value, counts[field], at * NUMBER_BYTES))
      table.put(keyOf(...id), value)
    },
  }
}
