/** One byte range of an object (RFC 9110 section 14, as S3 serves it: a single range, anything odd is ignored). */

import { S3Error } from '../errors.ts'

/** First and last byte, both inclusive. */
interface ByteRange {
  readonly first: number
  readonly last: number
}

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i

/**
 * Reads a Range header against the size of the object.
 * @returns undefined when the whole object is to be sent: no header, another unit, several ranges, or no range at all
 * @throws S3Error InvalidRange when the range is well-formed and lies outside the object
 */
export function byteRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = header === undefined ? null : SINGLE_RANGE.exec(header)
  if (header === undefined || match === null) return undefined
  const [, from = '', to = ''] = match
  if (from === '') {
    if (to === '') return undefined
    const length = Math.min(Number(to), size)
    if (length === 0) throw invalidRange(header, size)
    return { first: size - length, last: size - 1 }
  }
  const first = Number(from)
  // As numbers two that are too large for any object could be the same.
  if (to !== '' && BigInt(to) < BigInt(from)) return undefined
  if (first >= size) throw invalidRange(header, size)
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}

/** The Content-Range of a 206. */
export function contentRange(range: ByteRange, size: number): string {
  return `bytes ${range.first}-${range.last}/${size}`
}

function invalidRange(header: string, size: number): S3Error {
  return new S3Error('InvalidRange', {
    details: [
      ['ActualObjectSize', String(size)],
      ['RangeRequested', header],
    ],
    headers: [['content-range', `bytes */${size}`]],
  })
}
