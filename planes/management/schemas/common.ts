/** Fields that several bodies share. */
import { type Microseconds, microsecondsOf, type Milliseconds } from '../../../engine/brands.ts'
import { invalid } from '../errors.ts'
import { parseRfc3339 } from '../requests/timestamps.ts'
import { type Range, readAs, text, TIME, whole } from './schema.ts'

/** A display name. Names of service accounts differ from each other; other names need not. */
export const TITLE = text({ minimum: 1, maximum: 128 })
/** Bounds of the lifetime of a credential or token, in seconds: from a minute to a year. */
export const LIFETIMES = { minimum: 60, maximum: 365 * 24 * 60 * 60 } as const
/** Lifetime of a credential or token, in seconds. */
export const LIFETIME = whole(LIFETIMES)

/** What the option `--expires-at` of commands says. */
export const EXPIRES_AT = 'when it expires, such as 2026-12-31T23:59:59Z or 2026-12-31 (UTC)'

/** A time in a body (RFC 3339), read as microseconds since 1970. */
export const SENT_TIME = readAs(TIME, (value, field) => {
  const time = typeof value === 'string' ? parseRfc3339(value) : undefined
  if (time === undefined) throw invalid(field, 'must be an RFC 3339 time, such as 2026-12-31T23:59:59Z')
  return microsecondsOf(time)
})

/** The expiry of a body in either form; null is never, and undefined is not sent. */
export interface SentExpiry {
  readonly expires_in_seconds?: number | null
  readonly expires_at?: Microseconds | null
}

/**
 * The time of expiry that a body asks for; null for never, undefined when it has neither form.
 * @param lifetimes bounds in seconds from now on, for either form
 * @throws ManagementError INVALID_REQUEST for both forms, and for a time outside the bounds
 */
export function sentExpiry(
  { expires_in_seconds: seconds, expires_at: at }: SentExpiry,
  now: Milliseconds,
  { minimum = 0, maximum = Infinity }: Range,
): Microseconds | null | undefined {
  if (seconds !== undefined && at !== undefined) {
    throw invalid('expires_at', 'must not be sent together with expires_in_seconds: send one of the two')
  }
  if (seconds !== undefined) return seconds === null ? null : expiryOf(seconds, now)
  if (at === undefined || at === null) return at
  if (at <= now * 1000) throw invalid('expires_at', 'must be in the future')
  const lifetime = (at / 1000 - now) / 1000
  if (lifetime >= minimum && lifetime <= maximum) return at
  throw invalid('expires_at', `must be ${minimum} to ${maximum} seconds from now`)
}

function expiryOf(seconds: number, nowMilliseconds: Milliseconds): Microseconds {
  return microsecondsOf((nowMilliseconds + seconds * 1000) * 1000)
}
