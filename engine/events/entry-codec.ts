import { Packr } from 'msgpackr/index-no-eval'
import { AUDIT_RESULT, type AuditContext, type AuditPart, auditPart, type AuditResult } from './audit.ts'
import { type Change, decodeChange, encodeChange } from './changes.ts'
import { refuse } from './schema/kinds.ts'
import { skipValue } from './skip-message-pack.ts'

/** Plain MessagePack, without the library's record extension: readers in any language can decode it. */
const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

/** A decoded entry: audit part and changes. */
export interface Entry extends AuditPart {
  readonly changes: readonly Change[]
}

/**
 * The body of an entry: an array of fixed positions (spec/formats/journal.md), so equal entries give equal bytes.
 * Without changes it is an audit record's body, with changes a change record's. The result is valid until the next
 * call; copy it to keep it.
 */
export function encodeEntry(
  context: AuditContext,
  result: AuditResult,
  intent: number | undefined,
  changes: readonly Change[],
): Buffer {
  const stored: unknown[] = [
    AUDIT_RESULT[result],
    context.principal,
    context.credentialId ?? null,
    context.sourceAddress ?? null,
    context.requestId ?? null,
    context.operation,
    context.resource,
    intent ?? null,
    context.metadata,
  ]
  if (changes.length > 0) stored.push(changes.map(encodeChange))
  return packr.pack(stored)
}

/** @throws FormError when the body is not an entry of a version that this program knows */
export function decodeEntry(body: Uint8Array): Entry {
  const stored: unknown = packr.unpack(body)
  if (!Array.isArray(stored)) return refuse('entry', 'array', stored)
  const changes = stored.length > CHANGES_INDEX ? changesOf(stored.splice(CHANGES_INDEX, 1)[0]) : []
  return { ...auditPart.decode(stored, 'entry'), changes }
}

function changesOf(stored: unknown): Change[] {
  return Array.isArray(stored) ? stored.map(decodeChange) : refuse('changes', 'array', stored)
}

const CHANGES_INDEX = 9
/** First byte of an audit record's body: an array of nine values. */
const ARRAY_OF_NINE = 0x99
/** First byte of a change record's body: an array of ten values. */
const ARRAY_OF_TEN = 0x9a

/**
 * The audit part alone, of an audit or a change record; changes are not decoded.
 * @throws FormError when the body is not an entry of a version this program knows
 */
export function decodeAuditPart(body: Uint8Array): AuditPart {
  if (body[0] !== ARRAY_OF_TEN) return auditPart.decode(packr.unpack(body), 'entry')
  let end = 1
  for (let index = 0; index < CHANGES_INDEX; index += 1) end = skipValue(body, end)
  // Without the changes the body is an audit record except for its first byte, which is restored afterwards.
  body[0] = ARRAY_OF_NINE
  try {
    return auditPart.decode(packr.unpack(body.subarray(0, end)), 'entry')
  } finally {
    body[0] = ARRAY_OF_TEN
  }
}

/**
 * The changes of a change record alone; the audit part is skipped.
 * @throws FormError when the body is not a change record of a version this program knows
 */
export function decodeChanges(body: Uint8Array): Change[] {
  if (body[0] !== ARRAY_OF_TEN) return refuse('change record', 'array of 10', body[0])
  let at = 1
  for (let index = 0; index < CHANGES_INDEX; index += 1) at = skipValue(body, at)
  return changesOf(packr.unpack(body.subarray(at)))
}
