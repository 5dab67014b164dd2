import { textTable } from '../cli/terminal/text-table.ts'
import { COLUMNS, cells, circumstancesRows, number, remarks, reportRows } from './report.ts'
import type { RunResult } from './run.ts'

/** Columns that hold numbers, which are right-aligned. */
const NUMBER_COLUMNS: readonly number[] = [1, 3, 4, 5, 6]

/** The report for a terminal. */
export function textReport(run: RunResult): string {
  const limits = run.limits.map(({ name, label, value, unit }) => [name, number(value), unit, label])
  const figures = run.scenarios.flatMap((scenario) => {
    if (scenario.figures.length === 0) return []
    const rows = reportRows(run, scenario)
    return rows.flatMap((row) => [cells(row), ...(row.figure.note === undefined ? [] : [[`  (${row.figure.note})`]])])
  })
  return [
    ...textTable(circumstancesRows(run)),
    '',
    'Limits of the machine',
    ...textTable(aligned(limits, [1])),
    '',
    ...figureTable(figures),
    '',
    ...remarks(run),
    '',
  ].join('\n')
}

/** Notes are on lines of their own and do not widen the first column. */
function figureTable(rows: readonly (readonly string[])[]): string[] {
  const tabular = [COLUMNS, ...rows.filter((row) => row.length > 1)]
  const lines = textTable(aligned(tabular, NUMBER_COLUMNS))
  const result = lines.slice(0, 1)
  let next = 1
  for (const row of rows) {
    if (row.length === 1) result.push(row[0] ?? '')
    else {
      result.push(lines[next] ?? '')
      next += 1
    }
  }
  return result
}

function aligned(rows: readonly (readonly string[])[], columns: readonly number[]): string[][] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = new Map(columns.map((column) => [column, width(column)]))
  return rows.map((row) => row.map((text, column) => text.padStart(widths.get(column) ?? 0)))
}
