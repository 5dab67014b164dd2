import { type Column, ColumnTable } from '../../../terminal/column-table.ts'
import type { RecordLine } from './record-line.ts'
import { targetOf } from './record-objects.ts'

/** The fields of a row. Records of the journal itself show their kind instead of a result. */
export type TableLine = Pick<
  RecordLine,
  'timestamp' | 'event_id' | 'principal' | 'operation' | 'resource' | 'result' | 'metadata'
> & {
  readonly kind?: string
  /** Only a server knows it. */
  readonly principal_name?: unknown
}

/** Widths to begin with, in which nearly every value fits. */
const COLUMNS: readonly Column<TableLine>[] = [
  ['TIME', 27, (line) => line.timestamp],
  ['EVENT', 16, (line) => line.event_id],
  ['RESULT', 9, (line) => line.result ?? line.kind],
  ['PRINCIPAL', 28, (line) => line.principal],
  ['OPERATION', 16, (line) => line.operation],
  ['TARGET', 0, targetOf],
]

const NAME_AT = COLUMNS.findIndex(([heading]) => heading === 'OPERATION')
const NAME: Column<TableLine> = ['NAME', 8, (line) => line.principal_name]

/** A table of records for an output. */
export function recordTable(output: object): ColumnTable<TableLine> {
  return new ColumnTable(COLUMNS, output)
}

/** The same, with the names of principals. */
export function namedRecordTable(output: object): ColumnTable<TableLine> {
  return new ColumnTable([...COLUMNS.slice(0, NAME_AT), NAME, ...COLUMNS.slice(NAME_AT)], output)
}
