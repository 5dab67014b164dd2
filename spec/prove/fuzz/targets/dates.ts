/** Times as text, held against a calendar that counts. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import { proofMicroseconds } from '../../../../engine/proof/proof-time.ts'
import { parseRfc3339 } from '../../../../planes/management/requests/timestamps.ts'
import { parseHttpDate } from '../../../../planes/http/headers/http-date.ts'
import { parseAmzDate, parseIsoTimestamp } from '../../../../planes/s3/text/timestamps.ts'
import type { Random } from '../../../support/random.ts'
import { fitsPicture, isDigit, naiveMoment } from '../naive-calendar.ts'
import { accepted, type FuzzTarget, mustBeSame, refused } from '../target.ts'

const NOW = millisecondsOf(Date.UTC(2026, 7, 1, 12))
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const SHORT_DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const LONG_DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const WORDS = [...MONTHS, ...SHORT_DAYS, ...LONG_DAYS, ...' GMT| -0000| +0000|T|Z|t|z|24|60|00|:'.split('|')]
const OFFSETS = ['+00:00', '-00:00', '+23:59', '-23:59', '+24:00', '+0100', '-0001', '.000', '.123456789', '.9999999']
const EDGE_DIGITS = ['00', '00', '01', '12', '23', '24', '29', '30', '31', '59', '60']
const EDGE_DAYS = ['0229', '0230', '0231', '0431', '1231', '1301', '0001', '0100']

/** A target for one reader of times, and what the reader should say. */
function dateTarget<T>(
  name: string,
  seeds: readonly string[],
  read: (text: string) => T | undefined,
  expected: (text: string) => T | undefined,
  make?: (random: Random) => string,
): FuzzTarget {
  return {
    name,
    seeds,
    words: [...WORDS, ...OFFSETS, ...EDGE_DAYS],
    ...(make === undefined ? {} : { make }),
    judge: (input) => {
      const text = input.toString('latin1')
      const found = read(text)
      mustBeSame(found, expected(text), `${name} ${JSON.stringify(text.slice(0, 100))}`)
      return found === undefined ? refused() : accepted()
    },
  }
}

function twoDigits(random: Random, limit: number): string {
  return random.below(2) === 0 ? random.of(EDGE_DIGITS) : String(random.below(limit)).padStart(2, '0')
}

/** A form with numbers that are mostly possible. */
function dateByChance(random: Random, form: string): string {
  const parts: Readonly<Record<string, string>> = {
    Y: random.of([String(1970 + random.below(100)), '0000', '0099', '0100', '1900', '2000', '2100', '9999']),
    y: twoDigits(random, 100),
    M: twoDigits(random, 14),
    N: random.of(MONTHS),
    D: twoDigits(random, 33),
    d: String(1 + random.below(31)).padStart(2, ' '),
    h: twoDigits(random, 26),
    m: twoDigits(random, 62),
    s: twoDigits(random, 62),
    f: random.of(['', '.0', '.5', '.123', '.999999', '.9999999', '.000000001', '.1234567890', '.']),
    z: random.of(['Z', 'z', ...OFFSETS.slice(0, 7)]),
    W: random.of(SHORT_DAYS),
    w: random.of(LONG_DAYS),
  }
  return form.replaceAll(/%(\w)/g, (_, letter: string) => parts[letter] ?? '')
}

const number = (text: string, start: number, end: number): number => Number(text.slice(start, end))

/** `yyyymmddThhmmssZ` */
function amzDate(text: string): number | undefined {
  if (!fitsPicture(text, '########T######Z')) return undefined
  const year = number(text, 0, 4)
  const [month, day] = [number(text, 4, 6), number(text, 6, 8)]
  const time = [number(text, 9, 11), number(text, 11, 13), number(text, 13, 15)] as const
  return year < 100 ? undefined : naiveMoment(year, month, day, ...time)
}

interface IsoParts {
  /** Of the date and time as they stand, in milliseconds. */
  readonly local: number
  /** Digits behind the point; undefined without a point. */
  readonly fraction: string | undefined
  /** What stands behind that. */
  readonly zone: string
}

/** Takes `yyyy-mm-ddThh:mm:ss` with what follows apart. */
function isoParts(text: string): IsoParts | undefined {
  const head = text.slice(0, 19)
  if (!fitsPicture(head, '####-##-##T##:##:##')) return undefined
  const date = [number(head, 0, 4), number(head, 5, 7), number(head, 8, 10)] as const
  const local = naiveMoment(...date, number(head, 11, 13), number(head, 14, 16), number(head, 17, 19))
  if (local === undefined) return undefined
  let end = 19
  if (text[end] !== '.') return { local, fraction: undefined, zone: text.slice(end) }
  while (isDigit(text[end + 1])) end += 1
  return { local, fraction: text.slice(20, end + 1), zone: text.slice(end + 1) }
}

/** Minutes ahead of UTC. */
function offsetOf(zone: string, pictures: readonly string[]): number | undefined {
  if (zone === 'Z') return 0
  const rest = zone.slice(1)
  if (!pictures.some((picture) => fitsPicture(rest, picture)) || !'+-'.includes(zone.charAt(0))) return undefined
  const [hours, minutes] = [Number(rest.slice(0, 2)), Number(rest.slice(-2))]
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Retain-until dates: rounded up to a millisecond. */
function isoTimestamp(text: string): number | undefined {
  const parts = isoParts(text)
  const offset = parts && offsetOf(parts.zone, ['##:##', '####'])
  if (parts === undefined || offset === undefined || parts.local < Date.UTC(100, 0)) return undefined
  const { fraction } = parts
  if (fraction !== undefined && (fraction.length === 0 || fraction.length > 9)) return undefined
  const nanoseconds = BigInt((fraction ?? '').padEnd(9, '0'))
  const whole = parts.local - offset * 60_000
  if (whole > LAST) return undefined
  return Math.min(whole + Number((nanoseconds + 999_999n) / 1_000_000n), LAST)
}

/** Times of the management interface: cut to a microsecond, and to the times that there are. */
function rfc3339(text: string): number | undefined {
  const parts = isoParts(text.toUpperCase())
  const offset = parts && offsetOf(parts.zone, ['##:##'])
  if (parts === undefined || offset === undefined) return undefined
  const { fraction } = parts
  if (fraction !== undefined && (fraction.length === 0 || fraction.length > 9)) return undefined
  const microseconds = Number((fraction ?? '').padEnd(6, '0').slice(0, 6))
  return Math.min(Math.max((parts.local - offset * 60_000) * 1000 + microseconds, 0), Number.MAX_SAFE_INTEGER)
}

/** Times of a proof bundle: one text for one time, as far as digits go. */
function proofTime(text: string): bigint | undefined {
  const parts = isoParts(text)
  const offset = parts && offsetOf(parts.zone, ['##:##'])
  if (parts === undefined || offset === undefined || parts.zone === '-00:00') return undefined
  const { fraction } = parts
  if (fraction !== undefined && (fraction.length === 0 || fraction.length > 6)) return undefined
  return BigInt(parts.local - offset * 60_000) * 1000n + BigInt((fraction ?? '').padEnd(6, '0'))
}

/** The three forms of RFC 9110 section 5.6.7, each as a picture; the month stands at `NNN`. */
const HTTP_FORMS = [
  ...SHORT_DAYS.flatMap((day) => ['GMT', '-0000', '+0000'].map((zone) => `${day}, ## NNN #### ##:##:## ${zone}`)),
  ...LONG_DAYS.map((day) => `${day}, ##-NNN-## ##:##:## GMT`),
  ...SHORT_DAYS.flatMap((day) => [`${day} NNN ## ##:##:## ####`, `${day} NNN  # ##:##:## ####`]),
]

function httpDate(text: string): number | undefined {
  for (const form of HTTP_FORMS) {
    const at = form.indexOf('NNN')
    const month = MONTHS.indexOf(text.slice(at, at + 3)) + 1
    if (month === 0 || !fitsPicture(text, form.replace('NNN', MONTHS[month - 1] as string))) continue
    const numbers = [...text.matchAll(/[0-9]+/g)].map(([digits]) => Number(digits))
    const isLast = form.endsWith('####')
    const [day = 0, ...rest] = numbers
    const [hour = 0, minute = 0, second = 0] = isLast ? rest : rest.slice(1)
    const year = isLast ? rest[3] : rest[0]
    return momentOf(year ?? 0, form.includes('-NNN-'), month, day, [hour, minute, second])
  }
  return undefined
}

function momentOf(
  year: number,
  isShort: boolean,
  month: number,
  day: number,
  time: readonly [number, number, number],
): number | undefined {
  // Never more than fifty years ahead of 2026.
  const full = isShort ? (2000 + year > 2076 ? 1900 + year : 2000 + year) : year
  return full < 100 ? undefined : naiveMoment(full, month, day, ...time)
}

export const DATE_TARGETS: readonly FuzzTarget[] = [
  dateTarget(
    'http-date',
    ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'],
    (text) => parseHttpDate(text, NOW),
    httpDate,
    (random) =>
      dateByChance(
        random,
        random.of(['%W, %D %N %Y %h:%m:%s GMT', '%w, %D-%N-%y %h:%m:%s GMT', '%W %N %d %h:%m:%s %Y']),
      ),
  ),
  dateTarget('amz-date', ['20130524T000000Z'], parseAmzDate, amzDate, (random) =>
    dateByChance(random, '%Y%M%DT%h%m%sZ'),
  ),
  dateTarget(
    'retain-until-date',
    ['2030-01-01T00:00:00Z', '2030-02-28T23:59:59.9991+05:30', '9999-12-31T23:59:59.999Z'],
    parseIsoTimestamp,
    isoTimestamp,
    (random) => dateByChance(random, '%Y-%M-%DT%h:%m:%s%f%z'),
  ),
  dateTarget(
    'rfc3339-time',
    ['2026-08-01T12:00:00Z', '2026-08-01t12:00:00.123456+02:00'],
    parseRfc3339,
    rfc3339,
    (random) => dateByChance(random, '%Y-%M-%DT%h:%m:%s%f%z'),
  ),
  dateTarget(
    'proof-time',
    ['2026-08-01T09:30:00.123456Z', '1969-12-31T23:59:59-00:01'],
    proofMicroseconds,
    proofTime,
    (random) => dateByChance(random, '%Y-%M-%DT%h:%m:%s%f%z'),
  ),
]
