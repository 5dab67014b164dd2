import { randomBytes } from 'node:crypto'
import { EngineUnavailableError } from '../../../engine/errors.ts'
import { eventId, type Pairs } from '../../../engine/events/audit.ts'
import type { AuditRange } from '../../../projections/audit/audit-export.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { AuditExportSource } from '../audit-export-source.ts'
import { auditEventRecord, EXPORT_FORMATS, EXPORT_FORMS, type ExportFormat } from '../audit-forms.ts'
import { invalid, ManagementError } from '../errors.ts'
import { auditOf, type ManagementRequest } from '../management-request.ts'
import { timeParameter, wordParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../timestamps.ts'

/** Tells the client under which id its export stands in the audit log. */
export const EXPORT_ID_HEADER = 'x-object-store-export-id'
/** What the record of an export is called (specification, Audit event). */
const EXPORT_OPERATION = 'audit.export'
const EXPORT_ID = /^(\d{16})-[0-9a-f]{16}$/
/** The record of an export stands at most so many exports behind the place that its id names. */
const EXPORTS_MAXIMUM = 1000

interface ExportRange extends AuditRange {
  readonly format: ExportFormat
}

/**
 * The range of a request: from the beginning of the log, up to now, as JSON, where it does not say otherwise.
 * @throws ManagementError INVALID_REQUEST
 */
function rangeOf(request: ManagementRequest, { clock }: ManagementServices): ExportRange {
  const fromMicroseconds = timeParameter(request, 'from') ?? 0
  const toMicroseconds = timeParameter(request, 'to') ?? clock() * 1000
  if (toMicroseconds < fromMicroseconds) throw invalid('to', 'must not be before from')
  return { fromMicroseconds, toMicroseconds, format: wordParameter(request, 'format', EXPORT_FORMATS) ?? 'json' }
}

/**
 * Streams the records of a range. That it was exported, by whom, is durable in the audit log before the first byte goes
 * out, and is the one record of this request. The answer to HEAD exports nothing and has the record of any read.
 */
export async function exportRecords(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const range = rangeOf(request, services)
  const form = EXPORT_FORMS[range.format]
  const headers: HeaderLine[] = [
    ['content-type', form.contentType],
    ['content-disposition', `attachment; filename="${form.fileName}"`],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
  ]
  if (request.http.method === 'HEAD') return { status: 200, headers }
  const exportId = `${eventId(services.audit.headSequence)}-${randomBytes(8).toString('hex')}`
  const details = Object.entries({ export_id: exportId, ...told(range) }).flat()
  await recordExport(request, services, details)
  const body = await AuditExportSource.open(services.audit.records(range), form)
  return { status: 200, headers: [...headers, [EXPORT_ID_HEADER, exportId]], body }
}

/** @throws ManagementError AUDIT_UNAVAILABLE */
async function recordExport(request: ManagementRequest, { engine }: ManagementServices, details: Pairs): Promise<void> {
  const audit = { ...auditOf(request, details), operation: EXPORT_OPERATION }
  try {
    await engine.execute({ kind: 'record-read', audit })
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error
    const message = 'The record of the export cannot be made durable, so nothing is exported.'
    throw new ManagementError('AUDIT_UNAVAILABLE', message)
  }
  request.journaled = { kind: 'outcome' }
}

/**
 * The manifest of an export: what the audit log says of it. Without an id it is that of an export which nobody has made
 * yet.
 */
export async function getManifest(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const exportId = request.query.get('export_id')
  if (exportId === undefined) {
    const range = rangeOf(request, services)
    return jsonResponse(200, { ...manifest(services, told(range)), ...NOT_EXPORTED })
  }
  const { timestamp, event_id, principal, credential_id, metadata } = auditEventRecord(
    await requireExport(exportId, services),
  )
  requireSame(request, metadata)
  return jsonResponse(200, {
    ...manifest(services, metadata),
    export_id: exportId,
    exported_at: timestamp,
    exported_by: { principal, credential_id },
    event_id,
  })
}

const NOT_EXPORTED = { export_id: null, exported_at: null, exported_by: null, event_id: null } as const

/** A range as the record and the manifest of its export tell it, in UTC. */
function told({ fromMicroseconds, toMicroseconds, format }: ExportRange): Record<'from' | 'to' | 'format', string> {
  return { from: rfc3339(fromMicroseconds), to: rfc3339(toMicroseconds), format }
}

/** What is asked for beside the id of an export must be what was exported. */
function requireSame(request: ManagementRequest, metadata: Readonly<Record<string, unknown>>): void {
  const asked = {
    from: rfc3339OrNull(timeParameter(request, 'from')),
    to: rfc3339OrNull(timeParameter(request, 'to')),
    format: wordParameter(request, 'format', EXPORT_FORMATS) ?? null,
  }
  for (const [name, value] of Object.entries(asked)) {
    if (value !== null && value !== metadata[name]) throw invalid(name, 'is not that of the export')
  }
}

function manifest({ deploymentId }: ManagementServices, { from, to, format }: Readonly<Record<string, unknown>>) {
  return { deployment_id: deploymentId, range: { from, to }, format }
}

/** The record of an export. An id begins with that of an event which was the last one just before. */
async function requireExport(exportId: string, { audit }: ManagementServices): Promise<AuditRecord> {
  const [, before] = EXPORT_ID.exec(exportId) ?? []
  if (before === undefined) throw invalid('export_id', 'must be the id of an export')
  const { records } = await audit.query({
    sinceMicroseconds: 0,
    untilMicroseconds: Number.POSITIVE_INFINITY,
    operation: EXPORT_OPERATION,
    limit: EXPORTS_MAXIMUM,
    after: { timeMicroseconds: 0, sequence: Number(before) },
  })
  const found = records.find((record) => auditEventRecord(record).metadata['export_id'] === exportId)
  if (found === undefined) throw new ManagementError('NOT_FOUND', 'There is no such export.')
  return found
}
