/** The form that the body of an entry must have, whatever its record is about (`spec/formats/journal.md`, "Bodies"). */
import { KIND } from './format-reader.ts'
import { after, arrayAt, integerAt, isNumberAt, isTextAt } from './message-pack.ts'

/** The values of one body that are judged. */
export interface EntryParts {
  readonly result: number
  /** Start and end of the principal. */
  readonly principal: readonly [number, number]
  readonly fingerprint: number
  readonly intent: number | undefined
  /** Where the changes are; the end of the body without any. */
  readonly changes: number
}

const ARRAY_OF_NINE = 0x99
const ARRAY_OF_TEN = 0x9a
const NIL = 0xc0
const RESULT_MAXIMUM = 3

/**
 * The parts of an entry; undefined when the body between two offsets is not one. A body that has this form is shown by every
 * reader, so nothing that they need is left unchecked. The changes of a change are for the caller.
 * @param kind of the record: an audit record has nine values, a change ten
 */
export function readEntry(bytes: Buffer, from: number, end: number, kind: number): EntryParts | undefined {
  if (from >= end || bytes[from] !== (kind === KIND.change ? ARRAY_OF_TEN : ARRAY_OF_NINE)) return undefined
  const result = integerAt(bytes, from + 1, end)
  if (result === undefined || result < 0 || result > RESULT_MAXIMUM) return undefined
  const principal = after(bytes, from + 1, end)
  const credential = afterText(bytes, principal, end, false)
  const address = afterText(bytes, credential, end, true)
  const request = afterText(bytes, address, end, true)
  const operation = afterText(bytes, request, end, true)
  const resource = afterText(bytes, operation, end, false)
  const intentAt = afterText(bytes, resource, end, false)
  const metadata = intentAt < 0 ? -1 : after(bytes, intentAt, end)
  const changes = metadata < 0 ? -1 : afterPairs(bytes, metadata, end)
  if (changes < 0 || (kind !== KIND.change && changes !== end)) return undefined
  const intent = integerAt(bytes, intentAt, end)
  if (intent === undefined ? bytes[intentAt] !== NIL : intent < 0) return undefined
  const fingerprint = fingerprintOf(bytes, principal, intentAt)
  return { result, principal: [principal, credential], fingerprint, intent, changes }
}

/** Offset after the text at `at`, or after a nil where there may be one; -1 for anything else. */
function afterText(bytes: Buffer, at: number, end: number, mayBeNil: boolean): number {
  if (at < 0 || !(isTextAt(bytes, at, end) || (mayBeNil && at < end && bytes[at] === NIL))) return -1
  return after(bytes, at, end)
}

/** The same of an array of an even count of texts and numbers. */
function afterPairs(bytes: Buffer, at: number, end: number): number {
  const pairs = arrayAt(bytes, at, end)
  if (pairs === undefined || pairs.count % 2 !== 0) return -1
  let next = pairs.at
  for (let index = 0; index < pairs.count; index += 1) {
    if (next < 0 || !(isTextAt(bytes, next, end) || isNumberAt(bytes, next, end))) return -1
    next = after(bytes, next, end)
  }
  return next
}

/** FNV-1a of 32 bits: it tells requests apart, and proves nothing. */
function fingerprintOf(bytes: Buffer, from: number, to: number): number {
  let value = 0x811c9dc5
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ (bytes[at] as number), 0x01000193)
  return value >>> 0
}
