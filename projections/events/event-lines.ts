import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import { rfc3339 } from '../../engine/clock.ts'
import type { JournalDamage } from '../audit/journal-damage.ts'
import type { EventCollector, NamedEntry } from './event-collectors.ts'
import type { ObjectEntry, TextPlace } from './object-entry.ts'
import { EVENT_INDEX_MAXIMUM, eventResource, type StorageEvent, storageEventId } from './storage-event.ts'

/** The framing of an event's JSON in a line of a stream. */
export type LineForm = 'ndjson' | 'sse'

/** A piece ends after this many bytes of lines. */
const PIECE_BYTES = 256 * 1024
/** A stream that waits for events has pieces of one line. */
const FIRST_BYTES = 4 * 1024
/** Maximum bytes of a line without the texts of its entry: names, ids of bucket and version, and numbers. */
const BESIDE_TEXTS_BYTES = 1024
/** An object that was written or deleted is the only event of its entry. */
const INDEX = '-0000'
const SEQUENCE_DIGITS = 16
const ROOT = Buffer.from('system:root')
const [SPACE, QUOTE, COLON, BACKSLASH, FIRST_OF_SEVERAL, ZERO] = [0x20, 0x22, 0x3a, 0x5c, 0x80, 0x30]
const MICROSECONDS = 1_000_000

/** Of the JSON form of events (`eventResource`), whose members are always in this order. */
const TEXT = {
  id: '{"id":"',
  type: '","type":"',
  time: '","time":"',
  bucket: '","bucket":"',
  object: '","object":"',
  version: '","version_id":"',
  size: '","size":',
  principal: ',"metadata":{"principal_kind":"',
  principalOfNoSize: '","metadata":{"principal_kind":"',
  requestId: '","request_id":"',
  etag: '","etag":"',
  contentType: '","content_type":"',
  end: '"}}',
  deleted: '","delete_marker":false,"permanent":true}}',
  marked: '","delete_marker":true,"permanent":false}}',
} as const

/**
 * Collects events as the lines of a stream. Where it can, it writes a line from the bytes of the entry, without a
 * string or an object; an event with other characters than printable ASCII is written as JSON by the runtime. The bytes
 * are the same.
 */
export class EventLines implements EventCollector {
  readonly #form: LineForm
  readonly #damageRecord: (damage: JournalDamage) => object
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #length = 0
  #second = Number.NaN
  #secondText = ''

  /** @param damageRecord the members of records that cannot be read, as JSON has them */
  constructor(form: LineForm, damageRecord: (damage: JournalDamage) => object) {
    this.#form = form
    this.#damageRecord = damageRecord
  }

  get isFull(): boolean {
    return this.#length >= PIECE_BYTES
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** The lines so far. The next `begin` uses the memory again. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  begin(): void {
    this.#length = 0
  }

  add(event: StorageEvent): boolean {
    const json = JSON.stringify(eventResource(event))
    this.#line(this.#form === 'ndjson' ? `${json}\n` : sseEvent(storageEventId(event), event.type, json))
    return true
  }

  /** A line with one member `damage`. Its `id` is the position after the records that cannot be read. */
  damaged(damage: JournalDamage): void {
    const id = storageEventId({ sequence: sequenceOf(damage.lastSequence), index: EVENT_INDEX_MAXIMUM })
    const record = { id, ...this.#damageRecord(damage) }
    this.#line(
      this.#form === 'ndjson'
        ? `${JSON.stringify({ damage: record })}\n`
        : sseEvent(id, 'damage', JSON.stringify(record)),
    )
  }

  /**
   * Writes the line of an event from the bytes of its entry.
   * @returns false when one of its texts has to be escaped or decoded; then nothing is written
   */
  addEntry(bytes: Buffer, entry: ObjectEntry, named: NamedEntry): boolean {
    const before = this.#length
    const { key, principal, requestId, etag, contentType } = entry
    const texts = lengthOf(key) + lengthOf(principal) + lengthOf(requestId) + lengthOf(etag) + lengthOf(contentType)
    this.#makeRoom(texts + BESIDE_TEXTS_BYTES)
    if (this.#form === 'sse') this.#sseHead(entry, named.sequence)
    this.#put(TEXT.id)
    this.#id(named.sequence)
    this.#put(TEXT.type)
    this.#put(entry.type)
    this.#put(TEXT.time)
    this.#time(named.timeMicroseconds)
    this.#put(TEXT.bucket)
    this.#put(named.bucket)
    this.#put(TEXT.object)
    let isPlain = this.#copy(bytes, key)
    this.#put(TEXT.version)
    this.#put(named.versionId)
    if (entry.size !== -1) {
      this.#put(TEXT.size)
      this.#put(String(entry.size))
    }
    this.#put(entry.size === -1 ? TEXT.principalOfNoSize : TEXT.principal)
    isPlain &&= this.#principalKind(bytes, principal)
    if (requestId.end !== 0) {
      this.#put(TEXT.requestId)
      isPlain &&= this.#copy(bytes, requestId)
    }
    isPlain &&= this.#rest(bytes, entry)
    this.#put(this.#form === 'sse' ? '\n\n' : '\n')
    if (!isPlain) this.#length = before
    return isPlain
  }

  #line(line: string): void {
    this.#makeRoom(Buffer.byteLength(line))
    this.#length += this.#bytes.write(line, this.#length)
  }

  #sseHead({ type }: ObjectEntry, sequence: Sequence): void {
    this.#put('id: ')
    this.#id(sequence)
    this.#put('\nevent: ')
    this.#put(type)
    this.#put('\ndata: ')
  }

  /** The metadata after the members that every event has. */
  #rest(bytes: Buffer, entry: ObjectEntry): boolean {
    if (entry.type === 'object.deleted') {
      this.#put(entry.isMarker ? TEXT.marked : TEXT.deleted)
      return true
    }
    this.#put(TEXT.etag)
    if (!this.#copy(bytes, entry.etag)) return false
    if (entry.contentType.end !== 0) {
      this.#put(TEXT.contentType)
      if (!this.#copy(bytes, entry.contentType)) return false
    }
    this.#put(TEXT.end)
    return true
  }

  #makeRoom(length: number): void {
    const wanted = this.#length + length
    if (wanted <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  /** Writes ASCII. A loop beats a call into the runtime for texts as short as these. */
  #put(text: string): void {
    const target = this.#bytes
    let at = this.#length
    for (let index = 0; index < text.length; index += 1) target[at++] = text.charCodeAt(index)
    this.#length = at
  }

  /** Copies a text; false where JSON would escape a character of it, and where it may not be valid UTF-8. */
  #copy(bytes: Buffer, { start, end }: TextPlace): boolean {
    const target = this.#bytes
    let at = this.#length
    for (let from = start; from < end; from += 1) {
      const byte = bytes[from] as number
      if (byte < SPACE || byte >= FIRST_OF_SEVERAL || byte === QUOTE || byte === BACKSLASH) return false
      target[at++] = byte
    }
    this.#length = at
    return true
  }

  /** The principal up to its colon, or all of it without one; `principalKind` does the same. */
  #principalKind(bytes: Buffer, place: TextPlace): boolean {
    const { start, end } = place
    if (lengthOf(place) === ROOT.length && bytes.compare(ROOT, 0, ROOT.length, start, end) === 0) {
      this.#put('root')
      return true
    }
    let colon = start
    while (colon < end && bytes[colon] !== COLON) colon += 1
    return this.#copy(bytes, { start, end: colon })
  }

  #id(sequence: number): void {
    this.#digits(sequence, SEQUENCE_DIGITS)
    this.#put(INDEX)
  }

  /** RFC 3339. The events of a second share all but its parts. */
  #time(microseconds: number): void {
    const second = Math.floor(microseconds / MICROSECONDS)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText = rfc3339(second * MICROSECONDS).slice(0, -'000000Z'.length)
    }
    this.#put(this.#secondText)
    this.#digits(microseconds - second * MICROSECONDS, 6)
    this.#put('Z')
  }

  #digits(value: number, count: number): void {
    const target = this.#bytes
    let rest = value
    for (let at = this.#length + count - 1; at >= this.#length; at -= 1) {
      const tenth = Math.floor(rest / 10)
      target[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    this.#length += count
  }
}

function sseEvent(id: string, type: string, json: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`
}

function lengthOf({ start, end }: TextPlace): number {
  return end - start
}
