import { Packr } from 'msgpackr'
import { AUDIT_RESULT, AUDIT_RESULT_NAMES, type AuditContext, type AuditResult } from './audit.ts'
import { decodeChange, encodeChange, type StoredChange } from './change-codec.ts'
import type { Change } from './changes.ts'
import { skipValue } from './skip-message-pack.ts'

/** Plain MessagePack, without the library's record extension: any reader in any language can take it apart. */
const packr = new Packr({ useRecords: false, copyBuffers: true, int64AsType: 'number' })

type StoredEntry = [
  result: number,
  principal: string,
  credentialId: string | null,
  sourceAddress: string | null,
  requestId: string | null,
  operation: string,
  resource: string,
  intent: number | null,
  metadata: readonly (string | number)[],
  changes?: readonly StoredChange[],
]

/** A decoded entry: audit part and changes. */
export interface Entry extends AuditContext {
  readonly result: AuditResult
  /** Sequence of the attempt that this is the outcome of. */
  readonly intent: number | undefined
  readonly changes: readonly Change[]
}

/**
 * The body of an entry: an array of fixed positions (spec/formats/journal.md), so equal entries give equal bytes.
 * Without changes it is the body of an audit record, with them that of a change record.
 * The result is valid until the next call; copy it to keep it.
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

/**
 * @throws Error when the body is not an entry of a version this program knows
 */
export function decodeEntry(body: Uint8Array): Entry {
  const stored = packr.unpack(body) as StoredEntry
  return { ...auditPartOf(stored), changes: (stored[9] ?? []).map(decodeChange) }
}

function auditPartOf(stored: StoredEntry): AuditPart {
  if (!Array.isArray(stored) || stored.length < CHANGES_INDEX) throw new Error('not an entry')
  const result = AUDIT_RESULT_NAMES[stored[0]]
  if (result === undefined) throw new Error(`unknown result ${stored[0]}`)
  return {
    result,
    principal: stored[1],
    credentialId: stored[2] ?? undefined,
    sourceAddress: stored[3] ?? undefined,
    requestId: stored[4] ?? undefined,
    operation: stored[5],
    resource: stored[6],
    intent: stored[7] ?? undefined,
    metadata: stored[8],
  }
}

const CHANGES_INDEX = 9
/** An array of nine values, as the body of an audit record begins. */
const ARRAY_OF_NINE = 0x99
/** An array of ten values, as the body of a change record begins. */
const ARRAY_OF_TEN = 0x9a

/** The audit part of an entry. */
export type AuditPart = Omit<Entry, 'changes'>

/**
 * The audit part alone, of an audit or a change record; changes are not looked at.
 * @throws Error when the body is not an entry of a version this program knows
 */
export function decodeAuditPart(body: Uint8Array): AuditPart {
  if (body[0] !== ARRAY_OF_TEN) return auditPartOf(packr.unpack(body) as StoredEntry)
  let end = 1
  for (let index = 0; index < CHANGES_INDEX; index += 1) end = skipValue(body, end)
  // The part without the changes is an audit record but for its first byte, which is put back.
  body[0] = ARRAY_OF_NINE
  try {
    return auditPartOf(packr.unpack(body.subarray(0, end)) as StoredEntry)
  } finally {
    body[0] = ARRAY_OF_TEN
  }
}

/**
 * The changes of a change record alone; the audit part is stepped over.
 * @throws Error when the body is not a change record of a version this program knows
 */
export function decodeChanges(body: Uint8Array): Change[] {
  if (body[0] !== ARRAY_OF_TEN) throw new Error('not a change record')
  let at = 1
  for (let index = 0; index < CHANGES_INDEX; index += 1) at = skipValue(body, at)
  return (packr.unpack(body.subarray(at)) as StoredChange[]).map(decodeChange)
}
