import { randomBytes } from 'node:crypto'
import type { Done } from '../../../engine/commands/done.ts'
import { DomainError, EngineUnavailableError } from '../../../engine/errors.ts'
import { eventId, type Pairs } from '../../../engine/events/audit.ts'
import type { AuditRecords } from '../../../projections/audit/audit-export.ts'
import { damageText } from '../../../projections/audit/journal-damage.ts'
import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { AuditExportSource } from '../audit/audit-export-source.ts'
import { EVENT_RECORD, EXPORT_FORMS } from '../audit/audit-forms.ts'
import {
  EXPORT_OPERATION,
  exportedRange,
  type ExportRange,
  filterRecord,
  RANGE,
  rangeOf,
  rangeRecord,
  type RangeRequest,
} from '../audit/export-range.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import { listOf } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { getManifest } from './export-manifest.ts'

/** Carries the id of the export in the audit log. */
const EXPORT_ID_HEADER = 'x-object-store-export-id'
const exportRecords = defineRoute({
  pattern: 'GET /audit/export',
  roles: EVERYONE,
  summary: 'The audit records of a range, streamed.',
  query: RANGE,
  answer: { 200: { ...json(listOf(EVENT_RECORD)), 'text/csv; charset=utf-8': {} } },
  /**
   * The attempt is recorded durably before the first byte is sent, the outcome before the last. HEAD exports nothing and is
   * recorded like any other read. Records that cannot be read are named in the body, and the rest is exported.
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
    const place = await services.heavy.enter('export', request)
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
  const head = services.audit.head
  const exportId = `${eventId(head.sequence)}-${randomBytes(8).toString('hex')}`
  const described = { export_id: exportId, ...rangeRecord(range), ...filterRecord(range) }
  const details = { ...described, head_sequence: head.sequence, head_hash: head.hash }
  const recorded = await recordExport(request, Object.entries(details).flat())
  const records = services.audit.records(exportedRange(range, recorded), place)
  const body = await AuditExportSource.open(records, EXPORT_FORMS[range.format], {
    ended: () => concludeExport(request, services, exportId, records),
    closed: () => place.leave(),
  })
  return { status: 200, headers: [...headers, [EXPORT_ID_HEADER, exportId]], body }
}

/** Records what was exported, and what could not be read. */
async function concludeExport(
  { journal }: ManagementRequest,
  { damageFound }: ManagementServices,
  exportId: string,
  { count, damage }: AuditRecords,
): Promise<void> {
  const [first] = damage.entries
  if (first !== undefined) damageFound('audit', `${damageText(first)}; ${damage.count} places in all`)
  const outcome = { export_id: exportId, records: count, damage: damage.count, damaged_records: damage.records }
  await journal.concludeRead(Object.entries(outcome).flat())
}

/** @throws ManagementError AUDIT_UNAVAILABLE */
async function recordExport({ journal }: ManagementRequest, details: Pairs): Promise<Done> {
  try {
    return await journal.beginRead(EXPORT_OPERATION, details)
  } catch (error) {
    const isFull = error instanceof DomainError && error.code === 'journal-full'
    if (!(error instanceof EngineUnavailableError) && !isFull) throw error
    const message = 'The record of the export cannot be made durable, so nothing is exported.'
    throw new ManagementError('AUDIT_UNAVAILABLE', message)
  }
}

export const AUDIT_EXPORT_ROUTES: readonly Route[] = [exportRecords, getManifest]
