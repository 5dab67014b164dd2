import { rfc3339 } from '../../../engine/clock.ts'

export { rfc3339 }

export function rfc3339OrNull(microseconds: number | undefined): string | null {
  return microseconds === undefined ? null : rfc3339(microseconds)
}

/** RFC 3339 has no hour 24, which the platform would accept. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d)T((?!24)\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i

/**
 * Microseconds since 1970 of an RFC 3339 time; undefined if the text is not one. Digits beyond the microsecond are cut
 * off. A time before 1970 becomes 0; one beyond the safe integers becomes the largest.
 */
export function parseRfc3339(text: string): number | undefined {
  const [, day, time, fraction = '', zone] = RFC_3339.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const milliseconds = Date.parse(`${day}T${time}${zone}`.toUpperCase())
  if (Number.isNaN(milliseconds)) return undefined
  const microseconds = milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
  return Math.min(Math.max(microseconds, 0), Number.MAX_SAFE_INTEGER)
}

/** The platform reads February 30 as March 1 or 2. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
