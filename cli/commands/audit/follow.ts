import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CliContext } from '../../cli-context.ts'
import type { ManagementClient } from '../../client/management-client.ts'
import { LineOutput } from '../journal/records/line-output.ts'
import { type Cursor, type Event, type EventQuery, readEvents } from './event-pages.ts'

/** How often the server is asked. */
const PAUSE_MILLISECONDS = 1000
const PAGE = 1000

/** The request ids of `audit follow`. */
const POLLING_ID = /^follow-[0-9a-f]{24}$/

/** Whether a record is of following the log. Only of this route, where a client that borrows the id hides no more than reads. */
function isPolling({ request_id, operation, result }: Event): boolean {
  const isQuery = operation === 'GET /api/v1/audit/events' && result === 'success'
  return isQuery && typeof request_id === 'string' && POLLING_ID.test(request_id)
}

/**
 * Prints the newest `count` records that match, the oldest of them first, and then each new one, until the program is
 * stopped or its reader has gone. Records of polling, its own and others', are left out: otherwise each page would be a
 * record in the next one.
 * @returns whether a part of the log could not be read
 */
export async function followEvents(
  client: ManagementClient,
  query: EventQuery,
  count: number,
  linesOf: (events: readonly Event[]) => readonly string[],
  { stdout, control }: CliContext,
): Promise<{ readonly damaged: boolean }> {
  const own = `follow-${randomBytes(12).toString('hex')}`
  const output = new LineOutput(stdout)
  const stop = new AbortController()
  const forget = control.onStopSignal(() => stop.abort())
  let damaged = false
  let after: Cursor | undefined
  const show = async (events: readonly Event[]): Promise<void> => {
    const others = events.filter((event) => !isPolling(event))
    for (const line of linesOf(others)) await output.line(line)
    await output.flush()
  }
  try {
    while (!stop.signal.aborted && !output.closed) {
      const isFirst = after === undefined
      const choice = isFirst ? ({ order: 'desc', limit: count } as const) : ({ order: 'asc', limit: PAGE } as const)
      const page = await readEvents(client, query, { ...choice, after, requestId: own })
      damaged ||= page.damaged
      await show(isFirst ? page.events.toReversed() : page.events)
      after = isFirst ? page.head : (page.next ?? page.head)
      const isBehind = !isFirst && page.next !== undefined
      if (!isBehind) await delay(PAUSE_MILLISECONDS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await output.finish()
  } finally {
    forget()
  }
  return { damaged }
}
