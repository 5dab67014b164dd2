import { ExitError } from '../exit-codes.ts'
import { parseMicroseconds } from './journal/records/rfc3339-time.ts'

/** Microseconds since 1970. @throws ExitError `usage` */
export function microsecondsOption(option: string, text: string | undefined): number | undefined {
  const microseconds = text === undefined ? undefined : parseMicroseconds(text)
  if (microseconds !== undefined || text === undefined) return microseconds
  throw new ExitError('usage', `${option} takes a time such as 2026-08-01T12:00:00Z, not ${text}`)
}

/** The text of an option that takes a time, checked before it is sent. @throws ExitError `usage` */
export function timeOption(option: string, text: string | undefined): string | undefined {
  microsecondsOption(option, text)
  return text
}

/** @throws ExitError `usage` */
export function wholeOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,16}$/.test(text)) throw new ExitError('usage', `${option} takes a whole number, not ${text}`)
  return Number(text)
}
