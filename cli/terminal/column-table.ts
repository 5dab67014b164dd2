import { isTerminal } from './is-terminal.ts'
import { visibleText } from './visible-text.ts'

/** A column of a table whose rows come a page at a time, or one by one. */
export type Column<T> = readonly [heading: string, width: number, value: (row: T) => unknown]

/** On a terminal only values of the last column are longer than this, or than the initial width of their column. */
const CELL_MAXIMUM = 40

/**
 * A table that is printed page by page. The columns of a page are as wide as its longest value, and never become
 * narrower again, so that a long value shifts no other row. On a terminal a value that is too long ends in an ellipsis;
 * output to a pipe is never shortened. The last column takes the rest of the line.
 */
export class ColumnTable<T> {
  readonly #columns: readonly Column<T>[]
  readonly #widths: number[]
  readonly #onTerminal: boolean
  #isHeaded = false

  /** @param output where the rows go: whether it is a terminal */
  constructor(columns: readonly Column<T>[], output: object) {
    this.#columns = columns
    this.#widths = columns.map(([, width]) => width)
    this.#onTerminal = isTerminal(output)
  }

  /** The headings, for rows that come one by one. */
  heading(): string {
    this.#isHeaded = true
    return this.#line(this.#columns.map(([heading]) => heading))
  }

  /** The lines of a page, with the headings above the first one. */
  page(rows: readonly T[]): string[] {
    const cells = rows.map((row) => this.#cells(row, (index) => Math.max(this.#widths[index] ?? 0, CELL_MAXIMUM)))
    for (const row of cells) {
      for (const [index, text] of row.entries()) this.#widths[index] = Math.max(this.#widths[index] ?? 0, text.length)
    }
    const lines = cells.map((row) => this.#line(row))
    return this.#isHeaded ? lines : [this.heading(), ...lines]
  }

  /** Formats a row that arrives after the header. It cannot widen the columns, since the rows before are printed already. */
  row(row: T): string {
    return this.#line(this.#cells(row, (index) => this.#widths[index] ?? 0))
  }

  /** Values come from clients, so control characters are spelled out. */
  #cells(row: T, widthMaximum: (index: number) => number): string[] {
    return this.#columns.map(([, , value], index) => {
      const text = visibleText(String(value(row) ?? '-'))
      const maximum = widthMaximum(index)
      if (!this.#onTerminal || index === this.#columns.length - 1 || text.length <= maximum) return text
      return `${text.slice(0, maximum - 1)}…`
    })
  }

  #line(cells: readonly string[]): string {
    const last = cells.length - 1
    return cells
      .map((text, index) => (index === last ? text : text.padEnd(this.#widths[index] ?? 0)))
      .join('  ')
      .trimEnd()
  }
}
