import { randomUUID } from 'node:crypto'
import { cutText } from '../exchange/cut-text.ts'
import { discardBody } from '../exchange/exchange.ts'
import type { HeaderLine, HttpResponse } from '../http/exchange.ts'
import { ManagementError } from './errors.ts'
import { REQUEST_ID_HEADER } from '../exchange/request-id.ts'

/** Forbid caches to keep an answer, and browsers to guess another type. */
const commonHeaders: readonly HeaderLine[] = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
]

/** The headers of a streamed JSON answer. */
export const JSON_HEADERS: readonly HeaderLine[] = [['content-type', 'application/json'], ...commonHeaders]

export function textResponse(status: number, contentType: string, body: string): HttpResponse {
  return { status, headers: [['content-type', contentType], ...commonHeaders], body }
}

export function jsonResponse(status: number, body: unknown): HttpResponse {
  return textResponse(status, 'application/json', JSON.stringify(body))
}

export function bytesResponse(status: number, contentType: string, body: Buffer): HttpResponse {
  return { status, headers: [['content-type', contentType], ...commonHeaders], body }
}

export function noContent(): HttpResponse {
  return { status: 204, headers: commonHeaders }
}

/** Of a message in the answer, which may repeat what the client sent. */
const MESSAGE_BYTES_MAXIMUM = 2048

/** The error envelope of the specification: `{"error":{"code","message","request_id"}}`. The message is cut. */
export function errorResponse(error: ManagementError, requestId: string): HttpResponse {
  const { code, status } = error
  const message = cutText(error.message, MESSAGE_BYTES_MAXIMUM, escapeJson)
  const response = jsonResponse(status, { error: { code, message, request_id: requestId } })
  return { ...response, headers: [...response.headers, ...error.headers] }
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function withRequestId(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: [...response.headers, [REQUEST_ID_HEADER, requestId]] }
}

/**
 * The answer to a malformed HTTP request, which has no route; with 500 the answer when the handler fails. It is neither
 * logged nor recorded.
 * @param status of the refusal; may differ from the status of its code
 */
export function malformedRequestResponse(status: number, reason: string): HttpResponse {
  const requestId = randomUUID()
  const error = status === 500 ? new ManagementError('INTERNAL_ERROR') : new ManagementError('INVALID_REQUEST', reason)
  const response = errorResponse(error, requestId)
  return { ...withRequestId(response, requestId), status, close: true }
}

/** Turns the answer to GET into the answer to HEAD: no body, but its length if known (RFC 9110 section 9.3.2). */
export function withoutBody(response: HttpResponse): HttpResponse {
  const { body, ...head } = response
  if (body === undefined) return response
  discardBody(response)
  const contentLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  return contentLength === undefined ? head : { ...head, contentLength }
}
