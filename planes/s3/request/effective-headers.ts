/**
 * The x-amz-* headers of a request, from its head or its query. Presigners of some SDKs move every such header into the
 * query and sign only `host`, so an x-amz-* query parameter counts as the header of its name.
 */

import type { HeaderLine, HttpRequest } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'
import type { QueryParameters } from './query-parameters.ts'
import type { Target } from './target.ts'

const AMZ_PREFIX = 'x-amz-'

/** The parameters of the presigned signature itself; they describe the query and count as no header. */
const SIGNATURE_PARAMETERS: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-signature',
  'x-amz-signedheaders',
])

/**
 * A checksum in the query was computed by the presigner, before there was a body: it is the checksum of an empty body
 * and is ignored. Parameters that only request checksums (mode, algorithm, type) count as headers.
 */
function isPresignedChecksum(name: string): boolean {
  if (name === 'x-amz-sdk-checksum-algorithm') return true
  if (!name.startsWith('x-amz-checksum-')) return false
  return !(name.endsWith('-mode') || name.endsWith('-algorithm') || name.endsWith('-type'))
}

/** Whether a lower-case query name counts as a header. */
function countsAsHeader(name: string): boolean {
  return name.startsWith(AMZ_PREFIX) && !SIGNATURE_PARAMETERS.has(name) && !isPresignedChecksum(name)
}

/** Trims blanks, which a header value cannot have at its ends. */
function trimBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value, start)) start += 1
  while (end > start && isBlank(value, end - 1)) end -= 1
  return value.slice(start, end)
}

function isBlank(text: string, index: number): boolean {
  const character = text[index]
  return character === ' ' || character === '\t'
}

/**
 * The value of a header, from the header lines or from the query parameter that counts as it.
 * @param name lower-case; only `x-amz-*` names have twins in the query
 */
export function effectiveHeader(request: HttpRequest, target: Target, name: string): string | undefined {
  const value = request.header(name)
  if (value !== undefined || target.query.entries.length === 0 || !countsAsHeader(name)) return value
  for (const [parameter, text] of target.query.entries) {
    if (parameter.length === name.length && parameter.toLowerCase() === name) return trimBlanks(text)
  }
  return undefined
}

/**
 * Every x-amz-* header in effect: the header lines as received (repeats and all), then those that only the query has,
 * each name once.
 */
export function effectiveAmzHeaders(request: HttpRequest, target: Target): HeaderLine[] {
  const lines = request.headers.filter(([name]) => name.startsWith(AMZ_PREFIX))
  if (target.query.entries.length === 0) return lines
  const seen = new Set(lines.map(([name]) => name))
  for (const [parameter, text] of target.query.entries) {
    const name = parameter.toLowerCase()
    if (!countsAsHeader(name) || seen.has(name)) continue
    seen.add(name)
    lines.push([name, trimBlanks(text)])
  }
  return lines
}

/**
 * Refuses an x-amz-* name with different values in the query and the headers, or twice in the query: it would be
 * unclear which value counts.
 * @throws S3Error InvalidArgument
 */
export function refuseContradictions(request: HttpRequest, query: QueryParameters): void {
  if (query.entries.length === 0) return
  const seen = new Map<string, string>()
  for (const [parameter, text] of query.entries) {
    const name = parameter.toLowerCase()
    if (!name.startsWith(AMZ_PREFIX) || isPresignedChecksum(name)) continue
    const value = trimBlanks(text)
    const other = seen.get(name) ?? request.header(name)
    const repeatsSignature = seen.has(name) && SIGNATURE_PARAMETERS.has(name)
    if (repeatsSignature || (other !== undefined && other !== value)) {
      const message = 'The request carries this parameter more than once.'
      throw new S3Error('InvalidArgument', { message, details: [['ArgumentName', parameter]] })
    }
    seen.set(name, value)
  }
}
