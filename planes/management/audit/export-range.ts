import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { type Microseconds, microsecondsOf } from '../../../engine/brands.ts'
import type { Done } from '../../../engine/commands/done.ts'
import type { ObjectConditions } from '../../../engine/events/record-objects.ts'
import type { AuditRange } from '../../../projections/audit/audit-export.ts'
import { invalid } from '../errors.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import type { RouteRequest } from '../routing/define-route.ts'
import { OBJECT_QUERY, queryTime, queryWord } from '../schemas/query.ts'
import type { ManagementServices } from '../services.ts'
import { EXPORT_FORMATS, type ExportFormat } from './audit-forms.ts'

/** Operation in the records of an export (specification, Audit event). */
export const EXPORT_OPERATION = 'audit.export'

export const RANGE = { from: queryTime, to: queryTime, format: queryWord(...EXPORT_FORMATS), ...OBJECT_QUERY }
export type RangeRequest = RouteRequest<string, typeof RANGE, never>

export interface ExportRange extends ObjectConditions {
  readonly fromMicroseconds: Microseconds
  /** Undefined: up to the record of the export. */
  readonly toMicroseconds: Microseconds | undefined
  readonly format: ExportFormat
}

/**
 * The range and format of a request; by default the whole log up to the record of the export, as JSON.
 * @throws ManagementError INVALID_REQUEST
 */
export function rangeOf(request: RangeRequest, { clock }: ManagementServices): ExportRange {
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
 * The records of an export. They end with the batch of the export's record, so that later records are not among them,
 * whatever their times. Earlier records can have later times than it, where the clock was ahead before: they are exported.
 */
export function exportedRange<R extends Pick<ExportRange, 'fromMicroseconds' | 'toMicroseconds'>>(
  range: R,
  { sequence }: Pick<Done, 'sequence'>,
): R & AuditRange {
  const toMicroseconds = range.toMicroseconds ?? microsecondsOf(Number.POSITIVE_INFINITY)
  return { ...range, toMicroseconds, throughSequence: sequence }
}

/** A range that ends with a moment at the latest, where the range after it takes up. */
export function endingAt<R extends Pick<ExportRange, 'fromMicroseconds' | 'toMicroseconds'>>(
  range: R,
  moment: Microseconds,
): R & AuditRange {
  const now = moment + 1
  return { ...range, toMicroseconds: microsecondsOf(Math.min(range.toMicroseconds ?? now, now)) }
}

/** Marks in the record of an export that the range ends with that record. */
const UP_TO_NOW = 'now'

/** A range as it appears in the record of its export, in UTC. */
export function rangeRecord({
  fromMicroseconds,
  toMicroseconds,
  format,
}: ExportRange): Record<'from' | 'to' | 'format', string> {
  const to = toMicroseconds === undefined ? UP_TO_NOW : rfc3339(toMicroseconds)
  return { from: rfc3339(fromMicroseconds), to, format }
}

/** The filter in the record, with names that differ from the names of a record's target. */
export function filterRecord({ bucket, key, keyPrefix }: ObjectConditions): Record<string, string> {
  return {
    ...(bucket === undefined ? {} : { only_bucket: bucket }),
    ...(key === undefined ? {} : { only_key: key }),
    ...(keyPrefix === undefined ? {} : { only_key_prefix: keyPrefix }),
  }
}
