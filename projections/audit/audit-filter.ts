import { AUDIT_RESULT, type AuditResult } from '../../engine/events/audit.ts'
import { decodeAuditPart } from '../../engine/events/entry-codec.ts'
import { isObjectMeant, type ObjectConditions, objectsOfRecord } from '../../engine/events/record-objects.ts'
import { hasClaimOf } from '../../engine/records/claimed-credentials.ts'
import { skipValue } from '../../engine/events/skip-message-pack.ts'

/**
 * Which records a query wants. Every condition that is set must hold; texts are compared exactly. Bucket, key and
 * prefix must match one and the same object of the record, on either plane.
 */
export interface AuditFilter extends ObjectConditions {
  readonly principal?: string | undefined
  readonly operation?: string | undefined
  /** Prefix of the resource. */
  readonly resourcePrefix?: string | undefined
  readonly result?: AuditResult | undefined
  readonly sourceAddress?: string | undefined
  readonly requestId?: string | undefined
  /** Id of the credential of the record, or of the credential that a refused request claimed. */
  readonly credentialId?: string | undefined
}

/** Whether the value at an offset of the body of an entry matches. */
type ValueTest = (body: Buffer, at: number) => boolean

/** Places of the values in the body of an entry (spec/formats/journal.md). */
const VALUE = { result: 0, principal: 1, sourceAddress: 3, requestId: 4, operation: 5, resource: 6 } as const

const ENTRY_FIRST_BYTES: readonly (number | undefined)[] = [0x99, 0x9a]

/**
 * Compiles a filter into a test of the body of an entry. Most records that a query scans do not match, so the test
 * compares the stored bytes, and only matching records are decoded. A body in which a condition cannot be judged passes: what
 * cannot be read may be about anything, and is shown as unreadable.
 */
export function compileFilter(filter: AuditFilter): (body: Buffer) => boolean {
  const tests: (ValueTest | undefined)[] = []
  const { principal, operation, resourcePrefix, result, sourceAddress, requestId } = filter
  if (result !== undefined) tests[VALUE.result] = (body, at) => body[at] === AUDIT_RESULT[result]
  if (principal !== undefined) tests[VALUE.principal] = textTest(principal, false)
  if (sourceAddress !== undefined) tests[VALUE.sourceAddress] = textTest(sourceAddress, false)
  if (requestId !== undefined) tests[VALUE.requestId] = textTest(requestId, false)
  if (operation !== undefined) tests[VALUE.operation] = textTest(operation, false)
  if (resourcePrefix !== undefined) tests[VALUE.resource] = textTest(resourcePrefix, true)
  const isAboutObject = objectTest(filter)
  const isOfCredential = credentialTest(filter.credentialId)
  return (body) => {
    if (!ENTRY_FIRST_BYTES.includes(body[0])) return true
    try {
      let at = 1
      for (const test of tests) {
        if (test !== undefined && !test(body, at)) return false
        at = skipValue(body, at)
      }
      if (isOfCredential?.(body) === false) return false
      return isAboutObject?.(body) ?? true
    } catch {
      return true
    }
  }
}

/** Undefined where every credential is meant. */
function credentialTest(wanted: string | undefined): ((body: Buffer) => boolean) | undefined {
  if (wanted === undefined) return undefined
  const bytes = Buffer.from(wanted)
  return (body) => {
    if (!body.includes(bytes)) return false
    const { credentialId, metadata } = decodeAuditPart(body)
    return credentialId === wanted || hasClaimOf(metadata, wanted)
  }
}

/** Undefined where every object is meant. Only a body that has the wanted bytes somewhere is decoded. */
function objectTest(conditions: ObjectConditions): ((body: Buffer) => boolean) | undefined {
  const { bucket, key, keyPrefix } = conditions
  const parts = [key, keyPrefix, bucket].flatMap((text) => (text === undefined ? [] : [Buffer.from(text)]))
  if (parts.length === 0) return undefined
  return (body) => {
    if (!parts.every((part) => body.includes(part))) return false
    const { resource, metadata } = decodeAuditPart(body)
    return objectsOfRecord(resource, metadata).some((object) => isObjectMeant(object, conditions))
  }
}

function textTest(wanted: string, isPrefix: boolean): ValueTest {
  const bytes = Buffer.from(wanted)
  return (body, at) => {
    const start = textStart(body, at)
    if (start === undefined) return false
    const length = skipValue(body, at) - start
    const fits = isPrefix ? length >= bytes.length : length === bytes.length
    return fits && body.compare(bytes, 0, bytes.length, start, start + bytes.length) === 0
  }
}

/** Where the bytes of a text begin; undefined for another value. Format: the MessagePack specification. */
function textStart(body: Buffer, at: number): number | undefined {
  const first = body[at] as number
  if (first >= 0xa0 && first <= 0xbf) return at + 1
  if (first === 0xd9) return at + 2
  if (first === 0xda) return at + 3
  return first === 0xdb ? at + 5 : undefined
}
