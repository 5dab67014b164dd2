import { invalidArgument } from '../errors/s3-errors.ts'
import type { QueryParameters } from './query-parameters.ts'

/** Parts are numbered from 1; a number need not be used. */
export const PART_NUMBER_MAXIMUM = 10_000

/**
 * The part number of UploadPart.
 * @throws S3Error InvalidArgument when it is missing, not a whole number or outside 1 to 10000
 */
export function partNumberParameter(query: QueryParameters): number {
  const text = query.first('partNumber') ?? ''
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= PART_NUMBER_MAXIMUM) return number
  const message = `Part number must be an integer between 1 and ${PART_NUMBER_MAXIMUM}, inclusive`
  throw invalidArgument('partNumber', text, message)
}
