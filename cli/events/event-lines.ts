import { type Column, ColumnTable } from '../terminal/column-table.ts'

/** A storage event as the server answers with it. */
export interface StorageEvent {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly bucket: string
  readonly object?: string
  readonly version_id?: string
  readonly size?: number
}

/** Widths to begin with, in which nearly every value fits. */
const COLUMNS: readonly Column<StorageEvent>[] = [
  ['TIME', 27, ({ time }) => time],
  ['EVENT', 21, ({ id }) => id],
  ['TYPE', 19, ({ type }) => type],
  ['SIZE', 12, ({ size }) => size],
  ['VERSION', 22, ({ version_id }) => version_id],
  ['TARGET', 0, ({ bucket, object }) => (object === undefined ? bucket : `${bucket}/${object}`)],
]

/** A table of events for an output. */
export function eventTable(output: object): ColumnTable<StorageEvent> {
  return new ColumnTable(COLUMNS, output)
}
