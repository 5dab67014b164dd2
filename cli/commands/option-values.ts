import { systemMilliseconds } from '../../engine/clock.ts'
import { ExitError } from '../exit-codes.ts'
import { readDuration, readWhole } from '../values/quantity.ts'
import { formatMicroseconds, parseMicroseconds } from './journal/records/rfc3339-time.ts'

/** The forms of `microsecondsOption`, for descriptions of options. */
export const TIME_FORMS = 'RFC 3339 time, a day (UTC), or how long ago (90s, 30m, 12h, 7d)'

/** Microseconds since 1970. @throws ExitError `usage` */
export function microsecondsOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const microseconds =
    microsecondsAgo(text) ?? parseMicroseconds(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (microseconds !== undefined) return microseconds
  throw new ExitError('usage', `${option} takes a time such as 2026-08-01T12:00:00Z, 2026-08-01 or 1h, not ${text}`)
}

function microsecondsAgo(text: string): number | undefined {
  if (text === 'now') return systemMilliseconds() * 1000
  const ago = readDuration(text)
  return 'problem' in ago ? undefined : Math.max(0, systemMilliseconds() - ago.value * 1000) * 1000
}

/** An option that takes a time, as RFC 3339 text. @throws ExitError `usage` */
export function timeOption(option: string, text: string | undefined): string | undefined {
  const microseconds = microsecondsOption(option, text)
  return microseconds === undefined ? undefined : formatMicroseconds(microseconds)
}

/** A duration in seconds, such as `3600` or `1h30m`. @throws ExitError `usage` */
export function secondsOption(option: string, text: string): number {
  return quantityOption(option, text, 'seconds')
}

/** A whole number of a unit that `readWhole` knows, or a number with its unit. @throws ExitError `usage` */
export function quantityOption(option: string, text: string, unit: 'seconds' | 'days' | 'bytes' | 'bytes/s'): number {
  const quantity = readWhole(text, unit)
  const problem = 'problem' in quantity ? quantity.problem : quantity.value < 0 ? `${text} is negative` : undefined
  if (problem !== undefined) throw new ExitError('usage', `${option}: ${problem}`)
  return (quantity as { readonly value: number }).value
}

/** An object in one argument. @throws ExitError `usage` */
export function objectArgument(text: string): string {
  if (/^[^/]+\/./s.test(text)) return text
  throw new ExitError('usage', `an object is named by its bucket and its key, such as photos/cat.jpg, not ${text}`)
}

/** The name of a bucket, which has no slash. @throws ExitError `usage` */
export function bucketArgument(text: string): string {
  const slash = text.indexOf('/')
  if (slash === -1) return text
  const [bucket, key] = [text.slice(0, slash), text.slice(slash + 1)]
  throw new ExitError('usage', `${text} is not a bucket: write bucket and key as two arguments, ${bucket} ${key}`)
}

/** @throws ExitError `usage` */
export function wholeOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,16}$/.test(text)) throw new ExitError('usage', `${option} takes a whole number, not ${text}`)
  return Number(text)
}
