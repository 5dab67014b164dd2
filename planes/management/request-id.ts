import { randomUUID } from 'node:crypto'
import type { HttpRequest } from '../http/exchange.ts'

/** The header that carries the id of a request in both directions. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** Narrow, because the id is echoed in a header and written to logs as it came. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/

/** The id the client sent, if it is an acceptable one; otherwise a new one. */
export function requestIdOf(request: HttpRequest): string {
  const sent = request.header(REQUEST_ID_HEADER)
  return sent !== undefined && ACCEPTABLE.test(sent) ? sent : randomUUID()
}
