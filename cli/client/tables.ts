/** Turns answers of the management plane into rows for a terminal. */
import type { Answer, Shown } from '../../planes/management/route-command.ts'
import { visibleText } from '../terminal/visible-text.ts'

type Row = readonly string[]

/** An answer as an object; empty if it is not one. */
export function objectOf(answer: unknown): Answer {
  return typeof answer === 'object' && answer !== null ? { ...answer } : {}
}

/** One value: a hyphen for null, objects as JSON, control characters spelled out. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return visibleText(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** An object as rows of name and value. */
export function fields(answer: unknown): Row[] {
  return Object.entries(objectOf(answer)).map(([name, value]) => [name, textOf(value)])
}

/** How to show an answer; by default its members. */
export function rowsOf(shown: Shown | undefined): (answer: unknown) => Row[] {
  if (shown === undefined) return fields
  if ('done' in shown) return () => [[shown.done]]
  if ('list' in shown) return (answer) => list(objectOf(answer), shown.list, shown.columns)
  return (answer) => page(objectOf(answer), shown.page, shown.columns)
}

/** A list in the answer, with these columns under a heading. */
function list(answer: Answer, member: string, columns: readonly string[]): Row[] {
  const rows = (answer[member] ?? []) as readonly Answer[]
  const heading = columns.map((column) => column.toUpperCase())
  return [heading, ...rows.map((row) => columns.map((column) => textOf(row[column])))]
}

/** A page of a listing: entries, common prefixes, then the options that ask for the next page, if there is one. */
function page(answer: Answer, member: string, columns: readonly string[]): Row[] {
  const { prefixes = [], next_after, next_after_version_id } = answer
  const rows = [...list(answer, member, columns), ...(prefixes as readonly string[]).map((prefix) => [textOf(prefix)])]
  if (typeof next_after !== 'string') return rows
  const version = typeof next_after_version_id === 'string' ? ` --after-version-id ${next_after_version_id}` : ''
  return [...rows, [''], [`there is more: --after ${textOf(next_after)}${version}`]]
}
