import { DOMAIN_ERRORS, type DomainErrorCode } from '../../engine/domain/error-table.ts'
import { DomainError } from '../../engine/errors.ts'
import type { HeaderLine } from '../http/exchange.ts'

/**
 * Every error of the public routes, one row each. The codes are part of the interface: a code is never reused with
 * another meaning. `refuses`: the error denies access to the target of a link, which is recorded.
 */
export const sharingErrors = {
  NOT_FOUND: { status: 404, refuses: false, sentence: 'Nothing exists at this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    refuses: false,
    sentence: 'This path does not support this method; the Allow header lists those it does.',
  },
  INVALID_REQUEST: { status: 400, refuses: false, sentence: 'The request is not valid.' },
  UNSUPPORTED_TYPE: {
    status: 415,
    refuses: false,
    sentence: 'Send the password as JSON or as a form: application/json or application/x-www-form-urlencoded.',
  },
  BODY_TOO_LARGE: { status: 413, refuses: false, sentence: 'The body is larger than a password can be.' },
  PRECONDITION_FAILED: { status: 412, refuses: false, sentence: 'A condition of the request was not met.' },
  RANGE_NOT_SATISFIABLE: { status: 416, refuses: false, sentence: 'The file has no such range.' },
  SHARE_NOT_FOUND: { status: 404, refuses: true, sentence: 'This link does not exist, or it was deleted.' },
  SHARE_TARGET_NOT_FOUND: { status: 404, refuses: true, sentence: 'The file behind this link no longer exists.' },
  SHARE_REVOKED: { status: 410, refuses: true, sentence: 'This link was revoked.' },
  SHARE_EXPIRED: { status: 410, refuses: true, sentence: 'This link has expired.' },
  SHARE_EXHAUSTED: { status: 410, refuses: true, sentence: 'This link has no downloads left.' },
  SHARE_PASSWORD_REQUIRED: { status: 401, refuses: true, sentence: 'This link needs a password.' },
  SHARE_PASSWORD_WRONG: { status: 403, refuses: true, sentence: 'The password is wrong.' },
  SHARE_PASSWORD_THROTTLED: { status: 429, refuses: true, sentence: 'Too many passwords were tried. Try again later.' },
  EMBED_NOT_FOUND: { status: 404, refuses: true, sentence: 'This link does not exist, or it was deleted.' },
  EMBED_TARGET_NOT_FOUND: { status: 404, refuses: true, sentence: 'The file behind this link no longer exists.' },
  EMBED_REVOKED: { status: 410, refuses: true, sentence: 'This link was revoked.' },
  EMBED_EXPIRED: { status: 410, refuses: true, sentence: 'This link has expired.' },
  EMBED_ORIGIN_DENIED: {
    status: 403,
    refuses: true,
    sentence: 'Pages of this origin are not allowed to show this file.',
  },
  OBJECT_DAMAGED: {
    status: 409,
    refuses: false,
    sentence: 'The file is damaged on the server. Tell the person who sent you the link.',
  },
  CONFLICT: { status: 409, refuses: false, sentence: 'The file changed during the request. Try again.' },
  SLOW_DOWN: { status: 503, refuses: false, sentence: 'Too many requests at once. Try again.' },
  UNAVAILABLE: { status: 503, refuses: false, sentence: 'The server cannot answer now. Try again.' },
  INTERNAL_ERROR: {
    status: 500,
    refuses: false,
    sentence: 'The server failed; its log has the details under this request id.',
  },
} as const satisfies Readonly<
  Record<string, { readonly status: number; readonly refuses: boolean; readonly sentence: string }>
>

export type SharingErrorCode = keyof typeof sharingErrors

/** A refusal with a code of `sharingErrors`. */
export class SharingError extends Error {
  override readonly name = 'SharingError'
  readonly code: SharingErrorCode
  readonly headers: readonly HeaderLine[]

  /** @param message replaces the message of the table */
  constructor(code: SharingErrorCode, message?: string, headers: readonly HeaderLine[] = []) {
    super(message ?? sharingErrors[code].sentence)
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return sharingErrors[this.code].status
  }
}

/** The table of the engine, whose public codes must be in the table above. */
const REFUSALS: Readonly<Record<DomainErrorCode, { readonly public?: SharingErrorCode; readonly sentence: string }>> =
  DOMAIN_ERRORS

/** The public error of a refusal by the engine; any other error as it is. */
export function publicErrorOf(error: unknown): unknown {
  const code = error instanceof DomainError ? REFUSALS[error.code].public : undefined
  return code === undefined ? error : new SharingError(code)
}
