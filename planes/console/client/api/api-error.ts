/** A request that was refused or not answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /**
   * Code of the table of errors; `UNREACHABLE` without an answer, `BAD_ANSWER` for an answer not sent by the server.
   */
  readonly code: string
  /** 0 without an answer. */
  readonly status: number
  /** Id of the request in the server's log and journal; undefined without an answer. */
  readonly requestId: string | undefined

  constructor(code: string, message: string, status: number, requestId?: string) {
    super(message)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

export function unreachable(): ApiError {
  return new ApiError('UNREACHABLE', 'The server cannot be reached. It may be restarting: try again.', 0)
}

/** Whether the cause is an unreachable server or an invalid credential, so that a retry can succeed. */
export function comesBack(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'UNREACHABLE' || error.code === 'UNAUTHENTICATED')
}

/** Whether the error says nothing about the requested data, so that earlier data is still worth showing. */
export function saysNothing(error: unknown): boolean {
  return comesBack(error) || (error instanceof ApiError && error.status >= 500)
}

interface Envelope {
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly request_id?: unknown }
}

/** The error of an answer without success. A proxy may have sent it, so no member is taken for granted. */
export function errorOf(status: number, text: string, requestId: string | null): ApiError {
  const { code, message } = envelopeOf(text).error ?? {}
  const id = requestId ?? undefined
  if (typeof code === 'string' && typeof message === 'string') return new ApiError(code, message, status, id)
  return new ApiError('BAD_ANSWER', `The answer ${status} does not come from the store.`, status, id)
}

function envelopeOf(text: string): Envelope {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    return {}
  }
}

/** Any exception as an error that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError('CONSOLE_FAILED', error instanceof Error ? error.message : String(error), 0)
}
