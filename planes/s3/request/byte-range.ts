import { type ByteRange, rangeOf, unsatisfiedRange } from '../../http/headers/byte-range.ts'
import { S3Error } from '../errors/s3-errors.ts'

/**
 * Parses a Range header for an object of `size` bytes.
 * @returns undefined to send the whole object
 * @throws S3Error InvalidRange for a valid range outside the object
 */
export function byteRange(header: string | undefined, size: number): ByteRange | undefined {
  const range = rangeOf(header, size)
  if (range !== 'outside') return range
  throw new S3Error('InvalidRange', {
    details: [
      ['ActualObjectSize', String(size)],
      ['RangeRequested', header ?? ''],
    ],
    headers: [['content-range', unsatisfiedRange(size)]],
  })
}
