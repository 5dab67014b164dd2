import { type Microseconds, microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { AuditLogDamagedError, type AuditRange, type RangeEnds } from '../../../projections/audit/audit-export.ts'
import type { AuditCursor, AuditPage } from '../../../projections/audit/audit-query.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import { DAMAGE_MAXIMUM, DamageList } from '../../../projections/audit/journal-damage.ts'
import { threadTurns } from '../../../projections/audit/turns.ts'
import { auditEventRecord, EVENT_ID, EXPORT_FORMATS, PRINCIPAL_NAME } from '../audit/audit-forms.ts'
import { PrincipalNames } from '../audit/principal-names.ts'
import { CHAIN_PROBLEM, problemRecord } from '../audit/chain-problem.ts'
import {
  endingAt,
  EXPORT_OPERATION,
  exportedRange,
  type ExportRange,
  filterRecord,
  RANGE,
  rangeOf,
  rangeRecord,
  type RangeRequest,
} from '../audit/export-range.ts'
import { defineRoute, EVERYONE, json } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import { parseRfc3339, rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'
import { jsonResponse } from '../responses.ts'
import { queryForm } from '../schemas/query.ts'
import { form, listOf, object, oneOf, orNull, SHA256, TIME, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'

const EXPORT_ID = '\\d{16}-[0-9a-f]{16}'
const EXPORT_ID_PARTS = /^(\d{16})-[0-9a-f]{16}$/
/** Bound on the exports between the sequence in the id of an export and the record of that export. */
const EXPORTS_MAXIMUM = 1000

const NOT_EXPORTED = {
  export_id: null,
  exported_at: null,
  exported_by: null,
  event_id: null,
  head_sequence: null,
  head_hash: null,
  records: null,
  sequences: null,
  outcome: null,
  damage: [],
  damage_count: 0,
  damaged_records: 0,
} as const

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

/** The range of an export, from its record: `records` were exported, and `named` is the range in its name, up to the time of the export. */
function recordedRanges(
  record: AuditRecord,
  { from, to }: Members,
): { readonly records: AuditRange; readonly named: AuditRange } {
  const range = { fromMicroseconds: timeOf(from) ?? microsecondsOf(0), toMicroseconds: timeOf(to) }
  return { records: exportedRange(range, record), named: endingAt(range, record.timeMicroseconds) }
}

const NO_DAMAGE = new DamageList()

/**
 * What a range has. Where the export met damage, the ends cannot be read, or the clock of the host was set back, the whole range
 * is read again, in a place of its own: which records are missing is in no record, because there may be too many.
 */
async function contentOf(
  ranges: ReturnType<typeof recordedRanges>,
  isDamaged: boolean,
  request: ManagementRequest,
  { audit, heavy }: ManagementServices,
): Promise<{ readonly records: number; readonly ends: RangeEnds | undefined; readonly damage: DamageList }> {
  if (!isDamaged && audit.isInOrder) {
    try {
      // In a log in order both are the same records.
      const ends = await audit.rangeEnds(
        { ...ranges.records, ...ranges.named },
        threadTurns.of(request.identity.credentialId),
      )
      const records = ends === undefined ? 0 : audit.entriesBetween(ends.firstSequence, ends.lastSequence)
      return { records, ends, damage: NO_DAMAGE }
    } catch (error) {
      if (!(error instanceof AuditLogDamagedError)) throw error
    }
  }
  const { count, ends, damage } = await heavy.run('export', request, (place) => audit.survey(ranges.records, place))
  return { records: count, ends, damage }
}

/**
 * Members that tie an export to the journal: the first and last record that can be read, their hashes, the number of records,
 * and the records that cannot be read.
 */
function contentRecord({ records, ends, damage }: Awaited<ReturnType<typeof contentOf>>, isFiltered: boolean) {
  return {
    records: isFiltered && ends !== undefined ? null : records,
    sequences: ends === undefined ? null : sequencesRecord(ends),
    damage: damage.entries.map(problemRecord),
    damage_count: damage.count,
    damaged_records: damage.records,
  }
}

function sequencesRecord({ firstSequence, lastSequence, previousHash, lastHash, parts }: RangeEnds) {
  const ends = { first: firstSequence, last: lastSequence, previous_hash: previousHash, last_hash: lastHash }
  // Only where the clock was set back, records between the first and the last have other times.
  return parts === 1 ? ends : { ...ends, parts }
}

/** Pages of records in which the outcome of an export is searched: it may be as far from the attempt as the export was long. */
const OUTCOME_PAGES_MAXIMUM = 50

/** The outcome of an export; undefined while it runs, and for ever when the server was killed meanwhile. */
async function outcomeOf(
  attempt: AuditRecord,
  request: ManagementRequest,
  { audit, heavy }: ManagementServices,
): Promise<AuditRecord | undefined> {
  let after: AuditCursor | undefined = attempt
  for (let pages = 0; after !== undefined && pages < OUTCOME_PAGES_MAXIMUM; pages += 1) {
    const query = { ...EVER, operation: EXPORT_OPERATION, limit: EXPORTS_MAXIMUM, after }
    const page: AuditPage = await heavy.run('scan', request, (place) => audit.query(query, place))
    const found = page.records.find(({ entry: { intent } }) => intent === attempt.sequence)
    if (found !== undefined) return found
    after = page.next
  }
  return undefined
}

function outcomeRecord(outcome: AuditRecord) {
  const { event_id, timestamp, result, metadata } = auditEventRecord(outcome)
  return { event_id, timestamp, result, error: metadata['error'] ?? null }
}

/** The whole log. */
const EVER = {
  sinceMicroseconds: microsecondsOf(0),
  untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
} as const

/** The record of the attempt of an export. The search starts at the event before it, whose id is the prefix of the export's id. */
async function requireExport(
  exportId: string,
  request: ManagementRequest,
  { audit, heavy }: ManagementServices,
): Promise<AuditRecord> {
  const [, before] = EXPORT_ID_PARTS.exec(exportId) ?? []
  if (before === undefined) throw invalid('export_id', 'must be the id of an export')
  const query = {
    ...EVER,
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
    ...EVER,
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
  const ranges = recordedRanges(record, metadata)
  const isFiltered = Object.keys(metadata).some((name) => name.startsWith('only_'))
  const outcome = await outcomeOf(record, request, services)
  const isDamaged = outcome !== undefined && auditEventRecord(outcome).metadata['damage'] !== 0
  return {
    ...manifest(services, ranges.named, metadata),
    head_sequence: metadata['head_sequence'] ?? null,
    head_hash: metadata['head_hash'] ?? null,
    ...contentRecord(await contentOf(ranges, isDamaged, request, services), isFiltered),
    outcome: outcome === undefined ? null : outcomeRecord(outcome),
    export_id: metadata['export_id'] ?? null,
    exported_at: timestamp,
    exported_by: { principal, principal_name: new PrincipalNames(services.access).of(record.entry), credential_id },
    event_id,
  }
}

export const getManifest = defineRoute({
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
        exported_by: orNull(
          object({ principal: text(), principal_name: PRINCIPAL_NAME, credential_id: orNull(text()) }),
        ),
        event_id: orNull(form(EVENT_ID)),
        head_sequence: orNull(whole()),
        head_hash: orNull(SHA256),
        records: orNull(whole()),
        sequences: orNull(
          object({ first: whole(), last: whole(), previous_hash: SHA256, last_hash: SHA256 }, { parts: whole() }),
        ),
        outcome: orNull(
          object({
            event_id: form(EVENT_ID),
            timestamp: TIME,
            result: oneOf('success', 'failure'),
            error: orNull(text()),
          }),
        ),
        damage: listOf(CHAIN_PROBLEM, { maximum: DAMAGE_MAXIMUM }),
        damage_count: whole(),
        damaged_records: whole(),
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
      const range = endingAt(asked, microsecondsOf(services.clock() * 1000))
      const members = { format: asked.format, ...filterRecord(asked) }
      return jsonResponse(200, { ...manifest(services, range, members), ...NOT_EXPORTED })
    }
    const record = await requireExport(exportId, request, services)
    requireSame(request, auditEventRecord(record).metadata)
    return jsonResponse(200, await exportedManifest(record, request, services))
  },
})
