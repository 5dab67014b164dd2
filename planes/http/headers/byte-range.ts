/** Byte ranges (RFC 9110 section 14): a single range is served, any other Range header is ignored. */

/** First and last byte, both inclusive. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i

/**
 * Parses a Range header for a representation of `size` bytes.
 * @returns undefined to send everything: without a valid single range in bytes; `outside` when the range is well-formed
 *   and cannot be satisfied
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  const match = header === undefined ? null : SINGLE_RANGE.exec(header)
  if (match === null) return undefined
  const [, from = '', to = ''] = match
  if (from === '') {
    if (to === '') return undefined
    const length = Math.min(Number(to), size)
    return length === 0 ? 'outside' : { first: size - length, last: size - 1 }
  }
  const first = Number(from)
  // Two numbers above 2^53 could be equal as floats.
  if (to !== '' && BigInt(to) < BigInt(from)) return undefined
  if (first >= size) return 'outside'
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}

/** The Content-Range of a 206. */
export function contentRange(range: ByteRange, size: number): string {
  return `bytes ${range.first}-${range.last}/${size}`
}

/** The Content-Range of a 416. */
export function unsatisfiedRange(size: number): string {
  return `bytes */${size}`
}
