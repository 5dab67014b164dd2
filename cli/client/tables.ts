/** How answers of the management plane become rows for a terminal. */
import { visibleText } from '../visible-text.ts'

type Row = readonly string[]
type Json = Readonly<Record<string, unknown>>

/** One value for the eyes: a hyphen for null, objects as JSON, and nothing that a terminal would obey. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return visibleText(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** An object as rows of name and value. */
export function fields(answer: Json | undefined): Row[] {
  return Object.entries(answer ?? {}).map(([name, value]) => [name, textOf(value)])
}

/** A list in a member of the answer, with the named columns under a heading. */
export function list(member: string, columns: readonly string[]): (answer: Json) => Row[] {
  return (answer) => {
    const rows = (answer[member] ?? []) as readonly Json[]
    const heading = columns.map((column) => column.toUpperCase())
    return [heading, ...rows.map((row) => columns.map((column) => textOf(row[column])))]
  }
}

/** A page of a listing: its entries, then common prefixes, then what asks for the next page when there is one. */
export function page(member: string, columns: readonly string[]): (answer: Json) => Row[] {
  const entries = list(member, columns)
  return (answer) => {
    const { prefixes = [], next_after, next_after_version_id } = answer
    const rows = [...entries(answer), ...(prefixes as readonly string[]).map((prefix) => [textOf(prefix)])]
    if (typeof next_after !== 'string') return rows
    const version = typeof next_after_version_id === 'string' ? ` --after-version-id ${next_after_version_id}` : ''
    return [...rows, [''], [`there is more: --after ${textOf(next_after)}${version}`]]
  }
}

/** For answers without a body. */
export function done(text: string): () => Row[] {
  return () => [[text]]
}
