/** Time formats of the S3 protocol. Times of the store are microseconds since the Unix epoch. */
import { type Milliseconds, millisecondsOf } from '../../../engine/brands.ts'
import { utcMilliseconds } from '../../http/headers/http-date.ts'

const MICROSECONDS_PER_MILLISECOND = 1000
const NANOSECONDS_PER_MILLISECOND = 1_000_000
const MILLISECONDS_PER_SECOND = 1000
const MILLISECONDS_PER_MINUTE = 60_000
const MILLISECONDS_PER_DAY = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/**
 * The last formatted day, and its text. A listing formats a thousand times, mostly of one day, and Date's own
 * formatting was a tenth of the cost of a page.
 */
let writtenDay: number | undefined
let writtenDate = ''
/** Cached text of the last formatted second: neighbouring objects were often written together. */
let writtenSecond: number | undefined
let writtenTime = ''

/** Formats `2026-01-31T12:00:00.000Z`, for XML documents and Object Lock headers. */
export function isoTimestamp(microseconds: number): string {
  return isoMilliseconds(Math.floor(microseconds / MICROSECONDS_PER_MILLISECOND))
}

/**
 * The same format from milliseconds, for retention: dates far in the future would not be exact in microseconds.
 */
export function isoMilliseconds(milliseconds: number): string {
  const second = Math.floor(milliseconds / MILLISECONDS_PER_SECOND)
  if (second !== writtenSecond) {
    writtenTime = isoSecond(second * MILLISECONDS_PER_SECOND)
    writtenSecond = second
  }
  const fraction = milliseconds - second * MILLISECONDS_PER_SECOND
  const zeros = fraction < 10 ? '00' : fraction < 100 ? '0' : ''
  return `${writtenTime}.${zeros}${fraction}Z`
}

/** Up to the point before the fraction. */
function isoSecond(milliseconds: number): string {
  const day = Math.floor(milliseconds / MILLISECONDS_PER_DAY)
  if (day !== writtenDay) {
    const text = new Date(day * MILLISECONDS_PER_DAY).toISOString()
    writtenDate = text.slice(0, text.indexOf('T') + 1)
    writtenDay = day
  }
  const time = milliseconds - day * MILLISECONDS_PER_DAY
  const minutes = Math.floor(time / MILLISECONDS_PER_MINUTE)
  const seconds = Math.floor(time / MILLISECONDS_PER_SECOND)
  const hour = Math.floor(minutes / 60)
  return `${writtenDate}${twoDigits[hour]}:${twoDigits[minutes - hour * 60]}:${twoDigits[seconds - minutes * 60]}`
}

const ISO_TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/

/** The last moment of the year 9999. */
const ISO_LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Parses ISO 8601 as clients send it in retain-until dates: `2030-01-01T00:00:00Z`, with a fraction of up to nine
 * digits, and with an offset in place of `Z`. A fraction finer than milliseconds is rounded up, since a retention must
 * never end before the moment that was asked for.
 * @returns milliseconds since the epoch, up to the year 9999; undefined when the text is of another form, has no zone
 *   or names no real moment
 */
export function parseIsoTimestamp(text: string): Milliseconds | undefined {
  const parts = ISO_TIMESTAMP.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '.0', sign, offsetHours = '0', offsetMinutes = '0'] =
    parts
  const local = utcMilliseconds(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second))
  if (local === undefined) return undefined
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MILLISECONDS_PER_MINUTE
  const wholeSeconds = sign === '-' ? local + offset : local - offset
  if (wholeSeconds > ISO_LAST) return undefined
  return millisecondsOf(Math.min(wholeSeconds + fractionMilliseconds(fraction), ISO_LAST))
}

/** Of `.1234` 124; counted in digits, since a product of binary fractions could end a hair above a whole number. */
function fractionMilliseconds(fraction: string): number {
  const digits = fraction.slice(1).padEnd(9, '0')
  return Math.ceil(Number(digits) / NANOSECONDS_PER_MILLISECOND)
}

/** Cache of the last parsed time: busy clients sign many requests in a second. */
let readText: string | undefined
let readMilliseconds: number | undefined

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/**
 * Parses the basic ISO form of x-amz-date, `20130524T000000Z`.
 * @returns milliseconds since the epoch, or undefined when the text is of another form or names no real moment
 */
export function parseAmzDate(text: string): number | undefined {
  if (text === readText) return readMilliseconds
  const parts = AMZ_DATE.exec(text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts
  readMilliseconds = utcMilliseconds(
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  readText = text
  return readMilliseconds
}

/** The basic ISO form of x-amz-date. */
export function formatAmzDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, '')
}
