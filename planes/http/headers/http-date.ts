/** HTTP dates of RFC 9110, section 5.6.7: the three forms that a recipient must understand, and no others. */

import type { Milliseconds } from '../../../engine/brands.ts'

const MICROSECONDS_PER_SECOND = 1_000_000
const MILLISECONDS_PER_DAY = 86_400_000
const SECONDS_PER_DAY = 86_400
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

const MONTHS: readonly string[] = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`. Python's mail library, and with it botocore, writes the zone as `-0000` (RFC 5322:
 * Universal Time, of a place unknown).
 */
const IMF_FIXDATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|[+-]0000)$/

/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC_850 = /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/

/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/

/**
 * Parses an HTTP date.
 * @param nowMilliseconds decides the century of a two-digit year: never more than 50 years ahead (RFC 9110)
 * @returns milliseconds since the epoch (whole seconds), or undefined when the text is not an HTTP date
 */
export function parseHttpDate(text: string, nowMilliseconds: Milliseconds): number | undefined {
  let match = IMF_FIXDATE.exec(text)
  if (match) return moment(Number(match[3]), match[2], match[1], match[4], match[5], match[6])
  match = RFC_850.exec(text)
  if (match)
    return moment(fullYear(Number(match[3]), nowMilliseconds), match[2], match[1], match[4], match[5], match[6])
  match = ASCTIME.exec(text)
  if (match) return moment(Number(match[6]), match[1], match[2], match[3], match[4], match[5])
  return undefined
}

function fullYear(lastDigits: number, nowMilliseconds: Milliseconds): number {
  const thisYear = new Date(nowMilliseconds).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + lastDigits
  return year > thisYear + 50 ? year - 100 : year
}

type Digits = string | undefined

function moment(year: number, month: Digits, day: Digits, hour: Digits, minute: Digits, second: Digits) {
  const monthNumber = MONTHS.indexOf(month ?? '') + 1
  if (monthNumber === 0) return undefined
  return utcMilliseconds(year, monthNumber, Number(day), Number(hour), Number(minute), Number(second))
}

/** Cached text of the last formatted day: every read formats a date, and objects of one day are read together. */
let httpDay: number | undefined
let httpDate = ''

/** `Sat, 31 Jan 2026 12:00:00 GMT` (RFC 9110, IMF-fixdate), as HTTP headers carry it. */
export function httpTimestamp(microseconds: number): string {
  const total = Math.floor(microseconds / MICROSECONDS_PER_SECOND)
  const day = Math.floor(total / SECONDS_PER_DAY)
  if (day !== httpDay) {
    const text = new Date(day * MILLISECONDS_PER_DAY).toUTCString()
    httpDate = text.slice(0, text.indexOf(':') - 2)
    httpDay = day
  }
  const seconds = total - day * SECONDS_PER_DAY
  const minutes = Math.floor(seconds / 60)
  const hour = Math.floor(minutes / 60)
  return `${httpDate}${twoDigits[hour]}:${twoDigits[minutes - hour * 60]}:${twoDigits[seconds - minutes * 60]} GMT`
}

/**
 * Converts a calendar time in UTC.
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
  // Date.UTC maps years below 100 to 19xx.
  if (year < 100 || hour > 23 || minute > 59 || second > 59) return undefined
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(milliseconds)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? milliseconds : undefined
}
