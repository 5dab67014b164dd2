import type { HttpRequest } from '../../http/exchange.ts'
import { invalidArgument } from '../errors/s3-errors.ts'
import { effectiveHeader } from './effective-headers.ts'
import type { Target } from './target.ts'

export const WRITE_OFFSET = 'x-amz-write-offset-bytes'
/** 15 digits: more than the size of any object. */
const OFFSET = /^\d{1,15}$/

/**
 * The offset in the existing object at which an append writes (S3 API reference, PutObject); undefined for a plain PUT.
 * @throws S3Error InvalidArgument
 */
export function writeOffset(http: HttpRequest, target: Target): number | undefined {
  const text = effectiveHeader(http, target, WRITE_OFFSET)
  if (text === undefined) return undefined
  if (OFFSET.test(text)) return Number(text)
  throw invalidArgument(WRITE_OFFSET, text, `${WRITE_OFFSET} must be a number of bytes.`)
}
