/** The forms of time on the S3 wire. Times of the store are microseconds since the Unix epoch. */

const MICROSECONDS_PER_MILLISECOND = 1000

/** `2026-01-31T12:00:00.000Z`, as XML documents and Object Lock headers carry it. */
export function isoTimestamp(microseconds: number): string {
  return new Date(Math.floor(microseconds / MICROSECONDS_PER_MILLISECOND)).toISOString()
}

/** `Sat, 31 Jan 2026 12:00:00 GMT` (RFC 9110, IMF-fixdate), as HTTP headers carry it. */
export function httpTimestamp(microseconds: number): string {
  return new Date(Math.floor(microseconds / MICROSECONDS_PER_MILLISECOND)).toUTCString()
}

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/**
 * Parses the basic ISO form of x-amz-date, `20130524T000000Z`.
 * @returns milliseconds since the epoch, or undefined when the text is of another form or names no real moment
 */
export function parseAmzDate(text: string): number | undefined {
  const parts = AMZ_DATE.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts
  return utcMilliseconds(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second))
}

/** The basic ISO form of x-amz-date. */
export function formatAmzDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, '')
}

/**
 * A calendar moment in UTC.
 * @param month 1 to 12
 * @returns milliseconds since the epoch, or undefined when there is no such moment (30 February, hour 24)
 */
export function utcMilliseconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  // Date.UTC takes years below 100 for years of the twentieth century.
  if (year < 100 || hour > 23 || minute > 59 || second > 59) return undefined
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(milliseconds)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? milliseconds : undefined
}
