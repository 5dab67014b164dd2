import { type Microseconds, microsecondsOf } from '../brands.ts'

/** A record of a request by a credential or token: the first one in its minute. */
export interface CredentialUse {
  /** As the record has it; `root` and `system` as well. */
  readonly credentialId: string
  /** The host's time of the record. */
  readonly timeMicroseconds: Microseconds
}

const MINUTE_MICROSECONDS = 60_000_000
/** First bytes of the body of an entry: arrays of nine and of ten values. */
const ARRAY_OF_NINE = 0x99
const ARRAY_OF_TEN = 0x9a
/** First bytes of a text in MessagePack: of up to 31 bytes, and of up to 255, whose length follows. */
const SHORT_TEXT = 0xa0
const SHORT_TEXT_MAXIMUM = 31
const TEXT_OF_255 = 0xd9
/** The principal comes after the array and the result, which is one byte. */
const PRINCIPAL_AT = 2
/** A power of two; each place is for two credentials. */
const PLACES = 4096
/** Of multiplicative hashing: 2^32 by the golden ratio. */
const FACTOR = 0x9e3779b1
const HASH_SHIFT = 20

/** Whether two times are in one minute. */
export function isSameMinute(one: Microseconds, other: Microseconds): boolean {
  return Math.floor(one / MINUTE_MICROSECONDS) === Math.floor(other / MINUTE_MICROSECONDS)
}

interface Place {
  readonly id: Uint8Array
  readonly minute: number
}

/**
 * Gathers the credentials in the records of one batch after another, in tens of nanoseconds a record: a credential that
 * was reported for this minute is not reported again, unless another one took its place here. What follows from a use
 * that is reported twice must be the same as from one.
 */
export class CredentialUses {
  readonly #places: (Place | undefined)[] = Array.from({ length: 2 * PLACES })
  #uses: CredentialUse[] = []

  /** Forgets what was reported, because records were taken back. */
  forget(): void {
    this.#places.fill(undefined)
    this.#uses = []
  }

  /** @param body MessagePack of a record; only an entry has a credential */
  add(body: Uint8Array, timeMicroseconds: Microseconds): void {
    const first = body[0]
    if (first !== ARRAY_OF_NINE && first !== ARRAY_OF_TEN) return
    const textAt = textEnd(body, PRINCIPAL_AT)
    const end = textAt < 0 ? -1 : textEnd(body, textAt)
    if (end < 0 || end > body.length) return
    const start = body[textAt] === TEXT_OF_255 ? textAt + 2 : textAt + 1
    const minute = Math.floor(timeMicroseconds / MINUTE_MICROSECONDS)
    const places = this.#places
    let at = placeOf(body, end)
    const [one, other] = [places[at], places[at + 1]]
    if (one !== undefined && isAt(one.id, body, start, end)) {
      if (one.minute === minute) return
    } else if (other !== undefined && isAt(other.id, body, start, end)) {
      if (other.minute === minute) return
      at += 1
    } else places[at + 1] = one
    // A credential is in one place alone: the host's clock may go back to a minute from before.
    const id = Uint8Array.from(body.subarray(start, end))
    places[at] = { id, minute }
    const credentialId = Buffer.from(id).toString()
    this.#uses.push({ credentialId, timeMicroseconds: microsecondsOf(timeMicroseconds) })
  }

  /** The uses since the last call. */
  take(): readonly CredentialUse[] {
    const uses = this.#uses
    if (uses.length > 0) this.#uses = []
    return uses
  }
}

/** Offset after the text at `at`; -1 for nil and all else. */
function textEnd(body: Uint8Array, at: number): number {
  const first = body[at] ?? 0
  if (first >= SHORT_TEXT && first <= SHORT_TEXT + SHORT_TEXT_MAXIMUM) return at + 1 + (first - SHORT_TEXT)
  return first === TEXT_OF_255 ? at + 2 + (body[at + 1] ?? 0) : -1
}

/** By the last four bytes of an id, which are random. */
function placeOf(body: Uint8Array, end: number): number {
  const low = (body[end - 1] ?? 0) | ((body[end - 2] ?? 0) << 8)
  const high = (body[end - 3] ?? 0) | ((body[end - 4] ?? 0) << 8)
  return (Math.imul(low | (high << 16), FACTOR) >>> HASH_SHIFT) * 2
}

function isAt(id: Uint8Array, body: Uint8Array, start: number, end: number): boolean {
  if (id.length !== end - start) return false
  for (let at = 0; at < id.length; at += 1) if (id[at] !== body[start + at]) return false
  return true
}
