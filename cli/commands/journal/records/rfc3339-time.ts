/** Times as RFC 3339 text with microseconds; a JavaScript date has only milliseconds. */

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i

/** Microseconds since 1970 as UTC text with six digits of a second. */
export function formatMicroseconds(time: number): string {
  const date = new Date(Math.floor(time / 1000))
  // There is no date beyond the year 275760; the number is more useful than an error.
  if (Number.isNaN(date.getTime())) return String(time)
  return date.toISOString().replace('Z', `${String(time % 1000).padStart(3, '0')}Z`)
}

/** Microseconds since 1970 of an RFC 3339 time (finer digits are cut off); undefined if it is not one. */
export function parseMicroseconds(text: string): number | undefined {
  const [, seconds, fraction = '', zone] = TIMESTAMP.exec(text) ?? []
  const milliseconds = seconds === undefined ? Number.NaN : Date.parse(`${seconds}${zone}`.toUpperCase())
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}
