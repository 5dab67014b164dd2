import { type AuditResult, eventId } from '../../engine/events/audit.ts'
import type { AuditRecord } from '../../projections/audit/audit-record.ts'
import { rfc3339 } from './timestamps.ts'

/** One audit record as JSON (specification, Audit event). The members have the order of the columns of the CSV. */
export interface AuditEventRecord {
  readonly timestamp: string
  readonly event_id: string
  readonly principal: string
  readonly credential_id: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
  readonly operation: string
  readonly resource: string
  readonly result: AuditResult
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Columns of the CSV, in their fixed order (specification, Audit export directory). */
export const AUDIT_COLUMNS = [
  'timestamp',
  'event_id',
  'principal',
  'credential_id',
  'source_ip',
  'request_id',
  'operation',
  'resource',
  'result',
  'metadata',
] as const satisfies (keyof AuditEventRecord)[]

export function auditEventRecord({ sequence, timeMicroseconds, entry }: AuditRecord): AuditEventRecord {
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
  }
}

/** Of a name that comes twice the later value counts. The second record of a pair names the first. */
function metadataRecord({ metadata, intent }: AuditRecord['entry']): Record<string, unknown> {
  const members: [string, string | number][] = []
  for (let index = 0; index + 1 < metadata.length; index += 2) {
    members.push([String(metadata[index]), metadata[index + 1] as string | number])
  }
  if (intent !== undefined) members.push(['intent_event_id', eventId(intent)])
  return Object.fromEntries(members)
}

/** How an export is written: what stands before, between and behind its records. */
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

/** A row (RFC 4180). A field is what it is, whatever a spreadsheet may make of it. */
function csvRow(record: AuditRecord): string {
  const fields = auditEventRecord(record)
  const cells = AUDIT_COLUMNS.map((name) => {
    const value = fields[name]
    return csvField(typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value))
  })
  return `${cells.join(',')}\r\n`
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
