import { visibleText } from '../../terminal/visible-text.ts'

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

type Column = readonly [heading: string, width: number, value: (event: StorageEvent) => unknown]

/** Widths are fixed, because rows are printed as they come. The last column takes the rest. */
const COLUMNS: readonly Column[] = [
  ['TIME', 27, ({ time }) => time],
  ['EVENT', 21, ({ id }) => id],
  ['TYPE', 19, ({ type }) => type],
  ['SIZE', 12, ({ size }) => size],
  ['VERSION', 22, ({ version_id }) => version_id],
  ['TARGET', 0, ({ bucket, object }) => (object === undefined ? bucket : `${bucket}/${object}`)],
]

export const eventHeading = row(([heading]) => heading)

/** An event as a row. Clients choose the keys, so control characters are spelled out. */
export function eventRow(event: StorageEvent): string {
  return row(([, , value]) => visibleText(String(value(event) ?? '-')))
}

function row(cell: (column: Column) => string): string {
  return COLUMNS.map((column) => cell(column).padEnd(column[1]))
    .join('  ')
    .trimEnd()
}
