import { PUT_BYTES_MAXIMUM } from './operation.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'

const HEADER = 'x-amz-copy-source-range'
/** Both ends are required; 15 digits exceed the size of any object. */
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/

/** A range of a source; `end` is exclusive. */
interface SourceRange {
  readonly start: number
  readonly end: number
}

/**
 * Parses the range of a copied part for the size of its source. Unlike the Range of a read, an invalid range is
 * refused, and it must lie inside the source (S3 API reference, UploadPartCopy).
 * @throws S3Error InvalidArgument, InvalidRequest (over 5 GiB)
 */
export function copyRange(header: string | undefined, size: number): SourceRange {
  const { start, end } = header === undefined ? { start: 0, end: size } : parse(header, size)
  if (end - start <= PUT_BYTES_MAXIMUM) return { start, end }
  throw new S3Error('InvalidRequest', {
    message: `The specified copy source is larger than the maximum allowable size for a copy source: ${PUT_BYTES_MAXIMUM}`,
  })
}

function parse(header: string, size: number): SourceRange {
  const match = RANGE.exec(header)
  if (match === null) {
    const form = 'bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy'
    throw invalidArgument(HEADER, header, `The ${HEADER} value must be of the form ${form}`)
  }
  const start = Number(match[1])
  const end = Number(match[2]) + 1
  if (start < end && end <= size) return { start, end }
  throw invalidArgument(HEADER, header, `Range specified is not valid for source object of size: ${size}`)
}
