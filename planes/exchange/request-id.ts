import { randomUUID } from 'node:crypto'
import type { HttpRequest } from '../http/exchange.ts'

/** The header that carries the id of a request in both directions. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** Strict, because the id is echoed in a header and logged as it was sent. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/

/** The id that the client sent, if acceptable; otherwise a new one. */
export function requestIdOf(request: HttpRequest): string {
  const sent = request.header(REQUEST_ID_HEADER)
  return sent !== undefined && ACCEPTABLE.test(sent) ? sent : randomUUID()
}
