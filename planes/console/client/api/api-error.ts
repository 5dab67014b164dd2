/** A request that was refused, or that no answer came to. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** Of the table of errors; `UNREACHABLE` when there was no answer, `BAD_ANSWER` when it was none of the server's. */
  readonly code: string
  /** 0 without an answer. */
  readonly status: number
  /** Under which the server has it in its log and its journal; undefined without an answer. */
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

/** Whether it fails for want of the server or of a valid credential, and not because of what was asked. */
export function comesBack(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'UNREACHABLE' || error.code === 'UNAUTHENTICATED')
}

/** Whether nothing is known of what was asked for; then what was known before is still worth showing. */
export function saysNothing(error: unknown): boolean {
  return comesBack(error) || (error instanceof ApiError && error.status >= 500)
}

interface Envelope {
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly request_id?: unknown }
}

/** The error of an answer that is none of success; a proxy may have made it, so nothing is taken for granted. */
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

/** What a caller shows of anything that was thrown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError('CONSOLE_FAILED', error instanceof Error ? error.message : String(error), 0)
}
