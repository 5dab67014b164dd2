import { AUDIT_RESULT_NAMES, eventId } from '../../../engine/events/audit.ts'
import { segmentName } from '../../../engine/disk/store-paths.ts'
import type { AuditCursor } from '../../../projections/audit/audit-query.ts'
import type { ChainProblem } from '../../../projections/audit/chain-report.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { auditEventRecord } from '../audit-forms.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { integerParameter, timeParameter, wordParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339OrNull } from '../timestamps.ts'

const EVENTS_LIMIT = { minimum: 1, maximum: 1000, standard: 100 } as const
const CHAIN_LIMIT = { minimum: 1, maximum: 10_000, standard: 1000 } as const
const SEQUENCE = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, standard: 0 } as const
const EVENT_ID = /^\d{16}$/

/** The text of an event id as its sequence. */
function sequenceOf(name: string, text: string): number {
  const sequence = EVENT_ID.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(sequence)) throw invalid(name, 'must be the id of an event')
  return sequence
}

/** @throws ManagementError INVALID_AUDIT_CURSOR for half a cursor */
function cursorOf(request: ManagementRequest): AuditCursor | undefined {
  const time = timeParameter(request, 'after_time')
  const id = request.query.get('after_id')
  if ((time === undefined) !== (id === undefined)) throw new ManagementError('INVALID_AUDIT_CURSOR')
  if (time === undefined || id === undefined) return undefined
  return { timeMicroseconds: time, sequence: sequenceOf('after_id', id) }
}

/** A page of the audit records, the oldest first. Times bound a range that includes its start and not its end. */
export async function getEvents(request: ManagementRequest, { audit }: ManagementServices): Promise<HttpResponse> {
  const { query } = request
  const page = await audit.query({
    sinceMicroseconds: timeParameter(request, 'since') ?? 0,
    untilMicroseconds: timeParameter(request, 'until') ?? Number.POSITIVE_INFINITY,
    principal: query.get('principal'),
    operation: query.get('operation'),
    resourcePrefix: query.get('resource'),
    result: wordParameter(request, 'result', AUDIT_RESULT_NAMES),
    sourceAddress: query.get('source_ip'),
    requestId: query.get('request_id'),
    limit: integerParameter(request, 'limit', EVENTS_LIMIT),
    after: cursorOf(request),
  })
  const { records, next, scanTruncated, damaged } = page
  return jsonResponse(200, {
    events: records.map(auditEventRecord),
    next_time: rfc3339OrNull(next?.timeMicroseconds),
    next_id: next === undefined ? null : eventId(next.sequence),
    scan_truncated: scanTruncated,
    damaged,
  })
}

function problemRecord({ sequence, lastSequence, verdict, spot, detail }: ChainProblem): Record<string, unknown> {
  const { segment, offset } = spot
  return { sequence, last_sequence: lastSequence, verdict, segment: segmentName(segment), offset, detail }
}

/** Recomputes the hash chain over a span of sequences. */
export async function getChain(request: ManagementRequest, { audit }: ManagementServices): Promise<HttpResponse> {
  const limit = integerParameter(request, 'limit', CHAIN_LIMIT)
  const report = await audit.chain(integerParameter(request, 'from', SEQUENCE), limit)
  return jsonResponse(200, {
    intact: report.problems.length === 0,
    from: report.from,
    checked: report.checked,
    verified: report.verified,
    // Every record since the first has its link.
    unchained: 0,
    head_sequence: report.headSequence,
    next_from: report.nextFrom ?? null,
    problems: report.problems.map(problemRecord),
  })
}
