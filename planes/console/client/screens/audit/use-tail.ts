import { useEffect, useRef, useState } from 'preact/hooks'
import { callForResponse } from '../../api/call.ts'
import { sayFailure } from '../../parts/status.tsx'
import type { AuditEvent, AuditPage, Filters } from './audit-types.ts'

/** How often the server is asked. */
const PAUSE_MILLISECONDS = 1000
const PAGE_ENTRIES = 1000
/** More than anybody reads; the older ones are found by loading the list again. */
const EVENTS_MAXIMUM = 10_000

/** Where the log ended when the list was loaded. */
export interface Head {
  readonly after_time: string
  readonly after_id: string
}

/** What the records of the tail's own requests are known by, so that it does not show one for each look. */
function ownRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `console-tail-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/**
 * The records that came since the list was loaded, the newest first, as long as `head` is there.
 * @param onFailure called once when the server cannot be asked any more; the tail has ended then
 */
export function useTail(filters: Filters, head: Head | undefined, onFailure: () => void): readonly AuditEvent[] {
  const [fresh, setFresh] = useState<readonly AuditEvent[]>([])
  const failed = useRef(onFailure)
  failed.current = onFailure
  useEffect(() => {
    setFresh([])
    if (head === undefined) return undefined
    const control = new AbortController()
    const show = (events: readonly AuditEvent[]) => {
      if (events.length > 0) setFresh((before) => [...events.toReversed(), ...before].slice(0, EVENTS_MAXIMUM))
    }
    follow(filters, head, show, control.signal).catch((error: unknown) => {
      if (control.signal.aborted) return
      sayFailure(error)
      failed.current()
    })
    return () => control.abort()
  }, [JSON.stringify(filters), head])
  return fresh
}

async function follow(
  filters: Filters,
  head: Head,
  show: (events: readonly AuditEvent[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const own = ownRequestId()
  for (let after = head; ; ) {
    signal.throwIfAborted()
    const query = { ...filters, ...after, order: 'asc' as const, limit: PAGE_ENTRIES }
    const response = await callForResponse('GET /audit/events', { query }, signal, own)
    const { events, next_time, next_id, head_time, head_id } = (await response.json()) as AuditPage
    show(events.filter(({ request_id }) => request_id !== own))
    const goesOn = next_time !== null && next_id !== null
    after = goesOn ? { after_time: next_time, after_id: next_id } : { after_time: head_time, after_id: head_id }
    if (!goesOn) await new Promise((resume) => setTimeout(resume, PAUSE_MILLISECONDS))
  }
}
