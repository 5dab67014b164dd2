/**
 * The audit part of a journal entry: who asked for what, from where, and with what result
 * (specification, Audit event). It never holds a key, token or password.
 */

import type { Sequence } from '../brands.ts'
import { type Kind, optional, refuse, sequence as sequenceKind, text, type ValueOf, wordOf } from './schema/kinds.ts'
import { field, record } from './schema/record.ts'

export const AUDIT_RESULT = { attempted: 0, success: 1, denied: 2, failure: 3 } as const
export type AuditResult = keyof typeof AUDIT_RESULT

/** Names of the results by their code in the journal. */
export const AUDIT_RESULT_NAMES = ['attempted', 'success', 'denied', 'failure'] as const satisfies AuditResult[]

/** Name, value, name, value: order is kept and no name can collide with a property of an object. */
export type Pairs = readonly (string | number)[]

const metadata: Kind<Pairs> = {
  page: 'pairs of text with text or integer',
  encode: (value) => value,
  decode: (stored, where) => {
    if (!Array.isArray(stored) || stored.length % 2 !== 0) return refuse(where, 'pairs', stored)
    for (const one of stored)
      if (typeof one !== 'string' && typeof one !== 'number') refuse(where, 'text or integer', one)
    return stored
  },
}

/** Fields 0 to 8 of an entry. */
export const auditPart = record('entry', {
  result: field(wordOf(AUDIT_RESULT_NAMES), 'result'),
  principal: field(text, 'principal', '`service_account:` with an id, `system:` with a component, or `anonymous`'),
  credentialId: field(optional(text), 'credential id'),
  sourceAddress: field(optional(text), 'source address'),
  requestId: field(optional(text), 'request id'),
  operation: field(text, 'operation', '`s3:` with the method for a request on the data plane'),
  resource: field(text, 'resource', '`bucket:` with the name, then `/` and the key where there is one'),
  intent: field(optional(sequenceKind), 'attempt', 'the sequence of the `attempted` entry that this is the outcome of'),
  metadata: field(metadata, 'metadata'),
})
export type AuditPart = ValueOf<typeof auditPart>

/** Names the root credential in records, which never contain its access key. */
export const ROOT_CREDENTIAL_ID = 'root'

/** The facts about a request when it is authorized; the outcome adds a result. */
export type AuditContext = Omit<AuditPart, 'result' | 'intent'>

/**
 * Whether a request came without valid credentials. The store itself has none either, and is not a stranger.
 */
export function isOfStranger({ credentialId, principal }: AuditContext): boolean {
  return credentialId === undefined && !principal.startsWith('system:')
}

/** Result of an HTTP status: 2xx success, 401 and 403 denied, all else failure. 304 answers a read and is not 2xx. */
export function auditResultOf(status: number): Exclude<AuditResult, 'attempted'> {
  if (status >= 200 && status < 300) return 'success'
  return status === 401 || status === 403 ? 'denied' : 'failure'
}

const EVENT_ID_DIGITS = 16

/** The event id of the entry at a sequence. */
export function eventId(sequence: Sequence): string {
  return String(sequence).padStart(EVENT_ID_DIGITS, '0')
}
