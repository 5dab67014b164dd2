import { type JsonObject, optionalInteger, requiredInteger } from './json-body.ts'

/** Seconds that a credential or token may be given: from a minute to a year. */
export const LIFETIME = { minimum: 60, maximum: 365 * 24 * 60 * 60 } as const

const MEMBER = 'expires_in_seconds'

function inMicroseconds(nowMilliseconds: number, seconds: number): number {
  return (nowMilliseconds + seconds * 1000) * 1000
}

/** When what a request asks for will expire, in microseconds since 1970. */
export function requiredExpiry(members: JsonObject, nowMilliseconds: number): number {
  return inMicroseconds(nowMilliseconds, requiredInteger(members, MEMBER, LIFETIME))
}

/** The same; undefined when the request does not ask for an end. */
export function optionalExpiry(members: JsonObject, nowMilliseconds: number): number | undefined {
  const seconds = optionalInteger(members, MEMBER, LIFETIME)
  return seconds === undefined ? undefined : inMicroseconds(nowMilliseconds, seconds)
}
