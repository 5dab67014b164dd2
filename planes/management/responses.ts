import { randomUUID } from 'node:crypto'
import type { HeaderLine, HttpResponse } from '../http/exchange.ts'
import { ManagementError } from './errors.ts'
import { REQUEST_ID_HEADER } from './request-id.ts'

/** Nothing here may be kept by a cache or taken for something else by a browser. */
const commonHeaders: readonly HeaderLine[] = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
]

/** A response with a text body. */
export function textResponse(status: number, contentType: string, body: string): HttpResponse {
  return { status, headers: [['content-type', contentType], ...commonHeaders], body }
}

/** A response with a JSON body. */
export function jsonResponse(status: number, body: unknown): HttpResponse {
  return textResponse(status, 'application/json', JSON.stringify(body))
}

/** The answer to a change that there is nothing to say of. */
export function noContent(): HttpResponse {
  return { status: 204, headers: commonHeaders }
}

/** The error envelope of the specification: `{"error":{"code","message","request_id"}}`. */
export function errorResponse(error: ManagementError, requestId: string): HttpResponse {
  const { code, message, status } = error
  const response = jsonResponse(status, { error: { code, message, request_id: requestId } })
  return { ...response, headers: [...response.headers, ...error.headers] }
}

/** The response with the id of its request. */
export function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: [...response.headers, [REQUEST_ID_HEADER, requestId]] }
}

/**
 * The answer to what is no HTTP request that a route could be found for; it stands in no log and no record.
 * @param status of the refusal, which need not be the one of its code
 */
export function malformedRequestResponse(status: number, reason: string): HttpResponse {
  const requestId = randomUUID()
  const response = errorResponse(new ManagementError('INVALID_REQUEST', reason), requestId)
  return { ...withRequestId(response, requestId), status, close: true }
}

/** The response; calls `done` when what it is read from is closed, at once when it is read from nothing. */
export function whenSent(response: HttpResponse, done: () => void): HttpResponse {
  const { body } = response
  if (typeof body !== 'object' || Buffer.isBuffer(body)) {
    done()
    return response
  }
  const close = (): void => {
    body.close()
    done()
  }
  return { ...response, body: { length: body.length, next: () => body.next(), close } }
}

/** Lets go of what a response would have been read from, when it is not sent. */
export function discardBody({ body }: HttpResponse): void {
  if (typeof body === 'object' && !Buffer.isBuffer(body)) body.close()
}

/** What HEAD gets of the answer to GET (RFC 9110 section 9.3.2): all but the body, with its length if known. */
export function withoutBody(response: HttpResponse): HttpResponse {
  const { body, ...head } = response
  if (body === undefined) return response
  discardBody(response)
  const contentLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  return contentLength === undefined ? head : { ...head, contentLength }
}
