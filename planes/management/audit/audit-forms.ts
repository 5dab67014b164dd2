import { AUDIT_RESULT_NAMES, eventId } from '../../../engine/events/audit.ts'
import { hasOwnTime } from '../../../engine/journal/record-times.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import { documented, form, mapOf, object, oneOf, orNull, TIME, text } from '../schemas/schema.ts'
import { rfc3339 } from '../requests/timestamps.ts'

/** Pattern of an event id. */
export const EVENT_ID = '\\d{16}'

/** The members of an audit record as JSON (specification, Audit event), in the order of the columns of the CSV. */
const EVENT_MEMBERS = {
  timestamp: TIME,
  event_id: form(EVENT_ID),
  principal: text(),
  credential_id: orNull(text()),
  source_ip: orNull(text()),
  request_id: orNull(text()),
  operation: text(),
  resource: text(),
  result: oneOf(...AUDIT_RESULT_NAMES),
  metadata: mapOf(documented({ type: ['string', 'integer'] })),
}

/** Only of a record whose place in the order of the log is by another time: the clock of the host was behind the log. */
const OWN_TIME_MEMBERS = { order_time: TIME }

/** A record as it was written, in exports. */
export const EVENT_RECORD = object(EVENT_MEMBERS, OWN_TIME_MEMBERS)

/** The name of the principal is not in its record: it is looked up when the record is shown. */
export const PRINCIPAL_NAME = orNull(text())

/** A record in a page. */
export const NAMED_EVENT_RECORD = object({ ...EVENT_MEMBERS, principal_name: PRINCIPAL_NAME }, OWN_TIME_MEMBERS)

type AuditColumn = keyof typeof EVENT_MEMBERS

/** Columns of the CSV, in their fixed order (specification, Audit export directory). */
export const AUDIT_COLUMNS = Object.keys(EVENT_MEMBERS) as AuditColumn[]

export function auditEventRecord(record: AuditRecord): EventRecord {
  const members = eventMembers(record)
  return hasOwnTime(record) ? { ...members, order_time: rfc3339(record.orderMicroseconds) } : members
}

type EventRecord = ReturnType<typeof eventMembers> & { readonly order_time?: string }

function eventMembers({ sequence, timeMicroseconds, entry }: AuditRecord) {
  return {
    timestamp: rfc3339(timeMicroseconds),
    event_id: eventId(sequence),
    principal: entry.principal,
    credential_id: entry.credentialId ?? null,
    source_ip: entry.sourceAddress ?? null,
    request_id: entry.requestId ?? null,
    operation: entry.operation,
    resource: entry.resource,
    result: entry.result,
    metadata: metadataRecord(entry),
  } satisfies Record<AuditColumn, unknown>
}

/** The last value of a repeated name wins. The record of an outcome names the record of its attempt. */
function metadataRecord({ metadata, intent }: AuditRecord['entry']): Record<string, unknown> {
  const members: [string, string | number][] = []
  for (let index = 0; index + 1 < metadata.length; index += 2) {
    members.push([String(metadata[index]), metadata[index + 1] as string | number])
  }
  if (intent !== undefined) members.push(['intent_event_id', eventId(intent)])
  return Object.fromEntries(members)
}

/** How an export is written: what comes before, between and after its records. */
export interface ExportForm {
  readonly contentType: string
  readonly fileName: string
  readonly head: string
  readonly record: (record: AuditRecord) => string
  readonly separator: string
  readonly tail: string
}

export const EXPORT_FORMATS = ['json', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const EXPORT_FORMS: Readonly<Record<ExportFormat, ExportForm>> = {
  json: {
    contentType: 'application/json',
    fileName: 'audit.json',
    head: '[\n',
    record: (record) => JSON.stringify(auditEventRecord(record)),
    separator: ',\n',
    tail: '\n]\n',
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    fileName: 'audit.csv',
    head: `${AUDIT_COLUMNS.join(',')}\r\n`,
    record: csvRow,
    separator: '',
    tail: '',
  },
}

/** A row (RFC 4180). The columns are fixed, so the order time is in `metadata`. Cells are not altered to guard against spreadsheet formulas: an export shows what was recorded. */
function csvRow(record: AuditRecord): string {
  const { metadata, ...others } = eventMembers(record)
  const own = hasOwnTime(record) ? { order_time: rfc3339(record.orderMicroseconds) } : {}
  const fields = { ...others, metadata: { ...metadata, ...own } }
  const cells = AUDIT_COLUMNS.map((name) => {
    const value = fields[name]
    return csvField(typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value))
  })
  return `${cells.join(',')}\r\n`
}

function csvField(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
