import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { randomBytes } from 'node:crypto'
import { EngineUnavailableError } from '../../../engine/errors.ts'
import { eventId, type Pairs } from '../../../engine/events/audit.ts'
import type { AuditRange } from '../../../projections/audit/audit-export.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { AuditExportSource } from '../audit/audit-export-source.ts'
import {
  auditEventRecord,
  EVENT_ID,
  EVENT_RECORD,
  EXPORT_FORMATS,
  EXPORT_FORMS,
  type ExportFormat,
} from '../audit/audit-forms.ts'
import { defineRoute, EVERYONE, json, type Route, type RouteRequest } from '../define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import type { ManagementRequest } from '../management-request.ts'
import { jsonResponse } from '../responses.ts'
import { queryForm, queryTime, queryWord } from '../schemas/query.ts'
import { form, listOf, object, oneOf, orNull, TIME, text } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../timestamps.ts'

/** Carries the id of the export in the audit log. */
const EXPORT_ID_HEADER = 'x-object-store-export-id'
/** Operation in the record of an export (specification, Audit event). */
const EXPORT_OPERATION = 'audit.export'
const EXPORT_ID = '\\d{16}-[0-9a-f]{16}'
const EXPORT_ID_PARTS = /^(\d{16})-[0-9a-f]{16}$/
/** Bound on the exports between the sequence in the id of an export and the record of that export. */
const EXPORTS_MAXIMUM = 1000

const RANGE = { from: queryTime, to: queryTime, format: queryWord(...EXPORT_FORMATS) }
type RangeRequest = RouteRequest<string, typeof RANGE, never>

interface ExportRange extends AuditRange {
  readonly format: ExportFormat
}

/**
 * The range of a request; by default the whole log up to now, as JSON.
 * @throws ManagementError INVALID_REQUEST
 */
function rangeOf(request: RangeRequest, { clock }: ManagementServices): ExportRange {
  const fromMicroseconds = request.query('from') ?? microsecondsOf(0)
  const toMicroseconds = request.query('to') ?? microsecondsOf(clock() * 1000)
  if (toMicroseconds < fromMicroseconds) throw invalid('to', 'must not be before from')
  return { fromMicroseconds, toMicroseconds, format: request.query('format') ?? 'json' }
}

const exportRecords = defineRoute({
  pattern: 'GET /audit/export',
  roles: EVERYONE,
  summary: 'The audit records of a range, streamed.',
  query: RANGE,
  answer: { 200: { ...json(listOf(EVENT_RECORD)), 'text/csv; charset=utf-8': {} } },
  /**
   * The record of who exported the range is durable before the first byte goes out, and is the only record of this
   * request. HEAD exports nothing and is recorded as any other read.
   */
  async handle(request, services) {
    const range = rangeOf(request, services)
    const shape = EXPORT_FORMS[range.format]
    const headers: HeaderLine[] = [
      ['content-type', shape.contentType],
      ['content-disposition', `attachment; filename="${shape.fileName}"`],
      ['cache-control', 'no-store'],
      ['x-content-type-options', 'nosniff'],
    ]
    if (request.http.method === 'HEAD') return { status: 200, headers }
    const place = await services.heavy.enter('export', request.http)
    try {
      return await exportIn(place, request, services, range, headers)
    } catch (error) {
      place.leave()
      throw error
    }
  },
})

async function exportIn(
  place: HeavyPlace,
  request: RangeRequest,
  services: ManagementServices,
  range: ExportRange,
  headers: readonly HeaderLine[],
): Promise<HttpResponse> {
  const exportId = `${eventId(services.audit.headSequence)}-${randomBytes(8).toString('hex')}`
  const details = Object.entries({ export_id: exportId, ...rangeRecord(range) }).flat()
  await recordExport(request, details)
  const body = await AuditExportSource.open(services.audit.records(range), EXPORT_FORMS[range.format], () =>
    place.leave(),
  )
  return { status: 200, headers: [...headers, [EXPORT_ID_HEADER, exportId]], body }
}

/** @throws ManagementError AUDIT_UNAVAILABLE */
async function recordExport({ journal }: ManagementRequest, details: Pairs): Promise<void> {
  try {
    await journal.read(EXPORT_OPERATION, details)
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error
    const message = 'The record of the export cannot be made durable, so nothing is exported.'
    throw new ManagementError('AUDIT_UNAVAILABLE', message)
  }
}

const NOT_EXPORTED = { export_id: null, exported_at: null, exported_by: null, event_id: null } as const

/** A range as it appears in the record and the manifest of its export, in UTC. */
function rangeRecord({
  fromMicroseconds,
  toMicroseconds,
  format,
}: ExportRange): Record<'from' | 'to' | 'format', string> {
  return { from: rfc3339(fromMicroseconds), to: rfc3339(toMicroseconds), format }
}

/** Range and format sent with the id of an export must be those of the export. */
function requireSame(request: RangeRequest, metadata: Readonly<Record<string, unknown>>): void {
  const asked = {
    from: rfc3339OrNull(request.query('from')),
    to: rfc3339OrNull(request.query('to')),
    format: request.query('format') ?? null,
  }
  for (const [name, value] of Object.entries(asked)) {
    if (value !== null && value !== metadata[name]) throw invalid(name, 'does not match the export')
  }
}

function manifest({ deploymentId }: ManagementServices, { from, to, format }: Readonly<Record<string, unknown>>) {
  return { deployment_id: deploymentId, range: { from, to }, format }
}

/** The record of an export. Its id begins with the id of the last event before it. */
async function requireExport(
  exportId: string,
  { http }: ManagementRequest,
  { audit, heavy }: ManagementServices,
): Promise<AuditRecord> {
  const [, before] = EXPORT_ID_PARTS.exec(exportId) ?? []
  if (before === undefined) throw invalid('export_id', 'must be the id of an export')
  const query = {
    sinceMicroseconds: microsecondsOf(0),
    untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
    operation: EXPORT_OPERATION,
    limit: EXPORTS_MAXIMUM,
    after: { timeMicroseconds: microsecondsOf(0), sequence: sequenceOf(Number(before)) },
  }
  const { records } = await heavy.run('scan', http, (place) =>
    audit.query(query, { requireWanted: () => place.requireClient() }),
  )
  const found = records.find((record) => auditEventRecord(record).metadata['export_id'] === exportId)
  if (found === undefined) throw new ManagementError('NOT_FOUND', 'There is no such export.')
  return found
}

const getManifest = defineRoute({
  pattern: 'GET /audit/export/manifest',
  roles: EVERYONE,
  summary: 'The manifest of an export of a range.',
  query: { ...RANGE, export_id: queryForm(EXPORT_ID) },
  answer: {
    200: json(
      object({
        deployment_id: text(),
        range: object({ from: TIME, to: TIME }),
        format: oneOf(...EXPORT_FORMATS),
        export_id: orNull(form(EXPORT_ID)),
        exported_at: orNull(TIME),
        exported_by: orNull(object({ principal: text(), credential_id: orNull(text()) })),
        event_id: orNull(form(EVENT_ID)),
      }),
    ),
  },
  errors: ['NOT_FOUND'],
  /** Describes an export from its audit record; without an id, an export of the range that was not made yet. */
  async handle(request, services) {
    const exportId = request.query('export_id')
    if (exportId === undefined) {
      const range = rangeOf(request, services)
      return jsonResponse(200, { ...manifest(services, rangeRecord(range)), ...NOT_EXPORTED })
    }
    const { timestamp, event_id, principal, credential_id, metadata } = auditEventRecord(
      await requireExport(exportId, request, services),
    )
    requireSame(request, metadata)
    return jsonResponse(200, {
      ...manifest(services, metadata),
      export_id: exportId,
      exported_at: timestamp,
      exported_by: { principal, credential_id },
      event_id,
    })
  },
})

export const AUDIT_EXPORT_ROUTES: readonly Route[] = [exportRecords, getManifest]
