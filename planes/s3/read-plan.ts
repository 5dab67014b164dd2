import type { ObjectState } from '../../engine/state-ports.ts'
import type { HeaderLine } from '../http/exchange.ts'
import { byteRange, contentRange } from './byte-range.ts'
import { checkReadConditions } from './conditions.ts'
import { S3Error } from './errors.ts'
import { METADATA_PREFIX, responseOverrides } from './metadata.ts'
import type { S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { httpTimestamp } from './timestamps.ts'

/** How a read of an object is answered. */
export interface ReadPlan {
  readonly status: 200 | 206 | 304
  readonly headers: HeaderLine[]
  /** First byte to send. */
  readonly start: number
  readonly length: number
}

/** What S3 answers for an object that was stored without a type. */
const DEFAULT_TYPE = 'binary/octet-stream'

/**
 * Conditions first, then the range (RFC 9110 section 13.2.2), then the headers.
 * @throws S3Error PreconditionFailed, InvalidRange, InvalidArgument, NotImplemented
 */
export function planRead(request: S3Request, services: S3Services, object: ObjectState): ReadPlan {
  const { query } = request.target
  if (query.has('partNumber')) {
    throw new S3Error('NotImplemented', { message: 'Reading a single part of an object is not supported.' })
  }
  const etag = `"${object.etag}"`
  const validators = { etag: object.etag, lastModifiedMicroseconds: object.modifiedMicroseconds }
  const modified = httpTimestamp(object.modifiedMicroseconds)
  if (checkReadConditions(request.http, validators, services.clock()) === 'not-modified') {
    const headers: HeaderLine[] = [
      ['etag', etag],
      ['last-modified', modified],
    ]
    return { status: 304, headers, start: 0, length: 0 }
  }
  const range = byteRange(request.http.header('range'), object.size)
  const headers: HeaderLine[] = [
    ['etag', etag],
    ['last-modified', modified],
    ['accept-ranges', 'bytes'],
  ]
  addStoredHeaders(headers, object, query.entries.length === 0 ? [] : responseOverrides(query))
  if (range === undefined) return { status: 200, headers, start: 0, length: object.size }
  headers.push(['content-range', contentRange(range, object.size)])
  return { status: 206, headers, start: range.first, length: range.last - range.first + 1 }
}

/** Content headers (overrides win, each once) and user metadata. */
function addStoredHeaders(headers: HeaderLine[], object: ObjectState, overrides: readonly HeaderLine[]): void {
  let hasType = false
  const overridden = (name: string) => overrides.some(([other]) => other === name)
  for (let index = 0; index < object.headers.length; index += 2) {
    const name = object.headers[index] as string
    if (overridden(name)) continue
    hasType ||= name === 'content-type'
    headers.push([name, object.headers[index + 1] as string])
  }
  headers.push(...overrides)
  if (!hasType && !overridden('content-type')) headers.push(['content-type', DEFAULT_TYPE])
  for (let index = 0; index < object.metadata.length; index += 2) {
    headers.push([`${METADATA_PREFIX}${object.metadata[index]}`, object.metadata[index + 1] as string])
  }
}
