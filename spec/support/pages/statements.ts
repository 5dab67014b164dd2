/** The table of the customer's specification (spec/specification.md), held against the specs that name its statements. */
import { type MarkdownRow, tablesOf } from './markdown-tables.ts'

export const STATEMENTS = 'spec/specification.md'
export const STATEMENT_HEADER = 'id | statement | state | proved by'

const ID = /^[A-Z][A-Z0-9]{1,2}-[A-Z][A-Z0-9]{2}-\d\d$/
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g

/** The rows of every table of statements on a page. */
export function statementRows(page: string): MarkdownRow[] {
  return tablesOf(page).flatMap(([header, ...rows]) => (header?.join(' | ') === STATEMENT_HEADER ? rows : []))
}

/** The ids that a file says it proves: what comes after "Proves:" in its comments, up to their end or an empty line. */
export function provedBy(text: string): string[] {
  return [...text.matchAll(/^[ /*]*Proves: (?<ids>(?:.*[^.]\n)*?.*\.)(?: \*\/)?$/gm)].flatMap((match) =>
    (match.groups?.['ids'] ?? '').slice(0, -1).split(/[\s,*]+/),
  )
}

/** What the files of a checkout say. */
export interface StatementFiles {
  /** Text by path from `spec/`, of every file that may prove a statement. */
  readonly specs: ReadonlyMap<string, string>
  /** Text of a page by its path from `spec/`; undefined where there is none. */
  readonly page: (path: string) => string | undefined
}

function linksIn(cell: string): string[] {
  return [...cell.matchAll(LINK)].map(([, path = '']) => path)
}

/** What is wrong with the state of a statement, and with what proves it. */
function rowFindings([id = '', statement = '', state = '', proofs = '']: MarkdownRow, files: StatementFiles): string[] {
  const found: string[] = []
  if (!ID.test(id)) found.push(`${id}: not an id`)
  if (statement === '') found.push(`${id}: says nothing`)
  const specs = linksIn(proofs)
  for (const path of specs) {
    const text = files.specs.get(path)
    if (text === undefined) found.push(`${id}: ${path} is not a spec`)
    else if (!provedBy(text).includes(id)) found.push(`${id}: ${path} does not say that it proves it`)
  }
  if (state === 'holds, not yet proved') {
    if (specs.length > 0) found.push(`${id}: has a proof, so it is proved`)
    return found
  }
  if (state === 'holds') return specs.length === 0 ? [...found, `${id}: nothing proves it`] : found
  const [decision = ''] = linksIn(state)
  if (!/^\[decided otherwise\]\(decisions\/\d{4}-[^)]+\)$/.test(state)) found.push(`${id}: unknown state "${state}"`)
  else if (!/^Status: accepted\b/m.test(files.page(decision) ?? '')) found.push(`${id}: ${decision} is not accepted`)
  return found
}

/** What is not true of the table: wrong rows, ids that occur twice, and ids that specs name and the table does not. */
export function statementFindings(rows: readonly MarkdownRow[], files: StatementFiles): string[] {
  const found = rows.flatMap((row) => rowFindings(row, files))
  const seen = new Map<string, string>()
  for (const [id = '', , , proofs = ''] of rows) {
    if (seen.has(id)) found.push(`${id}: occurs twice`)
    seen.set(id, proofs)
  }
  for (const [path, text] of files.specs) {
    for (const id of provedBy(text)) {
      const proofs = seen.get(id)
      if (proofs === undefined) found.push(`${path}: proves ${id}, which the table does not have`)
      else if (!linksIn(proofs).includes(path)) found.push(`${path}: proves ${id}, whose row does not say so`)
    }
  }
  return found
}
