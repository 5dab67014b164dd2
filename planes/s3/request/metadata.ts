/**
 * User metadata and stored content headers of a write. Pairs instead of objects, so that names such as `__proto__` are
 * harmless. Values that could not be sent as a header are refused.
 */

import type { HttpRequest } from '../../http/exchange.ts'
import { isHeaderValue } from '../../../engine/domain/names.ts'
import { effectiveAmzHeaders } from './effective-headers.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import type { QueryParameters } from './query-parameters.ts'
import type { Target } from './target.ts'

type Pair = readonly [name: string, value: string]

export const METADATA_PREFIX = 'x-amz-meta-'
const METADATA_BYTES_MAXIMUM = 2048

/** A header name (RFC 9110 token) in lower case. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** Whether a stored pair can be sent as a header line, or as user metadata. Names in lower case. */
export function isHeaderLine(name: string, value: string): boolean {
  return TOKEN.test(name) && isHeaderValue(value)
}

/**
 * The user metadata of a write, names in lower case without `x-amz-meta-`, sorted by name; repeated headers are joined
 * with a comma (RFC 9110 section 5.3), values may be empty.
 * @throws S3Error InvalidArgument (a name or value that is not valid in a header), MetadataTooLarge
 */
export function userMetadata(request: HttpRequest, target: Target): Pair[] {
  const values = new Map<string, string>()
  for (const [header, value] of effectiveAmzHeaders(request, target)) {
    if (!header.startsWith(METADATA_PREFIX)) continue
    const name = header.slice(METADATA_PREFIX.length)
    if (!TOKEN.test(name)) throw invalidArgument(header, value, 'The name of a metadata header is not valid.')
    checkHeaderValue(header, value)
    const earlier = values.get(name)
    values.set(name, earlier === undefined ? value : `${earlier},${value}`)
  }
  if (values.size === 0) return []
  const pairs = [...values].toSorted((left, right) => (left[0] < right[0] ? -1 : 1))
  checkMetadataSize(pairs)
  return pairs
}

function checkMetadataSize(pairs: readonly Pair[]): void {
  let bytes = 0
  for (const [name, value] of pairs) bytes += name.length + Buffer.byteLength(value)
  if (bytes <= METADATA_BYTES_MAXIMUM) return
  const details = [
    ['Size', String(bytes)],
    ['MaxSizeAllowed', String(METADATA_BYTES_MAXIMUM)],
  ] as const
  throw new S3Error('MetadataTooLarge', { details })
}

/** Content headers that are stored. Repeats of a `list` are joined; repeats of a `single` are refused. */
export const STORED_HEADERS: ReadonlyMap<string, 'list' | 'single'> = new Map([
  ['cache-control', 'list'],
  ['content-disposition', 'single'],
  ['content-encoding', 'list'],
  ['content-language', 'list'],
  ['content-type', 'single'],
  ['expires', 'single'],
])

/**
 * The content headers of a write that are stored and returned unchanged, sorted by name. An empty header counts as
 * absent. `aws-chunked` describes the transfer and is not stored.
 * @throws S3Error InvalidArgument
 */
export function contentHeaders(request: HttpRequest): Pair[] {
  const values = new Map<string, string>()
  for (const [name, value] of request.headers) {
    const repeats = STORED_HEADERS.get(name)
    if (repeats === undefined || value === '') continue
    checkHeaderValue(name, value)
    const earlier = values.get(name)
    if (earlier !== undefined && repeats === 'single')
      throw invalidArgument(name, value, `The header ${name} occurs more than once.`)
    values.set(name, earlier === undefined ? value : `${earlier},${value}`)
  }
  const encoding = values.get('content-encoding')
  if (encoding !== undefined) {
    const codings = encoding.split(',').map((coding) => coding.trim())
    const kept = codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
    if (kept.length === 0) values.delete('content-encoding')
    else if (kept.length < codings.length) values.set('content-encoding', kept.join(','))
  }
  return [...values].toSorted((left, right) => (left[0] < right[0] ? -1 : 1))
}

const OVERRIDE_PREFIX = 'response-'

/**
 * The response headers that a signed read replaces with `response-content-type` and similar parameters, as pairs of
 * header name and value.
 * @throws S3Error InvalidArgument when a value is not valid in a header: a line end would let a link inject headers
 */
export function responseOverrides(query: QueryParameters): Pair[] {
  const pairs: Pair[] = []
  for (const [parameter, value] of query.entries) {
    if (!parameter.startsWith(OVERRIDE_PREFIX)) continue
    const name = parameter.slice(OVERRIDE_PREFIX.length)
    if (!STORED_HEADERS.has(name)) continue
    checkHeaderValue(parameter, value)
    if (pairs.some((pair) => pair[0] === name)) {
      throw invalidArgument(parameter, value, `The parameter ${parameter} occurs more than once.`)
    }
    pairs.push([name, value])
  }
  return pairs
}

function checkHeaderValue(name: string, value: string): void {
  if (isHeaderValue(value)) return
  throw invalidArgument(name, value, `The value of ${name} holds control characters or is not UTF-8.`)
}
