import { ExitError } from '../exit-codes.ts'
import { parseMicroseconds } from '../journal-show/rfc3339-time.ts'

/** The text of an option that takes a time, checked before the server is asked. @throws ExitError `usage` */
export function timeOption(option: string, text: string | undefined): string | undefined {
  if (text === undefined || parseMicroseconds(text) !== undefined) return text
  throw new ExitError('usage', `${option} takes a time such as 2026-08-01T12:00:00Z, not ${text}`)
}

/** @throws ExitError `usage` */
export function wholeOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new ExitError('usage', `${option} takes a whole number, not ${text}`)
  return Number(text)
}
