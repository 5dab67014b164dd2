/** The tables that the page of the journal shows of the schemas of changes. */
import { auditPart } from '../../../engine/events/audit.ts'
import { CHANGES } from '../../../engine/events/changes.ts'
import type { Field, Fields } from '../../../engine/events/schema/compile.ts'
import * as values from '../../../engine/events/values.ts'
import type { MarkdownRow } from '../pages/markdown-tables.ts'

function fieldText({ kind: { page }, label, note, trailing }: Field<unknown>): string {
  const name = `${label}${trailing === undefined ? '' : '†'}`
  const called = page.startsWith(label) ? `${name}${page.slice(label.length)}` : `${name}: ${page}`
  return note === undefined ? called : `${called} (${note})`
}

function fieldsText(fields: Fields): string {
  return Object.values(fields).map(fieldText).join(', ')
}

const entry = [...Object.values(auditPart.fields).map(fieldText), 'changes: an array of at least one (kind 3 only)']

const changes = Object.values(CHANGES)
  .toSorted((left, right) => left.code - right.code)
  .map(({ code, name, fields }): MarkdownRow => [String(code), name, fieldsText(fields)])

const records = Object.values(values).flatMap((value): MarkdownRow[] =>
  typeof value === 'object' && 'fields' in value ? [[value.page, fieldsText(value.fields)]] : [],
)

const payloads = Object.values(values.payloadReference.variants).map(
  ({ code, meaning, fields }): MarkdownRow => [String(code), meaning, fieldsText(fields)],
)

/** The rows of each table by its header. */
export const CHANGE_TABLES: Readonly<Record<string, readonly MarkdownRow[]>> = {
  'index | field': entry.map((text, index) => [String(index), text]),
  'kind | name | fields after the kind': changes,
  'value | fields': records,
  'first | meaning | fields after it': payloads,
}
