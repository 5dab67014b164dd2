/** Tables of the format pages, so that specs can compare them with the code. */
import { readFileSync } from 'node:fs'

export type MarkdownRow = readonly string[]

/** The rows of every table of a page, header first; the line of dashes is left out. */
export function tablesOf(page: string): MarkdownRow[][] {
  const tables: MarkdownRow[][] = []
  let open: MarkdownRow[] | undefined
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    if (!line.startsWith('|')) {
      open = undefined
      continue
    }
    if (open === undefined) {
      open = []
      tables.push(open)
    }
    if (!/^\|[\s|:-]+\|$/.test(line))
      open.push(
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      )
  }
  return tables
}

/** The table whose header is this one, in the order of the page; `which` tells equal headers apart. */
export function tableWith(page: string, header: string, which = 0): MarkdownRow[] {
  const found = tablesOf(page).filter(([first]) => first?.join(' | ') === header)[which]
  if (found === undefined) throw new Error(`${page} has no table ${which} with the header ${header}`)
  return found.slice(1)
}

/** The text of a table, to be put into its page. */
export function markdownTable(header: string, rows: readonly MarkdownRow[]): string {
  const dashes = header.split(' | ').map(() => '---')
  const lines = [header, dashes.join(' | '), ...rows.map((cells) => cells.join(' | '))]
  return lines.map((line) => `| ${line} |`).join('\n')
}

/** A field of a byte table. */
export interface ByteField {
  readonly offset: number
  readonly size: number
  readonly name: string
}

/** The rows of a byte table whose offsets and sizes are numbers; those of variable length are left out. */
export function byteFields(rows: readonly MarkdownRow[]): ByteField[] {
  return rows.flatMap(([offset = '', size = '', name = '']) =>
    /^\d+$/.test(offset) && /^\d+$/.test(size) ? [{ offset: Number(offset), size: Number(size), name }] : [],
  )
}
