/** Turns answers of the management plane into rows for a terminal. */
import type { Answer, Shown } from '../../planes/management/routing/route-command.ts'
import { visibleText } from '../terminal/visible-text.ts'

type Row = readonly string[]

/** An answer as an object; empty if it is not one. */
export function objectOf(answer: unknown): Answer {
  return typeof answer === 'object' && answer !== null ? { ...answer } : {}
}

/** One value in one cell: a hyphen for nothing, lists with commas, control characters spelled out. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(isFlat(value) ? ', ' : '; ')
  if (typeof value !== 'object') return visibleText(String(value))
  const limit = limitOf(value)
  if (limit !== undefined) return limit
  return Object.entries(value)
    .map(([name, member]) => `${visibleText(name)}=${textOf(member)}`)
    .join(' ')
}

function isFlat(items: readonly unknown[]): boolean {
  return items.every((item) => typeof item !== 'object' || item === null)
}

/** A limit of a quota as its number; undefined for any other object. */
function limitOf(value: object): string | undefined {
  const { mode, bytes, objects } = value as { mode?: unknown; bytes?: unknown; objects?: unknown }
  if (mode === 'unlimited') return mode
  return mode === 'limit' ? String(bytes ?? objects) : undefined
}

/** An object as rows of name and value; members of members get names such as `quota.bytes` and `statements.0.effect`. */
export function fields(answer: unknown): Row[] {
  return rowsUnder('', objectOf(answer))
}

function rowsUnder(path: string, value: Answer): Row[] {
  return Object.entries(value).flatMap(([name, member]): Row[] => {
    const full = `${path}${visibleText(name)}`
    const isNested = typeof member === 'object' && member !== null && limitOf(member) === undefined
    if (!isNested || (Array.isArray(member) && isFlat(member))) return [[full, textOf(member)]]
    const rows = rowsUnder(`${full}.`, objectOf(member))
    return rows.length === 0 ? [[full, '-']] : rows
  })
}

/** How to show an answer; by default its members. */
export function rowsOf(shown: Shown | undefined): (answer: unknown) => Row[] {
  if (shown === undefined) return fields
  if ('done' in shown) return () => [[shown.done]]
  if ('rows' in shown) return (answer) => shown.rows(objectOf(answer)).map((row) => row.map(textOf))
  if ('list' in shown) {
    const { also = [] } = shown
    return (answer) => {
      const members = objectOf(answer)
      const rows = list(members, shown.list, shown.columns)
      return also.length === 0 ? rows : [...rows, [''], ...also.map((name) => [`${name}: ${textOf(members[name])}`])]
    }
  }
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
