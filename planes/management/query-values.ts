import { invalid } from './errors.ts'
import type { ManagementRequest } from './management-request.ts'

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
