import type { Microseconds } from '../../../engine/brands.ts'
import type { EventCursor } from '../../../projections/events/event-scan.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import {
  eventResource,
  type EventPosition,
  STORAGE_EVENT_TYPES,
  storageEventId,
  type StorageEventType,
} from '../../../projections/events/storage-event.ts'
import { DAMAGE_MAXIMUM, damageText } from '../../../projections/audit/journal-damage.ts'
import { CHAIN_PROBLEM, problemRecord } from '../audit/chain-problem.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { EventStreamSource, STREAM_FORMS } from './event-stream-source.ts'
import { positionOf, STORAGE_EVENT, STORAGE_EVENT_ID, STREAM_LINE } from './event-forms.ts'
import { jsonResponse } from '../responses.ts'
import { queryForm, queryNumber, queryText, queryTime, queryWord } from '../schemas/query.ts'
import { FLAG, form, listOf, object, orNull, TIME, whole } from '../schemas/schema.ts'
import { rfc3339 } from '../requests/timestamps.ts'

const EVENTS_MAXIMUM = 1000

/** @throws ManagementError INVALID_EVENT_CURSOR for half a cursor */
function cursorOf(timeMicroseconds: Microseconds | undefined, id: string | undefined): EventCursor | undefined {
  if ((timeMicroseconds === undefined) !== (id === undefined)) throw new ManagementError('INVALID_EVENT_CURSOR')
  if (timeMicroseconds === undefined || id === undefined) return undefined
  return { timeMicroseconds, ...positionOf('after_id', id) }
}

function onlyType(type: StorageEventType | undefined): ReadonlySet<StorageEventType> | undefined {
  return type === undefined ? undefined : new Set([type])
}

const getEvents = defineRoute({
  pattern: 'GET /events',
  roles: EVERYONE,
  summary: 'A page of the storage events, the oldest first.',
  query: {
    since: queryTime,
    until: queryTime,
    bucket: queryText,
    type: queryWord(...STORAGE_EVENT_TYPES),
    prefix: queryText,
    limit: queryNumber(100, { minimum: 1, maximum: EVENTS_MAXIMUM }),
    after_time: queryTime,
    after_id: queryForm(STORAGE_EVENT_ID),
  },
  answer: {
    200: json(
      object({
        events: listOf(STORAGE_EVENT, { maximum: EVENTS_MAXIMUM }),
        next_time: orNull(TIME),
        next_id: orNull(form(STORAGE_EVENT_ID)),
        head_time: TIME,
        head_id: form(STORAGE_EVENT_ID),
        begin_time: orNull(TIME),
        begin_id: orNull(form(STORAGE_EVENT_ID)),
        scan_truncated: FLAG,
        damaged: FLAG,
        damage: listOf(CHAIN_PROBLEM, { maximum: DAMAGE_MAXIMUM }),
        damage_count: whole(),
      }),
    ),
  },
  errors: ['INVALID_EVENT_CURSOR'],
  /**
   * The range of time includes its start and excludes its end. `next` is the cursor of the next page, null at the end;
   * `head` is the cursor after everything so far; `begin` is the start of recorded events. A cursor may name an event
   * that a filter left out.
   */
  async handle(request, { events, heavy, damageFound }) {
    const limit = request.query('limit')
    const after = cursorOf(request.query('after_time'), request.query('after_id'))
    const query = {
      after,
      sinceMicroseconds: request.query('since'),
      untilMicroseconds: request.query('until'),
      bucket: request.query('bucket'),
      types: onlyType(request.query('type')),
      prefix: request.query('prefix'),
      limit,
    }
    const page = await heavy.run('scan', request, (place) => events.read(query, place))
    const { position, head, isAtEnd, damaged, damage } = page
    const [first] = damage.entries
    if (first !== undefined) damageFound('audit', damageText(first))
    const begin = events.beginning
    return jsonResponse(200, {
      events: page.events.map(eventResource),
      next_time: isAtEnd ? null : rfc3339(position.timeMicroseconds),
      next_id: isAtEnd ? null : storageEventId(position),
      head_time: rfc3339(head.timeMicroseconds),
      head_id: storageEventId(head),
      begin_time: begin === undefined ? null : rfc3339(begin.timeMicroseconds),
      begin_id: begin === undefined ? null : storageEventId({ sequence: begin.sequence, index: 0 }),
      scan_truncated: !isAtEnd && page.events.length < limit,
      damaged,
      damage: damage.entries.map(problemRecord),
      damage_count: damage.count,
    })
  },
})

const HEARTBEAT = { standard: 5, minimum: 1, maximum: 9 }

/**
 * The position at which a stream starts. `Last-Event-ID`, which browsers send on reconnect, overrides the parameter.
 * @throws ManagementError INVALID_REQUEST; CONFLICT for a position after the end of the journal
 */
function beginningOf(
  lastId: string | undefined,
  id: string | undefined,
  head: EventPosition,
): EventPosition | undefined {
  const after = lastId === undefined ? id : lastId
  if (after === undefined) return undefined
  const position = positionOf(lastId === undefined ? 'after_id' : 'Last-Event-ID', after)
  if (position.sequence <= head.sequence) return position
  const message = `There is no such event yet: the last entry of this store is ${head.sequence}. Is the id of another store, or from before a restore?`
  throw new ManagementError('CONFLICT', message)
}

const streamEvents = defineRoute({
  pattern: 'GET /events/stream',
  roles: EVERYONE,
  summary: 'The storage events as a continuing stream: lines of JSON, or server-sent events.',
  query: {
    after_id: queryForm(STORAGE_EVENT_ID),
    since: queryTime,
    bucket: queryText,
    type: queryWord(...STORAGE_EVENT_TYPES),
    prefix: queryText,
    follow: queryWord('true', 'false'),
    heartbeat: queryNumber(HEARTBEAT.standard, HEARTBEAT),
    progress: queryWord('true', 'false'),
  },
  headers: {
    'last-event-id': 'The id of the last event that arrived; the stream goes on after it.',
  },
  answer: {
    200: {
      [STREAM_FORMS.ndjson.contentType]: STREAM_LINE.schema,
      [STREAM_FORMS.sse.contentType]: {},
    },
  },
  errors: ['CONFLICT'],
  /**
   * Starts at the first event by default. Ends when the server stops or the token is revoked. With `progress=true`,
   * heartbeats among lines of JSON are objects with one member `progress`: `id` and `time` of the position of the
   * stream, and `head_id`, after everything so far. Records that cannot be read are a line with one member `damage` in
   * their place, or an event `damage`; its `id` is the position after them.
   */
  handle(request, { events, eventStreams: streams, damageFound }) {
    const { http } = request
    const lines = request.query('progress') === 'true' ? STREAM_FORMS.ndjsonWithProgress : STREAM_FORMS.ndjson
    const shape = http.header('accept')?.includes('text/event-stream') === true ? STREAM_FORMS.sse : lines
    const query = {
      after: beginningOf(http.header('last-event-id'), request.query('after_id'), events.head),
      sinceMicroseconds: request.query('since'),
      bucket: request.query('bucket'),
      types: onlyType(request.query('type')),
      prefix: request.query('prefix'),
      follow: request.query('follow') !== 'false',
      heartbeatMilliseconds: request.query('heartbeat') * 1000,
    }
    const headers: HeaderLine[] = [
      ['content-type', shape.contentType],
      ['cache-control', 'no-store'],
      ['x-content-type-options', 'nosniff'],
    ]
    if (http.method === 'HEAD') return { status: 200, headers }
    const owner = request.identity.credentialId
    const { isAllowed } = request
    const body = new EventStreamSource(query, { events, streams, owner, form: shape, isAllowed, damageFound })
    http.onAborted(() => body.abandon())
    return { status: 200, headers, body }
  },
})

export const EVENT_ROUTES: readonly Route[] = [getEvents, streamEvents]
