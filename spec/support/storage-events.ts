/** Storage events as a client of the management plane reads them. */
import type { ApiClient } from './api-client.ts'

export interface StorageEvent {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly bucket: string
  readonly object?: string
  readonly version_id?: string
  readonly size?: number
  readonly metadata: Readonly<Record<string, string | number | boolean>>
}

export interface EventPage {
  readonly events: readonly StorageEvent[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly head_time: string
  readonly head_id: string
  readonly begin_time: string | null
  readonly begin_id: string | null
  readonly scan_truncated: boolean
  readonly damaged: boolean
}

export function eventPage(api: ApiClient, query: Readonly<Record<string, string>> = {}): Promise<EventPage> {
  return api.get('GET', `/events?${new URLSearchParams(query)}`)
}

/** Every event that a query finds, page after page. */
export async function allEvents(
  api: ApiClient,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly StorageEvent[]> {
  const events: StorageEvent[] = []
  let cursor: Readonly<Record<string, string>> = {}
  for (;;) {
    const page = await eventPage(api, { ...query, ...cursor })
    events.push(...page.events)
    if (page.next_time === null || page.next_id === null) return events
    cursor = { after_time: page.next_time, after_id: page.next_id }
  }
}

/** The events of what is done by `work`. */
export async function eventsDuring(api: ApiClient, work: () => Promise<unknown>): Promise<readonly StorageEvent[]> {
  const { head_time, head_id } = await eventPage(api, { limit: '1' })
  await work()
  return allEvents(api, { after_time: head_time, after_id: head_id })
}
