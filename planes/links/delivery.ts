import type { Milliseconds } from '../../engine/brands.ts'
import { isHeaderValue } from '../../engine/domain/names.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import { contentRange, rangeOf, unsatisfiedRange } from '../http/headers/byte-range.ts'
import { failingCondition, meetsIfRange } from '../http/headers/conditions.ts'
import { type HeaderLine, type HttpRequest, type HttpResponse, isSource } from '../http/exchange.ts'
import { httpTimestamp } from '../http/headers/http-date.ts'
import { SharingError } from './errors.ts'
import type { FoundObject } from '../objects/find-object.ts'
import { type PayloadSources, readObject, retryIfRemoved } from '../objects/read-object.ts'

/** How an object is sent to the reader of a link. */
interface DeliveryPlan {
  readonly status: 200 | 206 | 304
  readonly headers: readonly HeaderLine[]
  /** First byte to send. */
  readonly start: number
  readonly length: number
}

/** Without these the bytes would be read as something else. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['content-encoding', 'content-language'])

/**
 * Conditions first, then the range (RFC 9110 section 13.2.2), as the S3 plane reads them.
 * @param shown headers that say how the answer is to be shown
 * @throws SharingError PRECONDITION_FAILED, RANGE_NOT_SATISFIABLE
 */
export function planDelivery(
  http: HttpRequest,
  object: ObjectState,
  now: Milliseconds,
  shown: readonly HeaderLine[],
): DeliveryPlan {
  const { etag, modifiedMicroseconds, size } = object
  const validators = { etag, lastModifiedMicroseconds: modifiedMicroseconds }
  const headers: HeaderLine[] = [
    ['etag', `"${etag}"`],
    ['last-modified', httpTimestamp(modifiedMicroseconds)],
  ]
  const failed = failingCondition((name) => http.header(name), validators, now)
  if (failed === 'If-None-Match' || failed === 'If-Modified-Since') {
    return { status: 304, headers, start: 0, length: 0 }
  }
  if (failed !== undefined) throw new SharingError('PRECONDITION_FAILED')
  const range = meetsIfRange(http.header('if-range'), etag) ? rangeOf(http.header('range'), size) : undefined
  if (range === 'outside') {
    throw new SharingError('RANGE_NOT_SATISFIABLE', undefined, [['content-range', unsatisfiedRange(size)]])
  }
  headers.push(['accept-ranges', 'bytes'], ...shown, ...keptHeaders(object))
  if (range === undefined) return { status: 200, headers, start: 0, length: size }
  headers.push(['content-range', contentRange(range, size)])
  return { status: 206, headers, start: range.first, length: range.last - range.first + 1 }
}

/** The value of a stored header. */
export function storedHeader({ headers }: ObjectState, name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return headers[index + 1]
  return undefined
}

function keptHeaders({ headers }: ObjectState): HeaderLine[] {
  const kept: HeaderLine[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index] as string, headers[index + 1] as string]
    if (KEPT_HEADERS.has(name) && isHeaderValue(value)) kept.push([name, value])
  }
  return kept
}

/** An object to send, as found in this turn. */
interface Delivery {
  readonly target: FoundObject
  readonly plan: DeliveryPlan
  /** Called before the first byte is sent, after the bytes were found readable. Throws to refuse them. */
  readonly count: (() => Promise<unknown>) | undefined
}

/**
 * Sends the object that `begin` finds. Small objects are answered at once, without a promise.
 * @param begin looks up link and object; called again when the object was removed meanwhile
 */
export function sendObject(
  http: HttpRequest,
  sources: PayloadSources,
  begin: () => Delivery,
): HttpResponse | Promise<HttpResponse> {
  const response = sendOnce(http, sources, begin())
  if (!(response instanceof Promise)) return response
  return retryIfRemoved(response, () => sendOnce(http, sources, begin()))
}

function sendOnce(
  http: HttpRequest,
  sources: PayloadSources,
  { target, plan, count }: Delivery,
): HttpResponse | Promise<HttpResponse> {
  const { status, headers, start, length } = plan
  if (status === 304) return { status, headers }
  if (http.method === 'HEAD') return { status, headers, contentLength: length }
  const body = length === 0 ? '' : readObject(sources, target, start, start + length)
  if (body instanceof Promise) return body.then((opened) => counted({ status, headers, body: opened }, count))
  return counted({ status, headers, body }, count)
}

function counted(response: HttpResponse, count: Delivery['count']): HttpResponse | Promise<HttpResponse> {
  if (count === undefined) return response
  return count().then(
    () => response,
    (error: unknown) => {
      if (isSource(response.body)) response.body.close()
      throw error
    },
  )
}
