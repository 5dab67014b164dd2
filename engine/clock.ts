import { type Microseconds, microsecondsOf, type Milliseconds, millisecondsOf } from './brands.ts'

/** Microseconds since 1970. Injected, so that specs can set it. */
export type Clock = () => Microseconds

/** The host's clock, exact to milliseconds, which is all that S3 shows. */
export const systemClock: Clock = () => microsecondsOf(Date.now() * 1000)

/** The host's clock in milliseconds since 1970, for requests. */
export const systemMilliseconds: () => Milliseconds = () => millisecondsOf(Date.now())

/** A time in the form of RFC 3339, UTC, with microseconds. `microseconds` since 1970. */
export function rfc3339(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`
}
