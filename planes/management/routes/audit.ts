import { type Microseconds, microsecondsOf, type Sequence, sequenceOf } from '../../../engine/brands.ts'
import { AUDIT_RESULT_NAMES, eventId } from '../../../engine/events/audit.ts'
import type { AuditRecord } from '../../../projections/audit/audit-record.ts'
import type { AuditCursor } from '../../../projections/audit/audit-query.ts'
import { auditEventRecord, EVENT_ID, NAMED_EVENT_RECORD } from '../audit/audit-forms.ts'
import { PrincipalNames } from '../audit/principal-names.ts'
import { DAMAGE_MAXIMUM, damageText } from '../../../projections/audit/journal-damage.ts'
import { CHAIN_PROBLEM, problemRecord } from '../audit/chain-problem.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { jsonResponse } from '../responses.ts'
import { OBJECT_QUERY, queryForm, queryNumber, queryText, queryTime, queryWord } from '../schemas/query.ts'
import { FLAG, form, listOf, object, orNull, SHA256, TIME, whole } from '../schemas/schema.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

const EVENTS_MAXIMUM = 1000

/** The sequence of an event id. */
function readSequence(name: string, id: string): Sequence {
  const sequence = /^\d{16}$/.test(id) ? Number(id) : Number.NaN
  if (!Number.isSafeInteger(sequence)) throw invalid(name, 'must be the id of an event')
  return sequenceOf(sequence)
}

/** @throws ManagementError INVALID_AUDIT_CURSOR for half a cursor */
function cursorOf(time: Microseconds | undefined, id: string | undefined): AuditCursor | undefined {
  if ((time === undefined) !== (id === undefined)) throw new ManagementError('INVALID_AUDIT_CURSOR')
  if (time === undefined || id === undefined) return undefined
  return { timeMicroseconds: time, sequence: readSequence('after_id', id) }
}

function namedRecord(record: AuditRecord, names: PrincipalNames) {
  const { timestamp, event_id, principal, ...others } = auditEventRecord(record)
  return { timestamp, event_id, principal, principal_name: names.of(record.entry), ...others }
}

const getEvents = defineRoute({
  pattern: 'GET /audit/events',
  roles: EVERYONE,
  summary: 'A page of the audit records.',
  query: {
    since: queryTime,
    until: queryTime,
    principal: queryText,
    credential_id: queryText,
    operation: queryText,
    resource: queryText,
    ...OBJECT_QUERY,
    result: queryWord(...AUDIT_RESULT_NAMES),
    source_ip: queryText,
    request_id: queryText,
    order: queryWord('asc', 'desc'),
    limit: queryNumber(100, { minimum: 1, maximum: EVENTS_MAXIMUM }),
    after_time: queryTime,
    after_id: queryForm(EVENT_ID),
  },
  answer: {
    200: json(
      object({
        events: listOf(NAMED_EVENT_RECORD, { maximum: EVENTS_MAXIMUM }),
        next_time: orNull(TIME),
        next_id: orNull(form(EVENT_ID)),
        head_time: TIME,
        head_id: form(EVENT_ID),
        scan_truncated: FLAG,
        damaged: FLAG,
        damage: listOf(CHAIN_PROBLEM, { maximum: DAMAGE_MAXIMUM }),
        damage_count: whole(),
      }),
    ),
  },
  errors: ['INVALID_AUDIT_CURSOR'],
  /**
   * By time; with `order=desc` newest first. The range includes its start and excludes its end. `next` is the cursor of
   * the next page, `head` the cursor of the last record of the log; both are valid for either order.
   */
  async handle(request, { access, audit, heavy, damageFound }) {
    const query = {
      sinceMicroseconds: request.query('since') ?? microsecondsOf(0),
      untilMicroseconds: request.query('until') ?? microsecondsOf(Number.POSITIVE_INFINITY),
      principal: request.query('principal'),
      credentialId: request.query('credential_id'),
      operation: request.query('operation'),
      resourcePrefix: request.query('resource'),
      bucket: request.query('bucket'),
      key: request.query('key'),
      keyPrefix: request.query('key_prefix'),
      result: request.query('result'),
      sourceAddress: request.query('source_ip'),
      requestId: request.query('request_id'),
      limit: request.query('limit'),
      newestFirst: request.query('order') === 'desc',
      after: cursorOf(request.query('after_time'), request.query('after_id')),
    }
    const page = await heavy.run('scan', request, (place) => audit.query(query, place))
    const { records, next, head, scanTruncated, damaged, damage } = page
    const [first] = damage.entries
    if (first !== undefined) damageFound('audit', damageText(first))
    const names = new PrincipalNames(access)
    return jsonResponse(200, {
      events: records.map((record) => namedRecord(record, names)),
      next_time: rfc3339OrNull(next?.timeMicroseconds),
      next_id: next === undefined ? null : eventId(next.sequence),
      head_time: rfc3339(head.timeMicroseconds),
      head_id: eventId(head.sequence),
      scan_truncated: scanTruncated,
      damaged,
      damage: damage.entries.map(problemRecord),
      damage_count: damage.count,
    })
  },
})

const getChain = defineRoute({
  pattern: 'GET /audit/chain',
  roles: EVERYONE,
  summary: 'Recomputes the hash chain over a span.',
  query: { from: queryNumber(0), limit: queryNumber(1000, { minimum: 1, maximum: 10_000 }) },
  answer: {
    200: json(
      object({
        intact: FLAG,
        from: whole(),
        checked: whole(),
        verified: whole(),
        unchained: whole(),
        head_sequence: whole(),
        head_hash: SHA256,
        next_from: orNull(whole()),
        problems: listOf(CHAIN_PROBLEM),
      }),
    ),
  },
  async handle(request, { audit, chain, heavy, damageFound }) {
    const from = sequenceOf(request.query('from'))
    const { sequence: head } = audit.head
    if (from > head) throw invalid('from', `there is nothing to check: the last record of the log is ${head}`)
    const limit = request.query('limit')
    const report = await heavy.run('scan', request, () => audit.chain(from, limit))
    const [problem] = report.problems
    if (problem !== undefined) damageFound('audit', damageText(problem))
    chain.runs.verified(request.identity, report)
    // The record of this request keeps the verdict: who verified what, when, up to which record.
    const verdict = { verified_from: from, verified_to: from + report.checked - 1, problems: report.problems.length }
    request.journal.note(
      ...Object.entries({ ...verdict, head_sequence: report.headSequence, head_hash: report.headHash }).flat(),
    )
    return jsonResponse(200, {
      intact: report.problems.length === 0,
      from: report.from,
      checked: report.checked,
      verified: report.verified,
      // Every record has a link.
      unchained: 0,
      head_sequence: report.headSequence,
      head_hash: report.headHash,
      next_from: report.nextFrom ?? null,
      problems: report.problems.map(problemRecord),
    })
  },
})

export const AUDIT_ROUTES: readonly Route[] = [getEvents, getChain]
