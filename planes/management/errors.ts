import { DOMAIN_ERRORS, type DomainErrorCode } from '../../engine/domain/error-table.ts'
import type { DomainError } from '../../engine/errors.ts'
import type { HeaderLine } from '../http/exchange.ts'

/**
 * Every error of the management listener, one row each. The codes are part of the interface: a code is never reused
 * with another meaning. spec/planes/management.spec.ts checks each row against the listener's answers.
 */
export const managementErrors = {
  NOT_FOUND: { status: 404, sentence: 'Nothing exists at this path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    sentence: 'This path does not support this method; the Allow header lists those it does.',
  },
  METRICS_CLOSED: {
    status: 403,
    sentence: 'The metrics are disabled because no scrape token is configured (OBJECT_STORE_METRICS_SCRAPE_TOKEN).',
  },
  UNAUTHENTICATED: { status: 401, sentence: 'The credential is missing or not valid.' },
  FORBIDDEN: { status: 403, sentence: 'The role of this credential may not use this route.' },
  INVALID_REQUEST: { status: 400, sentence: 'The request is not valid.' },
  INVALID_AUDIT_CURSOR: { status: 400, sentence: 'after_time and after_id must be sent together.' },
  INVALID_EVENT_CURSOR: { status: 400, sentence: 'after_time and after_id must be sent together.' },
  BODY_TOO_LARGE: { status: 413, sentence: 'The body is larger than this route accepts.' },
  LENGTH_REQUIRED: {
    status: 411,
    sentence:
      'A Content-Length header is required: chunked bodies are not accepted. `object-store object put` can read from a pipe.',
  },
  BUCKET_NOT_FOUND: { status: 404, sentence: 'The bucket does not exist.' },
  BUCKET_EXISTS: { status: 409, sentence: 'The bucket already exists.' },
  BUCKET_NOT_EMPTY: { status: 409, sentence: 'The bucket still holds objects or versions.' },
  BUCKET_STATE: { status: 409, sentence: 'The state of the bucket does not allow this.' },
  OBJECT_NOT_FOUND: { status: 404, sentence: 'The object does not exist.' },
  VERSION_NOT_FOUND: { status: 404, sentence: 'The version does not exist.' },
  VERSION_IS_MARKER: { status: 409, sentence: 'The version is a delete marker.' },
  VERSION_LOCKED: { status: 403, sentence: 'A retention or a legal hold protects the version.' },
  CLOCK_BEHIND: { status: 503, sentence: 'The clock is behind its recorded high-water mark.' },
  CLOCK_NOT_BEHIND: { status: 409, sentence: 'The clock of the host is not behind the journal.' },
  CLOCK_HELD: {
    status: 409,
    sentence: 'Something has ended since, which would hold or open again if the clock were set back.',
  },
  NOT_PREVIEWABLE: { status: 415, sentence: 'The object is neither an image nor text, or is too large to preview.' },
  OBJECT_TOO_LARGE: { status: 413, sentence: 'The object is too large for one request.' },
  OBJECT_DAMAGED: {
    status: 409,
    sentence: 'The stored bytes of the object are damaged. The operator can put them back from a backup.',
  },
  STATE_DAMAGED: {
    status: 503,
    sentence: 'A row of the projections is damaged. A start of the server derives them again from the journal.',
  },
  QUOTA_EXCEEDED: { status: 403, sentence: 'The quota of the bucket would be exceeded.' },
  VERIFICATION_RUNNING: { status: 409, sentence: 'A verification of this bucket is already running.' },
  CONFLICT: { status: 409, sentence: 'The resource changed during the request. Try again.' },
  ACCOUNT_NAME_TAKEN: {
    status: 409,
    sentence: 'Another service account has this name; case does not tell names apart.',
  },
  ACCESS_KEY_TAKEN: { status: 409, sentence: 'Another credential has this access key.' },
  ACCOUNT_NOT_FOUND: { status: 404, sentence: 'The service account does not exist.' },
  CREDENTIAL_NOT_FOUND: { status: 404, sentence: 'The service account has no such credential.' },
  TOO_MANY_CREDENTIALS: { status: 409, sentence: 'The service account has the maximum number of credentials.' },
  POLICY_NOT_FOUND: { status: 404, sentence: 'The policy does not exist.' },
  TOO_MANY_POLICIES: { status: 409, sentence: 'The service account has the maximum number of policies.' },
  POLICY_NOT_ATTACHED: { status: 404, sentence: 'The policy is not attached to the service account.' },
  TOKEN_NOT_FOUND: { status: 404, sentence: 'The management token does not exist.' },
  LIFECYCLE_RULE_NOT_FOUND: { status: 404, sentence: 'The lifecycle rule does not exist.' },
  TOO_MANY_LIFECYCLE_RULES: { status: 409, sentence: 'The bucket has the maximum number of lifecycle rules.' },
  WEBHOOK_NOT_FOUND: { status: 404, sentence: 'The webhook does not exist.' },
  TOO_MANY_WEBHOOKS: { status: 409, sentence: 'There are already 100 webhooks, the maximum.' },
  WEBHOOK_DISABLED: { status: 409, sentence: 'The webhook is disabled.' },
  WEBHOOK_REPLAYING: { status: 409, sentence: 'A replay of this webhook is still running.' },
  SHARING_DISABLED: { status: 409, sentence: 'Shares and embeds are turned off on this server (sharing.enabled).' },
  SHARE_NOT_FOUND: { status: 404, sentence: 'The share does not exist.' },
  TOO_MANY_SHARES: {
    status: 409,
    sentence: 'The limit of 1000 shares per object, or 100000 per store, is reached. Delete some.',
  },
  EMBED_NOT_FOUND: { status: 404, sentence: 'The embed does not exist.' },
  EMBED_REVOKED: { status: 409, sentence: 'The embed is revoked, permanently.' },
  TOO_MANY_EMBEDS: {
    status: 409,
    sentence: 'The limit of 1000 embeds per object, or 100000 per store, is reached. Delete some.',
  },
  CHECKPOINT_NOT_FOUND: {
    status: 404,
    sentence: 'The checkpoint does not exist, or does not cover the requested records.',
  },
  RECEIPT_REFUSED: { status: 422, sentence: 'The receipt does not say what it should of this checkpoint.' },
  CHECKPOINT_KEY_KEPT: {
    status: 409,
    sentence: 'The key of the checkpoints is not rotated now. The message says why.',
  },
  TOO_MANY_RECEIPTS: { status: 409, sentence: 'The checkpoint has 64 receipts, the maximum.' },
  LOG_NOT_WITNESSED: {
    status: 404,
    sentence: 'This store does not witness a log with this origin (checkpoints.witness_for).',
  },
  LOG_SIGNATURE_INVALID: {
    status: 403,
    sentence: 'The checkpoint has no signature of a known key of its log, or a false one.',
  },
  CONSISTENCY_REFUSED: {
    status: 422,
    sentence: 'The checkpoint is not shown to extend the one that was seen last.',
  },
  TREES_NOT_READY: {
    status: 503,
    sentence: 'The trees over the journal are being rebuilt (checkpoints.interval_seconds). Try again.',
  },
  TREES_DAMAGED: {
    status: 503,
    sentence:
      'The trees over the journal are not those that were signed. They are being derived again from the journal: try again. If it stays so, run `journal verify`; with `checkpoints.interval_seconds=0`, `projections rebuild` derives them.',
  },
  DIGEST_PENDING: { status: 409, sentence: 'The digest of this multipart object is still being computed. Try again.' },
  STORAGE_FULL: {
    status: 507,
    sentence: 'The disk of the server is full. Reads still work, and deletes as long as the journal has room.',
  },
  AUDIT_UNAVAILABLE: { status: 503, sentence: 'The audit record cannot be made durable, so nothing was changed.' },
  OUTCOME_UNKNOWN: {
    status: 500,
    sentence:
      'The disk of the server failed. Whether the change was made is only known after a restart: check before repeating it.',
  },
  SLOW_DOWN: { status: 503, sentence: 'Too many requests at once. Try again.' },
  INTERNAL_ERROR: { status: 500, sentence: 'The server failed; the log has the details under this request id.' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly sentence: string }>>

export type ManagementErrorCode = keyof typeof managementErrors

/** A refusal with a code of the table. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError'
  readonly code: ManagementErrorCode
  readonly headers: readonly HeaderLine[]

  /** @param message replaces the message of the table */
  constructor(code: ManagementErrorCode, message?: string, headers: readonly HeaderLine[] = []) {
    super(message ?? managementErrors[code].sentence)
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return managementErrors[this.code].status
  }
}

interface RefusalRow {
  readonly management: ManagementErrorCode
  readonly sentence: string
}

/** The table of the engine, whose management codes must be in the table above. */
const REFUSALS: Readonly<Record<DomainErrorCode, RefusalRow>> = DOMAIN_ERRORS

/** The management error of a refusal by the engine, with the refusal's message, which is more specific. */
export function managementErrorOf({ code }: DomainError): ManagementError {
  const { management, sentence } = REFUSALS[code]
  return new ManagementError(management, sentence)
}

/** INVALID_REQUEST for one field of a request. */
export function invalid(field: string, reason: string): ManagementError {
  return new ManagementError('INVALID_REQUEST', `${field}: ${reason}`)
}
