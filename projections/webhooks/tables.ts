/** Rows of webhooks: `webhooks` (their configuration), `webhook-progress`, `webhook-log`. */
import type { Microseconds, Sequence } from '../../engine/brands.ts'
import type { ReplayState, WebhookState } from '../../engine/webhooks/state.ts'
import {
  bytes,
  flag,
  integer,
  listOf,
  microseconds,
  optional,
  sequence,
  text,
  type ValueOf,
  wordOf,
} from '../../engine/events/schema/kinds.ts'
import { field, record } from '../../engine/events/schema/record.ts'
import { EVENT_TYPES, eventPlace, type EventPlace } from '../../engine/events/values.ts'
import { NUMBER_BYTES, writeNumber } from '../keys.ts'
import type { Table, TableReader } from '../lmdb-environment.ts'
import { type IdRows, idRows, packed } from '../tables/row-codecs.ts'

/** The names of its tables. */
export const webhookTables = {
  webhooks: 'webhooks',
  webhookProgress: 'webhook-progress',
  webhookLog: 'webhook-log',
} as const

/** `webhooks`: by webhook id. */
export const webhookRows: IdRows<WebhookState> = idRows<'webhook', WebhookState>(
  'webhook',
  record('webhook', {
    target: field(text, 'target'),
    eventTypes: field(listOf(wordOf(EVENT_TYPES)), 'event types'),
    bucket: field(optional(text), 'bucket'),
    prefix: field(optional(text), 'prefix'),
    enabled: field(flag, 'enabled'),
    createdMicroseconds: field(microseconds, 'created'),
    startSequence: field(sequence, 'start'),
    sealedSecret: field(bytes, 'sealed secret'),
    previousSecret: field(
      optional(
        record('previous secret', {
          sealedSecret: field(bytes, 'sealed secret'),
          untilMicroseconds: field(microseconds, 'until'),
        }),
      ),
      'previous secret',
    ),
    sealedQuery: field(optional(bytes), 'sealed query'),
  }),
)

/** An event that is to be delivered, up to the position of its line. */
export interface PendingDelivery {
  readonly event: EventPlace
  /** POSTs so far. */
  readonly attempts: number
  /** When it is tried again; undefined: now. */
  readonly nextMicroseconds: Microseconds | undefined
}

/** A line of events: how far it was read, and which events are pending. */
export interface DeliveryLine {
  /** Undefined before the first report of a replay. */
  readonly position: EventPlace | undefined
  readonly pending: readonly PendingDelivery[]
}

interface ReplayLine extends DeliveryLine, ReplayState {}

/** How far the deliveries to a webhook are. */
export interface WebhookProgress {
  readonly webhook: string
  readonly line: DeliveryLine
  readonly replay: ReplayLine | undefined
  /** Rows ever written to its log. */
  readonly logged: number
}

const line = {
  position: field(optional(eventPlace), 'position'),
  pending: field(
    listOf(
      record('pending', {
        event: field(eventPlace, 'event'),
        attempts: field(integer, 'attempts'),
        nextMicroseconds: field(optional(microseconds), 'next'),
      }),
    ),
    'pending',
  ),
}

/** `webhook-progress`: by webhook id. */
export const progressRows: IdRows<WebhookProgress> = idRows<'webhook', WebhookProgress>(
  'webhook',
  record('progress', {
    line: field(record('line', line), 'line'),
    replay: field(
      optional(
        record('replay', {
          ...line,
          replay: field(sequence, 'replay'),
          sinceMicroseconds: field(microseconds, 'since'),
          untilMicroseconds: field(microseconds, 'until'),
        }),
      ),
      'replay',
    ),
    logged: field(integer, 'logged'),
  }),
)

/** How many rows of its log a webhook keeps; the journal has all of them. */
export const LOG_ROWS_MAXIMUM = 1000

const LOGGED_KINDS = ['event', 'replay', 'test'] as const

const loggedDelivery = record('logged delivery', {
  kind: field(wordOf(LOGGED_KINDS), 'kind'),
  /** Undefined for a test. */
  event: field(optional(eventPlace), 'event'),
  /** Id of the event of a test. */
  testEvent: field(optional(text), 'event id'),
  attempt: field(integer, 'attempt'),
  timeMicroseconds: field(microseconds, 'time'),
  status: field(optional(integer), 'status'),
  error: field(optional(text), 'error'),
  nextMicroseconds: field(optional(microseconds), 'next'),
})
/** One POST in the log of a webhook. */
export type LoggedDelivery = ValueOf<typeof loggedDelivery>

const logged = packed(loggedDelivery)

/** `webhook-log`: length of the webhook id (1) | webhook id | number of the row, from 0 (8). */
function logKey(webhook: string, number: number): Buffer {
  const id = Buffer.from(webhook)
  const key = Buffer.alloc(1 + id.length + NUMBER_BYTES)
  key.writeUInt8(id.length, 0)
  key.set(id, 1)
  writeNumber(key, number, 1 + id.length)
  return key
}

/** Writes row `number`, and removes the row above the maximum. */
export function putLogged(table: Table, webhook: string, number: number, delivery: LoggedDelivery): void {
  table.put(logKey(webhook, number), logged.encode(delivery))
  if (number >= LOG_ROWS_MAXIMUM) table.remove(logKey(webhook, number - LOG_ROWS_MAXIMUM))
}

/** @param count rows ever written */
export function removeLog(table: Table, webhook: string, count: number): void {
  for (let number = Math.max(0, count - LOG_ROWS_MAXIMUM); number < count; number += 1) {
    table.remove(logKey(webhook, number))
  }
}

/** The rows of a webhook, newest first, each read when it is asked for. @param count rows ever written */
export function* newestLogged(table: TableReader, webhook: string, count: number): Generator<LoggedDelivery> {
  for (let number = count - 1; number >= 0; number -= 1) {
    const row = table.get(logKey(webhook, number))
    if (row === undefined) return
    yield logged.decode(row)
  }
}

/** A line that starts after the entry of this sequence. */
export function lineAfter(start: Sequence): DeliveryLine {
  return { position: { sequence: start, index: 0 }, pending: [] }
}
