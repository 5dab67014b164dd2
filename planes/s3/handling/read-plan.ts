import type { PartList } from '../../../engine/payloads/payload-reader.ts'
import type { ObjectState } from '../../../engine/state-ports.ts'
import type { HeaderLine } from '../../http/exchange.ts'
import { contentRange } from '../../http/headers/byte-range.ts'
import { meetsIfRange } from '../../http/headers/conditions.ts'
import { checksumHeaders } from '../request/checksums.ts'
import { byteRange } from '../request/byte-range.ts'
import { checkReadConditions } from '../request/conditions.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { lockHeaders } from '../request/lock-headers.ts'
import { versionHeader } from './version-headers.ts'
import type { FoundObject } from '../../objects/find-object.ts'
import { isHeaderLine, METADATA_PREFIX, responseOverrides } from '../request/metadata.ts'
import { partNumberParameter } from '../request/part-number.ts'
import { tagCount } from './tag-count.ts'
import type { S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { httpTimestamp } from '../../http/headers/http-date.ts'

/** How a read of an object is answered. */
interface ReadPlan {
  readonly status: 200 | 206 | 304
  readonly headers: HeaderLine[]
  /** First byte to send. */
  readonly start: number
  readonly length: number
}

/** S3's content type of an object that was stored without one. */
const DEFAULT_TYPE = 'binary/octet-stream'

/**
 * The answer to a read: checks conditions, then the range (RFC 9110 section 13.2.2), then makes the headers.
 * @throws S3Error PreconditionFailed, InvalidRange, InvalidArgument, InvalidRequest, InvalidPartNumber
 */
export function planRead(request: S3Request, services: S3Services, found: FoundObject): ReadPlan {
  const { bucket, object } = found
  const { query } = request.target
  const validators = { etag: object.etag, lastModifiedMicroseconds: object.modifiedMicroseconds }
  const headers: HeaderLine[] = [
    ['etag', `"${object.etag}"`],
    ['last-modified', httpTimestamp(object.modifiedMicroseconds)],
    ...versionHeader(bucket, object, services),
  ]
  if (checkReadConditions(request.http, validators, services.clock()) === 'not-modified') {
    addCacheHeaders(headers, object, query.entries.length === 0 ? [] : responseOverrides(query))
    return { status: 304, headers, start: 0, length: 0 }
  }
  const part = query.has('partNumber') ? partOf(request, found) : undefined
  const wantsRange = meetsIfRange(request.http.header('if-range'), object.etag)
  const range = part ?? (wantsRange ? byteRange(request.http.header('range'), object.size) : undefined)
  headers.push(['accept-ranges', 'bytes'])
  // On S3 they need a permission, which no stranger has.
  if (request.identity !== undefined) headers.push(...lockHeaders(object.lock))
  addStoredHeaders(headers, object, query.entries.length === 0 ? [] : responseOverrides(query))
  if (object.tags !== undefined) headers.push(...tagCount(request, services, object.tags))
  if (part?.count !== undefined) headers.push(['x-amz-mp-parts-count', String(part.count)])
  if (range === undefined) {
    const { checksum, etag } = object
    if (checksum !== undefined) headers.push(...checksumHeaders(request.http, request.target, checksum, etag))
    return { status: 200, headers, start: 0, length: object.size }
  }
  // A range of 0 bytes cannot be written, so an empty object or part is a 206 without Content-Range.
  if (range.last >= range.first) headers.push(['content-range', contentRange(range, object.size)])
  return { status: 206, headers, start: range.first, length: range.last - range.first + 1 }
}

/** Bytes of one part, and the number of parts. An object that is not multipart has one part. */
interface PartRange {
  readonly first: number
  readonly last: number
  readonly count: number | undefined
}

/**
 * S3 API reference, GetObject, `partNumber`: parts are counted by their place in the object, whatever numbers the upload
 * gave them.
 * @throws S3Error InvalidArgument, InvalidRequest (with a range), InvalidPartNumber (there is no such part)
 */
function partOf(request: S3Request, { snapshot, object }: FoundObject): PartRange {
  const number = partNumberParameter(request.target.query)
  if (request.http.header('range') !== undefined) {
    throw new S3Error('InvalidRequest', { message: 'Cannot specify both Range header and partNumber query parameter' })
  }
  const location = object.payload === undefined ? undefined : snapshot.payload(object.payload)
  const parts = location?.kind === 'parts' ? location.parts : undefined
  const count = parts?.count ?? 1
  if (number > count) {
    const details = [
      ['ActualPartCount', String(count)],
      ['PartNumberRequested', String(number)],
    ] as const
    throw new S3Error('InvalidPartNumber', { details })
  }
  if (parts === undefined) return { first: 0, last: object.size - 1, count: undefined }
  const first = bytesBefore(parts, number - 1)
  return { first, last: first + parts.size(number - 1) - 1, count: parts.count }
}

function bytesBefore(parts: PartList, end: number): number {
  let bytes = 0
  for (let index = 0; index < end; index += 1) bytes += parts.size(index)
  return bytes
}

/** Headers of the 200 that a 304 must repeat (RFC 9110 section 15.4.5). */
const CACHE_HEADERS: ReadonlySet<string> = new Set(['cache-control', 'expires'])

function addCacheHeaders(headers: HeaderLine[], object: ObjectState, overrides: readonly HeaderLine[]): void {
  const lines: HeaderLine[] = []
  addStoredHeaders(lines, object, overrides)
  headers.push(...lines.filter(([name]) => CACHE_HEADERS.has(name)))
}

/**
 * Adds content headers, replaced by overrides, and user metadata. Writes refuse invalid header lines; if the journal
 * holds one anyway, it is left out so that the object stays readable (S22).
 */
function addStoredHeaders(headers: HeaderLine[], object: ObjectState, overrides: readonly HeaderLine[]): void {
  let hasType = false
  const overridden = (name: string) => overrides.some(([other]) => other === name)
  for (let index = 0; index < object.headers.length; index += 2) {
    const name = object.headers[index] as string
    const value = object.headers[index + 1] as string
    if (overridden(name) || !isHeaderLine(name, value)) continue
    hasType ||= name === 'content-type'
    headers.push([name, value])
  }
  headers.push(...overrides)
  if (!hasType && !overridden('content-type')) headers.push(['content-type', DEFAULT_TYPE])
  for (let index = 0; index < object.metadata.length; index += 2) {
    const name = object.metadata[index] as string
    const value = object.metadata[index + 1] as string
    if (isHeaderLine(name, value)) headers.push([`${METADATA_PREFIX}${name}`, value])
  }
}
