import type { HttpHandler, HttpRequest, HttpResponse } from '../http/exchange.ts'
import { requestIdOf } from '../exchange/request-id.ts'
import { ManagementError } from './errors.ts'
import { errorResponse, jsonResponse, withoutBody, withRequestId } from './responses.ts'

/** What a start that replays the journal can say of itself. */
export interface StartProgress {
  /** Such as `the start reads the journal: 1000000 of 4000000 records, about 7 s left`. */
  readonly sentence: string
  readonly retryAfterSeconds: number
}

/** The management listener, and the console, while the server starts: the probes answer, and everything else is to be asked again. */
export function startingHandler(progress: () => StartProgress): HttpHandler {
  return (http) => {
    const requestId = requestIdOf(http)
    const response = withRequestId(answer(http, progress(), requestId), requestId)
    return http.method === 'HEAD' ? withoutBody(response) : response
  }
}

function answer(
  { path }: HttpRequest,
  { sentence, retryAfterSeconds }: StartProgress,
  requestId: string,
): HttpResponse {
  const retry = [['retry-after', String(retryAfterSeconds)]] as const
  if (path === '/health') return jsonResponse(200, { status: 'ok' })
  if (path === '/ready') {
    const failing = [{ name: 'server', reason: sentence }]
    const response = jsonResponse(503, { status: 'not_ready', failing })
    return { ...response, headers: [...response.headers, ...retry] }
  }
  return errorResponse(new ManagementError('SLOW_DOWN', `${sentence}. Try again.`, retry), requestId)
}
