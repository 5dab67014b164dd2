import { type ByteRange, rangeOf, unsatisfiedRange } from '../../http/headers/byte-range.ts'
import { S3Error } from '../errors.ts'

/**
 * Reads a Range header against the size of the object.
 * @returns undefined when the whole object is to be sent
 * @throws S3Error InvalidRange when the range is well-formed and lies outside the object
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
