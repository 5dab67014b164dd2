import { invalid } from './errors.ts'
import type { ManagementRequest } from './management-request.ts'
import { parseRfc3339 } from './timestamps.ts'

/**
 * A whole number in the query.
 * @throws ManagementError INVALID_REQUEST
 */
export function integerParameter(
  { query }: ManagementRequest,
  name: string,
  bounds: { readonly minimum: number; readonly maximum: number; readonly standard: number },
): number {
  const text = query.get(name)
  if (text === undefined) return bounds.standard
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (number >= bounds.minimum && number <= bounds.maximum) return number
  throw invalid(name, `must be a whole number from ${bounds.minimum} to ${bounds.maximum}`)
}

/**
 * A time in the query, in microseconds since 1970; undefined when it is not there.
 * @throws ManagementError INVALID_REQUEST
 */
export function timeParameter({ query }: ManagementRequest, name: string): number | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  const microseconds = parseRfc3339(text)
  if (microseconds === undefined) throw invalid(name, 'must be a time as in RFC 3339, such as 2026-08-01T12:00:00Z')
  return microseconds
}

/**
 * One of some words in the query; undefined when it is not there.
 * @throws ManagementError INVALID_REQUEST
 */
export function wordParameter<W extends string>(
  { query }: ManagementRequest,
  name: string,
  words: readonly W[],
): W | undefined {
  const text = query.get(name)
  const word = words.find((each) => each === text)
  if (text === undefined || word !== undefined) return word
  throw invalid(name, `must be one of ${words.join(', ')}`)
}
