import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { persistently } from '../../api/connection.ts'
import { say, sayFailure } from '../../parts/status.tsx'
import type { AuditEvent, Filters } from './audit-types.ts'

/** Polling interval. */
const PAUSE_MILLISECONDS = 1000
/** Records per poll: more than a person reads in a second. */
const PAGE_ENTRIES = 500
/** Maximum number of records kept; older ones are shown by loading the list again. */
const EVENTS_MAXIMUM = 10_000

/** The end of the log when the list was loaded. */
export interface Head {
  readonly after_time: string
  readonly after_id: string
}

/** Request id of the tail's own polls, whose records are not shown. */
function ownRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `console-tail-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/**
 * The records since the list was loaded, newest first, as long as `head` is defined. Pauses while the server is
 * unreachable, the credential has ended, or the page is hidden.
 * @param onFailure called once when the server refuses, which ends the tail
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
  let isTold = false
  for (let after = head; ; ) {
    await untilVisible(signal)
    signal.throwIfAborted()
    const query = { ...filters, ...after, order: 'asc' as const, limit: PAGE_ENTRIES }
    const page = await persistently(() => call('GET /audit/events', { query }, signal, own), signal)
    const { events, next_time, head_time, head_id } = page
    show(events.filter(({ request_id }) => request_id !== own))
    // A busy store writes thousands of records a second; fetching all of them would slow it down.
    if (next_time !== null && !isTold) {
      isTold = true
      say('More records come than can be shown: some are passed over. Load the list again to see all.')
    }
    after = { after_time: head_time, after_id: head_id }
    await new Promise((resume) => setTimeout(resume, PAUSE_MILLISECONDS))
  }
}

/**
 * Resolves when the page is visible, at once if it is, so that a hidden page requests nothing.
 * @throws the reason of `stopped` when that is aborted
 */
async function untilVisible(stopped: AbortSignal): Promise<void> {
  if (!document.hidden) return
  const control = new AbortController()
  const { signal } = control
  await new Promise<void>((resolve, reject) => {
    stopped.addEventListener('abort', () => reject(stopped.reason), { signal })
    document.addEventListener('visibilitychange', () => document.hidden || resolve(), { signal })
  }).finally(() => control.abort())
}
