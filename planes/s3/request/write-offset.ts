import type { HttpRequest } from '../../http/exchange.ts'
import { invalidArgument } from '../errors.ts'
import { effectiveHeader } from './effective-headers.ts'
import type { Target } from './target.ts'

export const WRITE_OFFSET = 'x-amz-write-offset-bytes'
/** No object has more bytes than so many digits say. */
const OFFSET = /^\d{1,15}$/

/**
 * Where a write begins in the object that is there (S3 API reference, PutObject); undefined for one that replaces it.
 * @throws S3Error InvalidArgument
 */
export function writeOffset(http: HttpRequest, target: Target): number | undefined {
  const text = effectiveHeader(http, target, WRITE_OFFSET)
  if (text === undefined) return undefined
  if (OFFSET.test(text)) return Number(text)
  throw invalidArgument(WRITE_OFFSET, text, `${WRITE_OFFSET} must be a number of bytes.`)
}
