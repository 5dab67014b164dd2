/** When a delivery that failed is tried again. Times are milliseconds. */
import { hash } from 'node:crypto'
import { backoffMilliseconds } from '../../engine/shares/backoff.ts'

/** Longest pause between two attempts, whatever their number or the target's wish. */
const DELAY_MAXIMUM = 6 * 60 * 60 * 1000
const JITTER = 1000
export const RETRY_DELAY_MAXIMUM = DELAY_MAXIMUM + JITTER

/**
 * 2 to the power of the attempt in seconds, and up to a second that depends on the delivery: deliveries that failed
 * together are not retried together. The target may ask for more (Retry-After), not for less.
 * @param attempt that failed, from 1
 * @param askedMilliseconds what the target asked for
 */
export function retryDelay(delivery: string, attempt: number, askedMilliseconds = 0): number {
  const jitter = hash('sha256', `${delivery} ${attempt}`, 'buffer').readUInt16BE(0) % JITTER
  const own = backoffMilliseconds(2000, attempt, DELAY_MAXIMUM)
  return Math.min(Math.max(own + jitter, askedMilliseconds), RETRY_DELAY_MAXIMUM)
}

/** The delay that a Retry-After header asks for: seconds, or a date (RFC 9110 section 10.2.3); 0 without a valid one. */
export function retryAfter(header: string | undefined, nowMilliseconds: number): number {
  if (header === undefined) return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)
    ? Date.parse(header)
    : Number.NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - nowMilliseconds)
}
