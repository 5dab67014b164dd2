import type { HttpHandler } from '../http/exchange.ts'
import { commonHeaders, errorResponse } from './documents/error-response.ts'
import { S3Error } from './errors/s3-errors.ts'
import { RequestIds } from './request/request-ids.ts'

/**
 * The S3 listener while the server starts: every request is to be sent again.
 * @param progress how far the start is, and when to ask again
 */
export function startingS3Handler(
  progress: () => { readonly sentence: string; readonly retryAfterSeconds: number },
): HttpHandler {
  const requestIds = new RequestIds()
  return ({ method, path }) => {
    const requestId = requestIds.next()
    const { sentence, retryAfterSeconds } = progress()
    const error = new S3Error('ServiceUnavailable', {
      message: `${sentence}. Nothing was changed. Try again.`,
      headers: [['retry-after', String(retryAfterSeconds)]],
    })
    const response = errorResponse(error, method, path, requestId)
    return { ...response, headers: [...response.headers, ...commonHeaders(requestId)] }
  }
}
