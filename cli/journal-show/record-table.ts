import { visibleText } from '../visible-text.ts'
import type { RecordLine } from './record-line.ts'

/** What a row shows of a record. Records that the journal made for itself have a kind in the place of a result. */
export type TableLine = Pick<
  RecordLine,
  'timestamp' | 'event_id' | 'principal' | 'operation' | 'resource' | 'result'
> & {
  readonly kind?: string
}

type Column = readonly [heading: string, width: number, value: (line: TableLine) => unknown]

/** Widths are fixed, because a row is printed before the next one is known. The last column takes what is left. */
const columns: readonly Column[] = [
  ['TIME', 27, (line) => line.timestamp],
  ['EVENT', 16, (line) => line.event_id],
  ['RESULT', 9, (line) => line.result ?? line.kind],
  ['PRINCIPAL', 28, (line) => line.principal],
  ['OPERATION', 16, (line) => line.operation],
  ['RESOURCE', 0, (line) => line.resource],
]

/** The heading of the table. */
export const tableHeading = row(([heading]) => heading)

/** A record as a row for a person. Keys are what clients sent: control characters must not reach the terminal. */
export function tableRow(line: TableLine): string {
  return row(([, , value]) => visibleText(String(value(line) ?? '-')))
}

function row(cell: (column: Column) => string): string {
  return columns
    .map((column) => cell(column).padEnd(column[1]))
    .join('  ')
    .trimEnd()
}
