import { type Microseconds, microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { randomBytes } from 'node:crypto'
import type { Done } from '../../../engine/commands/done.ts'
import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { EngineUnavailableError } from '../../../engine/errors.ts'
import { eventId, type Pairs } from '../../../engine/events/audit.ts'
import type { ObjectConditions } from '../../../engine/events/record-objects.ts'
import type { AuditRange } from '../../../projections/audit/audit-export.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import { threadTurns, type Turns } from '../../../projections/audit/turns.ts'
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
import { defineRoute, EVERYONE, json, type Route, type RouteRequest } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import { jsonResponse } from '../responses.ts'
import { OBJECT_QUERY, queryForm, queryTime, queryWord } from '../schemas/query.ts'
import { form, listOf, object, oneOf, orNull, SHA256, TIME, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { parseRfc3339, rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

/** Carries the id of the export in the audit log. */
const EXPORT_ID_HEADER = 'x-object-store-export-id'
/** Operation in the record of an export (specification, Audit event). */
const EXPORT_OPERATION = 'audit.export'
const EXPORT_ID = '\\d{16}-[0-9a-f]{16}'
const EXPORT_ID_PARTS = /^(\d{16})-[0-9a-f]{16}$/
/** Bound on the exports between the sequence in the id of an export and the record of that export. */
const EXPORTS_MAXIMUM = 1000

const RANGE = { from: queryTime, to: queryTime, format: queryWord(...EXPORT_FORMATS), ...OBJECT_QUERY }
type RangeRequest = RouteRequest<string, typeof RANGE, never>

interface ExportRange extends ObjectConditions {
  readonly fromMicroseconds: Microseconds
  /** Undefined: up to the record of the export. */
  readonly toMicroseconds: Microseconds | undefined
  readonly format: ExportFormat
}

/**
 * The range and format of a request; by default the whole log up to the record of the export, as JSON.
 * @throws ManagementError INVALID_REQUEST
 */
function rangeOf(request: RangeRequest, { clock }: ManagementServices): ExportRange {
  const fromMicroseconds = request.query('from') ?? microsecondsOf(0)
  const toMicroseconds = request.query('to')
  if ((toMicroseconds ?? clock() * 1000) < fromMicroseconds) throw invalid('to', 'must not be before from')
  const objects = { bucket: request.query('bucket'), key: request.query('key'), keyPrefix: request.query('key_prefix') }
  for (const [name, value] of Object.entries(objects)) {
    if (value !== undefined && Buffer.byteLength(value) > KEY_BYTES_MAXIMUM) throw invalid(name, 'is too long')
  }
  return { fromMicroseconds, toMicroseconds, format: request.query('format') ?? 'json', ...objects }
}

/**
 * The range of a recorded export. It ends with the batch of the export's record, so that later records are not in it.
 * No record of another batch has the same time.
 */
function exportedRange<R extends Pick<ExportRange, 'fromMicroseconds' | 'toMicroseconds'>>(
  range: R,
  recordedMicroseconds: Microseconds,
): R & AuditRange {
  const now = recordedMicroseconds + 1
  return { ...range, toMicroseconds: microsecondsOf(Math.min(range.toMicroseconds ?? now, now)) }
}

const exportRecords = defineRoute({
  pattern: 'GET /audit/export',
  roles: EVERYONE,
  summary: 'The audit records of a range, streamed.',
  query: RANGE,
  answer: { 200: { ...json(listOf(EVENT_RECORD)), 'text/csv; charset=utf-8': {} } },
  /**
   * The export is recorded durably before the first byte is sent; that is the only record of this request. HEAD exports
   * nothing and is recorded like any other read.
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
  const { timeMicroseconds } = await recordExport(request, Object.entries(details).flat())
  const records = services.audit.records(exportedRange(range, timeMicroseconds), place)
  const body = await AuditExportSource.open(records, EXPORT_FORMS[range.format], () => place.leave())
  return { status: 200, headers: [...headers, [EXPORT_ID_HEADER, exportId]], body }
}

/** @throws ManagementError AUDIT_UNAVAILABLE */
async function recordExport({ journal }: ManagementRequest, details: Pairs): Promise<Done> {
  try {
    return await journal.read(EXPORT_OPERATION, details)
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error
    const message = 'The record of the export cannot be made durable, so nothing is exported.'
    throw new ManagementError('AUDIT_UNAVAILABLE', message)
  }
}

const NOT_EXPORTED = {
  export_id: null,
  exported_at: null,
  exported_by: null,
  event_id: null,
  head_sequence: null,
  head_hash: null,
  records: null,
  sequences: null,
} as const

/** Marks in the record of an export that the range ends with that record. */
const UP_TO_NOW = 'now'

/** A range as it appears in the record of its export, in UTC. */
function rangeRecord({
  fromMicroseconds,
  toMicroseconds,
  format,
}: ExportRange): Record<'from' | 'to' | 'format', string> {
  const to = toMicroseconds === undefined ? UP_TO_NOW : rfc3339(toMicroseconds)
  return { from: rfc3339(fromMicroseconds), to, format }
}

/** The filter in the record, with names that differ from the names of a record's target. */
function filterRecord({ bucket, key, keyPrefix }: ObjectConditions): Record<string, string> {
  return {
    ...(bucket === undefined ? {} : { only_bucket: bucket }),
    ...(key === undefined ? {} : { only_key: key }),
    ...(keyPrefix === undefined ? {} : { only_key_prefix: keyPrefix }),
  }
}

/** Checks that range and format sent with the id of an export are equal to the export's. */
function requireSame(request: RangeRequest, metadata: Readonly<Record<string, unknown>>): void {
  const asked = {
    from: rfc3339OrNull(request.query('from')),
    to: rfc3339OrNull(request.query('to')),
    format: request.query('format') ?? null,
    only_bucket: request.query('bucket') ?? null,
    only_key: request.query('key') ?? null,
    only_key_prefix: request.query('key_prefix') ?? null,
  }
  for (const [name, value] of Object.entries(asked)) {
    if (value !== null && value !== metadata[name]) throw invalid(name, 'does not match the export')
  }
}

type Members = Readonly<Record<string, unknown>>

function manifest({ deploymentId }: ManagementServices, range: AuditRange, members: Members) {
  const { format, only_bucket: bucket, only_key: key, only_key_prefix: key_prefix } = members
  return {
    deployment_id: deploymentId,
    range: { from: rfc3339(range.fromMicroseconds), to: rfc3339(range.toMicroseconds) },
    format,
    filter: { bucket: bucket ?? null, key: key ?? null, key_prefix: key_prefix ?? null },
  }
}

function timeOf(value: unknown): Microseconds | undefined {
  const microseconds = parseRfc3339(String(value))
  return microseconds === undefined ? undefined : microsecondsOf(microseconds)
}

/** The range of an export, from its record. */
function recordedRange(record: AuditRecord, { from, to }: Members): AuditRange {
  const range = { fromMicroseconds: timeOf(from) ?? microsecondsOf(0), toMicroseconds: timeOf(to) }
  return exportedRange(range, record.timeMicroseconds)
}

/** Members that tie an export to the journal: its first and last record, their hashes, and the number of records. */
async function sequencesRecord(range: AuditRange, isFiltered: boolean, { audit }: ManagementServices, turns: Turns) {
  const ends = await audit.rangeEnds(range, turns)
  if (ends === undefined) return { records: 0, sequences: null }
  const { firstSequence, lastSequence, previousHash, lastHash } = ends
  return {
    records: isFiltered ? null : audit.entriesBetween(firstSequence, lastSequence),
    sequences: { first: firstSequence, last: lastSequence, previous_hash: previousHash, last_hash: lastHash },
  }
}

/** The record of an export. The search starts at the event before it, whose id is the prefix of the export's id. */
async function requireExport(
  exportId: string,
  request: ManagementRequest,
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
  const { records } = await heavy.run('scan', request, (place) => audit.query(query, place))
  const found = records.find((record) => auditEventRecord(record).metadata['export_id'] === exportId)
  if (found === undefined) throw new ManagementError('NOT_FOUND', 'The export does not exist.')
  return found
}

/** The last recorded export of exactly this range, format and filter, if it is among the records that a query looks at. */
async function lastExport(
  asked: ExportRange,
  request: ManagementRequest,
  { audit, heavy }: ManagementServices,
): Promise<AuditRecord | undefined> {
  const query = {
    sinceMicroseconds: microsecondsOf(0),
    untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
    operation: EXPORT_OPERATION,
    limit: EXPORTS_MAXIMUM,
    newestFirst: true,
  }
  const { records } = await heavy.run('scan', request, (place) => audit.query(query, place))
  const wanted: Members = { ...rangeRecord(asked), ...filterRecord(asked) }
  return records.find((record) => {
    const { metadata } = auditEventRecord(record)
    return EXPORT_MEMBERS.every((name) => metadata[name] === wanted[name])
  })
}

/** The members of an export's record that say what was exported. */
const EXPORT_MEMBERS = ['from', 'to', 'format', 'only_bucket', 'only_key', 'only_key_prefix'] as const

/** The manifest of a recorded export. */
async function exportedManifest(record: AuditRecord, request: ManagementRequest, services: ManagementServices) {
  const { timestamp, event_id, principal, credential_id, metadata } = auditEventRecord(record)
  const range = recordedRange(record, metadata)
  const isFiltered = Object.keys(metadata).some((name) => name.startsWith('only_'))
  return {
    ...manifest(services, range, metadata),
    head_sequence: metadata['head_sequence'] ?? null,
    head_hash: metadata['head_hash'] ?? null,
    ...(await sequencesRecord(range, isFiltered, services, threadTurns.of(request.identity.credentialId))),
    export_id: metadata['export_id'] ?? null,
    exported_at: timestamp,
    exported_by: { principal, credential_id },
    event_id,
  }
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
        filter: object({ bucket: orNull(text()), key: orNull(text()), key_prefix: orNull(text()) }),
        export_id: orNull(form(EXPORT_ID)),
        exported_at: orNull(TIME),
        exported_by: orNull(object({ principal: text(), credential_id: orNull(text()) })),
        event_id: orNull(form(EVENT_ID)),
        head_sequence: orNull(whole()),
        head_hash: orNull(SHA256),
        records: orNull(whole()),
        sequences: orNull(object({ first: whole(), last: whole(), previous_hash: SHA256, last_hash: SHA256 })),
      }),
    ),
  },
  errors: ['NOT_FOUND'],
  /** Describes an export from its audit record; without an id the last export of the range, or else a future one. */
  async handle(request, services) {
    const exportId = request.query('export_id')
    if (exportId === undefined) {
      const asked = rangeOf(request, services)
      const last = await lastExport(asked, request, services)
      if (last !== undefined) return jsonResponse(200, await exportedManifest(last, request, services))
      const range = exportedRange(asked, microsecondsOf(services.clock() * 1000))
      const members = { format: asked.format, ...filterRecord(asked) }
      return jsonResponse(200, { ...manifest(services, range, members), ...NOT_EXPORTED })
    }
    const record = await requireExport(exportId, request, services)
    requireSame(request, auditEventRecord(record).metadata)
    return jsonResponse(200, await exportedManifest(record, request, services))
  },
})

export const AUDIT_EXPORT_ROUTES: readonly Route[] = [exportRecords, getManifest]
