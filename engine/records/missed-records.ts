import type { Microseconds } from '../brands.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { AuditContext, AuditResult } from '../events/audit.ts'

/** Credentials with a summary of their own; the others share one. */
const CREDENTIALS_MAXIMUM = 64
const OPERATION = 'requests.unrecorded'
const SHARED = 'system:audit'

type Outcome = Exclude<AuditResult, 'attempted'>

/** Requests of one credential, or of all that share a summary. */
interface Missed extends Record<Outcome, number> {
  readonly principal: string
  readonly credentialId: string | undefined
  readonly first: Microseconds
  last: Microseconds
}

/**
 * Counts answered requests that have no record, since the journal has no room on a full disk: reads continue (decision
 * 0013). The counts become one record for each credential when there is room again; a process that is killed before
 * loses them.
 */
export class MissedRecords {
  readonly #clock: Clock
  readonly #missed = new Map<string, Missed>()
  #total = 0

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Since the start. */
  get total(): number {
    return this.#total
  }

  count({ principal, credentialId }: AuditContext, result: Outcome): void {
    const now = this.#clock()
    const missed = this.#of(principal, credentialId, now)
    missed[result] += 1
    missed.last = now
    this.#total += 1
  }

  /** Audit contexts that summarize the requests counted since the last call; empty without any. */
  takeSummaries(): AuditContext[] {
    const summaries = [...this.#missed.values()].map(summary)
    this.#missed.clear()
    return summaries
  }

  #of(principal: string, credentialId: string | undefined, now: Microseconds): Missed {
    const key = `${principal} ${credentialId ?? ''}`
    const known = this.#missed.get(key)
    if (known !== undefined) return known
    if (principal !== SHARED && this.#missed.size >= CREDENTIALS_MAXIMUM) return this.#of(SHARED, undefined, now)
    const missed = { principal, credentialId, first: now, last: now, success: 0, denied: 0, failure: 0 }
    this.#missed.set(key, missed)
    return missed
  }
}

function summary({ principal, credentialId, first, last, success, denied, failure }: Missed): AuditContext {
  const counts = Object.entries({ count: success + denied + failure, success, denied, failure })
  return {
    principal,
    credentialId,
    sourceAddress: undefined,
    requestId: undefined,
    operation: OPERATION,
    resource: 'server',
    metadata: [...counts.flat(), 'first_time', timeText(first), 'last_time', timeText(last)],
  }
}

function timeText(time: Microseconds): string {
  return new Date(time / 1000).toISOString()
}
