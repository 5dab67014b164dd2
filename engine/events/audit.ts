/**
 * The audit part of a journal entry: who asked for what, from where, and what came of it
 * (specification, Audit event). It never holds a key, token or password.
 */

export const AUDIT_RESULT = { attempted: 0, success: 1, denied: 2, failure: 3 } as const
export type AuditResult = keyof typeof AUDIT_RESULT

/** Names of the results by their code in the journal. */
export const AUDIT_RESULT_NAMES = ['attempted', 'success', 'denied', 'failure'] as const satisfies AuditResult[]

/** Name, value, name, value: order is kept and no name can collide with a property of an object. */
export type Pairs = readonly (string | number)[]

/** What is known of a request when it is authorized; the outcome adds a result. */
export interface AuditContext {
  /** `service_account:<id>`, `system:<component>` or `anonymous`. */
  readonly principal: string
  readonly credentialId: string | undefined
  readonly sourceAddress: string | undefined
  readonly requestId: string | undefined
  /** `s3:<METHOD>` for a request on the data plane. */
  readonly operation: string
  /** `bucket:<name>` or `bucket:<name>/<key>`. */
  readonly resource: string
  readonly metadata: Pairs
}

/** Result of an HTTP status: 2xx success, 401 and 403 denied, all else failure. 304 answers a read and is no 2xx. */
export function auditResultOf(status: number): Exclude<AuditResult, 'attempted'> {
  if (status >= 200 && status < 300) return 'success'
  return status === 401 || status === 403 ? 'denied' : 'failure'
}

const EVENT_ID_DIGITS = 16

/** The event id of the entry at a sequence. */
export function eventId(sequence: number): string {
  return String(sequence).padStart(EVENT_ID_DIGITS, '0')
}
