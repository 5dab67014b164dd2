import type { Microseconds } from '../brands.ts'
import type { Clock } from '../clock.ts'
import type { AuditContext, AuditResult } from '../events/audit.ts'
import { encodeEntry } from '../events/entry-codec.ts'
import { claimOfBody, countedClaims } from './claimed-credentials.ts'
import { recordBytes } from '../journal/format.ts'

/** The budget saves this many seconds of records: requests of one wrongly configured client are all recorded. */
const SAVED_SECONDS = 16
/** Claimed credentials that are counted by themselves in one summary; the others are in its count alone. */
const CLAIMS_MAXIMUM = 8
/** Addresses with a summary of their own; the others share one. */
const ADDRESSES_MAXIMUM = 64
const SUMMARY_MILLISECONDS = 10_000
/** Below the reserve there is one summary a minute for all addresses, less than 1 MiB a day. */
const LOW_SPACE_SUMMARY_MILLISECONDS = 60_000
const SUMMARY_OPERATION = 'requests.counted'

type Outcome = Exclude<AuditResult, 'attempted'>

/** A record of a request without valid credentials, as a front end sends it. */
export interface StrangerRecord {
  /** Socket peer. */
  readonly address: string
  readonly result: Outcome
  /** The encoded entry. */
  readonly body: Uint8Array
}

/** Requests of one address, or of all that share a summary, that have no record of their own. */
interface Counted extends Record<Outcome, number> {
  readonly first: Microseconds
  last: Microseconds
  /** Requests by the credential that they claimed, so that guesses at a key are seen in a flood too. */
  readonly claims: Map<string, number>
}

/**
 * Bounds what requests without valid credentials write to the journal (decision 0038). Each is recorded while a budget of
 * bytes lasts; the others are counted, and written as one record for each address and interval. When the disk is down to
 * its reserve, all of them are counted, and written as one record a minute.
 */
export class StrangerRecords {
  readonly #bytesPerSecond: number
  readonly #clock: Clock
  readonly #isSpaceLow: () => boolean
  readonly #counted = new Map<string | undefined, Counted>()
  #budgetBytes: number
  #filledAt: Microseconds
  #countedTotal = 0

  /**
   * @param bytesPerSecond of the journal
   * @param isSpaceLow whether the disk is down to the reserve
   */
  constructor(bytesPerSecond: number, clock: Clock, isSpaceLow: () => boolean) {
    this.#bytesPerSecond = bytesPerSecond
    this.#clock = clock
    this.#isSpaceLow = isSpaceLow
    this.#budgetBytes = bytesPerSecond * SAVED_SECONDS
    this.#filledAt = clock()
  }

  /** Requests counted instead of recorded since the start. */
  get countedTotal(): number {
    return this.#countedTotal
  }

  /** Time from the first counted request to the summaries. */
  get intervalMilliseconds(): number {
    return this.#isSpaceLow() ? LOW_SPACE_SUMMARY_MILLISECONDS : SUMMARY_MILLISECONDS
  }

  /** Whether the record may be written; if not, the request is counted. */
  admits({ address, result, body }: StrangerRecord): boolean {
    const now = this.#clock()
    this.#refill(now)
    const isLow = this.#isSpaceLow()
    const bytes = recordBytes(body.length)
    if (!isLow && this.#budgetBytes >= bytes) {
      this.#budgetBytes -= bytes
      return true
    }
    const counted = this.#of(isLow ? undefined : address, now)
    counted[result] += 1
    counted.last = now
    this.#countedTotal += 1
    countClaim(counted.claims, claimOfBody(body))
    return false
  }

  /** Summaries of the requests counted since the last call, as encoded entries. */
  takeSummaries(): Uint8Array[] {
    const counted = [...this.#counted]
    this.#counted.clear()
    return counted.map(([address, one]) => Uint8Array.from(encodeEntry(summary(address, one), 'denied', undefined, [])))
  }

  #refill(now: Microseconds): void {
    const seconds = Math.max(0, now - this.#filledAt) / 1_000_000
    this.#budgetBytes = Math.min(
      this.#bytesPerSecond * SAVED_SECONDS,
      this.#budgetBytes + seconds * this.#bytesPerSecond,
    )
    this.#filledAt = now
  }

  #of(address: string | undefined, now: Microseconds): Counted {
    const known = this.#counted.get(address)
    if (known !== undefined) return known
    if (address !== undefined && this.#counted.size >= ADDRESSES_MAXIMUM) return this.#of(undefined, now)
    const counted = { first: now, last: now, success: 0, denied: 0, failure: 0, claims: new Map() }
    this.#counted.set(address, counted)
    return counted
  }
}

function countClaim(claims: Map<string, number>, claimed: string | undefined): void {
  if (claimed === undefined) return
  const count = claims.get(claimed)
  if (count !== undefined || claims.size < CLAIMS_MAXIMUM) claims.set(claimed, (count ?? 0) + 1)
}

function summary(address: string | undefined, counted: Counted): AuditContext {
  const { first, last, success, denied, failure, claims } = counted
  const counts = Object.entries({ count: success + denied + failure, success, denied, failure })
  return {
    principal: 'anonymous',
    credentialId: undefined,
    sourceAddress: address,
    requestId: undefined,
    operation: SUMMARY_OPERATION,
    resource: 'server',
    metadata: [...counts.flat(), 'first_time', timeText(first), 'last_time', timeText(last), ...countedClaims(claims)],
  }
}

function timeText(time: Microseconds): string {
  return new Date(time / 1000).toISOString()
}
