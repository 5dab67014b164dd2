/**
 * A record of the journal as a bundle of format version 2 has it: its bytes from the length of the body on, without
 * padding (spec/formats/journal.md, "Record"). Only the fields that a bundle states are read.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'

/** Of the record with its hash field, which is filled with the domain while it is hashed. */
const HASH_BYTES = 32
const DOMAIN = new Uint8Array(HASH_BYTES)
DOMAIN.set(new TextEncoder().encode('object-store/journal-record/v1'))
/** From the length of the body to the hash of the record before. */
const FRAME_BYTES = 56
const KIND_AT = 4
const BODY_VERSION_AT = 6
const SEQUENCE_AT = 8
const TIME_AT = 16
const PREVIOUS_HASH_AT = 24
/** Of the MessagePack alone, and of one after the host's time, which is then the record's timestamp. */
const BODY_VERSIONS = { plain: 1, withTime: 2 } as const
const HOST_TIME_BYTES = 8
/** Changes and audits: records about a request. */
const ENTRY_KINDS: readonly number[] = [3, 4]
const RESULTS = ['attempted', 'success', 'denied', 'failure'] as const

/** The decoded fields of a record. */
interface StoredRecord {
  /** Lower-case hexadecimal. */
  readonly hash: string
  readonly previousHash: string
  readonly sequence: bigint
  /** What people see, in microseconds since 1970. */
  readonly time: bigint
  readonly result: string
  readonly principal: string
  readonly operation: string
}

/** Undefined when the bytes are not one record about a request. */
export function readStoredRecord(bytes: Uint8Array): StoredRecord | undefined {
  if (bytes.length < FRAME_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint16(BODY_VERSION_AT)
  const hasTime = version === BODY_VERSIONS.withTime
  const bodyAt = FRAME_BYTES + (hasTime ? HOST_TIME_BYTES : 0)
  if (!ENTRY_KINDS.includes(view.getUint16(KIND_AT)) || (!hasTime && version !== BODY_VERSIONS.plain)) return undefined
  if (view.getUint32(0) !== bytes.length - FRAME_BYTES || bytes.length < bodyAt) return undefined
  const [result, principal, , , , operation] = firstValues(bytes.subarray(bodyAt), 6) ?? []
  if (typeof result !== 'number' || typeof principal !== 'string' || typeof operation !== 'string') return undefined
  const word = RESULTS[result]
  if (word === undefined) return undefined
  return {
    hash: bytesToHex(sha256(concatBytes(DOMAIN, bytes))),
    previousHash: bytesToHex(bytes.subarray(PREVIOUS_HASH_AT, FRAME_BYTES)),
    sequence: view.getBigUint64(SEQUENCE_AT),
    time: view.getBigInt64(hasTime ? FRAME_BYTES : TIME_AT),
    result: word,
    principal,
    operation,
  }
}

/** A scalar of an entry: a small number, a text, or nil. */
type Value = number | string | null

const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The first values of an array in MessagePack; undefined when they are not there, or are of another kind. */
function firstValues(body: Uint8Array, count: number): Value[] | undefined {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  try {
    const head = view.getUint8(0)
    const length = head === 0xdc ? view.getUint16(1) : head >> 4 === 0x9 ? head & 0x0f : 0
    if (length < count) return undefined
    const values: Value[] = []
    let at = head === 0xdc ? 3 : 1
    while (values.length < count) {
      const [value, next] = valueAt(body, view, at)
      values.push(value)
      at = next
    }
    return values
  } catch (error) {
    // Beyond the end, not UTF-8, or a value of another kind.
    if (error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

/** A value, and the offset after it. @throws RangeError, TypeError */
function valueAt(body: Uint8Array, view: DataView, at: number): readonly [Value, number] {
  const head = view.getUint8(at)
  if (head < 0x80) return [head, at + 1]
  if (head === 0xc0) return [null, at + 1]
  const [length, begin] = textLength(view, head, at)
  const end = begin + length
  if (end > body.length) throw new RangeError('the text ends after the record')
  return [TEXT.decode(body.subarray(begin, end)), end]
}

function textLength(view: DataView, head: number, at: number): readonly [number, number] {
  if (head >> 5 === 0b101) return [head & 0x1f, at + 1]
  if (head === 0xd9) return [view.getUint8(at + 1), at + 2]
  if (head === 0xda) return [view.getUint16(at + 1), at + 3]
  throw new TypeError('neither a small number, nor a text of at most 65,535 bytes, nor nil')
}
