import { systemMilliseconds } from '../../engine/clock.ts'
import { ExitError } from '../exit-codes.ts'
import { formatMicroseconds, parseMicroseconds } from './journal/records/rfc3339-time.ts'

/** What `microsecondsOption` takes, for descriptions of options. */
export const TIME_FORMS = 'RFC 3339 time, a day (UTC), or how long ago (90s, 30m, 12h, 7d)'

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Microseconds since 1970. @throws ExitError `usage` */
export function microsecondsOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const microseconds =
    microsecondsAgo(text) ?? parseMicroseconds(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (microseconds !== undefined) return microseconds
  throw new ExitError('usage', `${option} takes a time such as 2026-08-01T12:00:00Z, 2026-08-01 or 1h, not ${text}`)
}

function microsecondsAgo(text: string): number | undefined {
  if (!/^\d{1,6}[smhd]$/.test(text)) return undefined
  return Math.max(0, systemMilliseconds() - secondsOption('', text) * 1000) * 1000
}

/** An option that takes a time, as RFC 3339 text. @throws ExitError `usage` */
export function timeOption(option: string, text: string | undefined): string | undefined {
  const microseconds = microsecondsOption(option, text)
  return microseconds === undefined ? undefined : formatMicroseconds(microseconds)
}

/** A duration in seconds, such as `3600` or `1h`. @throws ExitError `usage` */
export function secondsOption(option: string, text: string): number {
  const [, digits, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (digits !== undefined) return Number(digits) * SECONDS[unit as keyof typeof SECONDS]
  throw new ExitError('usage', `${option} takes seconds, or a duration such as 30m, 1h or 7d, not ${text}`)
}

/** What names an object in one argument. @throws ExitError `usage` */
export function objectArgument(text: string): string {
  if (/^[^/]+\/./s.test(text)) return text
  throw new ExitError('usage', `an object is named by its bucket and its key, such as photos/cat.jpg, not ${text}`)
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
}

/** A number of bytes, such as `1048576` or `10GiB`. @throws ExitError `usage` */
export function bytesOption(option: string, text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15})(KiB|MiB|GiB|TiB)?$/.exec(text) ?? []
  const bytes = Number(digits) * (UNITS[unit] ?? 1)
  if (Number.isSafeInteger(bytes)) return bytes
  throw new ExitError('usage', `${option} takes a number of bytes such as 1048576 or 10GiB, not ${text}`)
}

/** @throws ExitError `usage` */
export function wholeOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,16}$/.test(text)) throw new ExitError('usage', `${option} takes a whole number, not ${text}`)
  return Number(text)
}
