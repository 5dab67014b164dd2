/**
 * Lays out rows as columns padded with blanks, two blanks apart, for a terminal or a pipe.
 * @returns one line for each row, without trailing blanks
 */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    // A row of one cell is a separate line.
    if (row.length === 1) continue
    for (const [column, text] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, text.length)
  }
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
