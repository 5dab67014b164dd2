import type { ManagementClient } from '../../client/management-client.ts'
import type { DamageRecord } from './damage-lines.ts'
import type { TableLine } from '../journal/records/record-table.ts'

/** Largest page of the server, in records. */
const PAGE_MAXIMUM = 1000

/** A record as the server answers with it. */
export type Event = TableLine & { readonly request_id?: unknown }

/** Where a page continues: after this record, in the order of the page. */
export interface Cursor {
  readonly time: string
  readonly id: string
}

interface Answer {
  readonly events: readonly Event[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly head_time: string
  readonly head_id: string
  readonly damaged: boolean
  readonly damage?: readonly DamageRecord[]
}

interface EventPage {
  readonly events: readonly Event[]
  /** Undefined at the end of the range. */
  readonly next: Cursor | undefined
  /** The last record of the log when the page was read. */
  readonly head: Cursor
  /** A part of the range could not be read. */
  readonly damaged: boolean
  /** Which records. */
  readonly damage: readonly DamageRecord[]
}

/** The conditions of a query, as its parameters. */
export type EventQuery = Readonly<Record<string, string | undefined>>

/** Reads one page of audit records, with at most `limit` of them. */
export async function readEvents(
  client: ManagementClient,
  query: EventQuery,
  { order, after, limit, requestId }: PageChoice,
): Promise<EventPage> {
  const cursor = { after_time: after?.time, after_id: after?.id }
  const asked = { ...query, ...cursor, order, limit: String(Math.min(PAGE_MAXIMUM, limit)) }
  const answer = (await client.json({ method: 'GET', path: '/audit/events', query: asked, requestId })) as Answer
  const { events, next_time, next_id, head_time, head_id, damaged, damage = [] } = answer
  const next = next_time === null || next_id === null ? undefined : { time: next_time, id: next_id }
  return { events, next, head: { time: head_time, id: head_id }, damaged, damage }
}

interface PageChoice {
  readonly order: 'asc' | 'desc'
  readonly after: Cursor | undefined
  readonly limit: number
  /** The id under which the request is recorded; by default the server makes one. */
  readonly requestId?: string | undefined
}
