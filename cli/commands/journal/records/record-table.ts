import { visibleText } from '../../../terminal/visible-text.ts'
import type { RecordLine } from './record-line.ts'
import { targetOf } from './record-objects.ts'

/** The fields of a row. Records of the journal itself show their kind instead of a result. */
export type TableLine = Pick<
  RecordLine,
  'timestamp' | 'event_id' | 'principal' | 'operation' | 'resource' | 'result' | 'metadata'
> & {
  readonly kind?: string
}

type Column = readonly [heading: string, width: number, value: (line: TableLine) => unknown]

/** Widths are fixed, because rows are printed as they are read. The last column takes the rest. */
const columns: readonly Column[] = [
  ['TIME', 27, (line) => line.timestamp],
  ['EVENT', 16, (line) => line.event_id],
  ['RESULT', 9, (line) => line.result ?? line.kind],
  ['PRINCIPAL', 28, (line) => line.principal],
  ['OPERATION', 16, (line) => line.operation],
  ['TARGET', 0, targetOf],
]

/** The heading of the table. */
export const tableHeading = row(([heading]) => heading)

/** A record as a row. Clients choose the keys, so control characters are spelled out. */
export function tableRow(line: TableLine): string {
  return row(([, , value]) => visibleText(String(value(line) ?? '-')))
}

function row(cell: (column: Column) => string): string {
  return columns
    .map((column) => cell(column).padEnd(column[1]))
    .join('  ')
    .trimEnd()
}
