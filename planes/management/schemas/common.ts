/** Fields that several bodies share. */
import { type Microseconds, microsecondsOf, type Milliseconds } from '../../../engine/brands.ts'
import { text, whole } from './schema.ts'

/** A display name; it need not be unique. */
export const TITLE = text({ minimum: 1, maximum: 128 })
/** Lifetime of a credential or token, in seconds: from a minute to a year. */
export const LIFETIME = whole({ minimum: 60, maximum: 365 * 24 * 60 * 60 })

export function expiryOf(seconds: number, nowMilliseconds: Milliseconds): Microseconds {
  return microsecondsOf((nowMilliseconds + seconds * 1000) * 1000)
}
