import { CHANGES } from '../../engine/events/changes.ts'
import { MessagePackCursor } from '../../engine/events/message-pack-cursor.ts'
import { makesEvents } from './derive-events.ts'
import type { StorageEventType } from './storage-event.ts'

/** A text in the bytes of an entry; both are 0 where it has none. */
export interface TextPlace {
  start: number
  end: number
}

/** Content of an entry: no event, one event that was read, or something that has to be decoded. */
type EntryContent = 'nothing' | 'one event' | 'undecoded'

/** Values of an entry, and the changes, as places in its array (spec/formats/journal.md). */
const ENTRY_VALUES = 10
/** Values from the operation to the metadata, which events do not have. */
const OPERATION_TO_METADATA = 4
const CONTENT_TYPE = Buffer.from('content-type')

/** Codes of the changes that make no event. */
const SILENT = new Set(
  Object.values(CHANGES)
    .filter(({ name }) => !makesEvents({ name }))
    .map(({ code }) => code as number),
)

/**
 * The event of an entry that writes or deletes one object, read in place: most entries with events are of this kind,
 * and decoding one takes ten times as long. Rarer entries (copies, completions, restored versions, several changes) are
 * decoded. A spec compares both ways.
 */
export class ObjectEntry {
  type: StorageEventType = 'object.created'
  bucketId = 0
  readonly key: TextPlace = { start: 0, end: 0 }
  readonly principal: TextPlace = { start: 0, end: 0 }
  readonly requestId: TextPlace = { start: 0, end: 0 }
  isNull = true
  /** Bytes; -1 where the entry does not have it. */
  size = -1
  /** Of an object that is written. */
  readonly etag: TextPlace = { start: 0, end: 0 }
  readonly contentType: TextPlace = { start: 0, end: 0 }
  /** Whether a deletion wrote a marker. */
  isMarker = false
  readonly #cursor = new MessagePackCursor()
  /** By the code of a change; returns whether it could read the change, given its number of values. */
  readonly #readers = new Map<number, (bytes: Buffer, values: number) => boolean>([
    [CHANGES.objectWritten.code, (bytes, values) => this.#written(bytes, values)],
    [CHANGES.objectDeleted.code, (_, values) => this.#deleted(values)],
    [CHANGES.markerWritten.code, () => this.#marked()],
  ])

  /** Reads the body of a change record. The places are valid as long as the bytes are. */
  read(bytes: Buffer, at: number, end: number): EntryContent {
    const cursor = this.#cursor
    cursor.begin(bytes, at)
    if (cursor.array() !== ENTRY_VALUES) return 'undecoded'
    cursor.skip(1)
    if (!this.#text(this.principal)) return 'undecoded'
    cursor.skip(2)
    if (!this.#optionalText(this.requestId)) return 'undecoded'
    cursor.skip(OPERATION_TO_METADATA)
    if (cursor.array() !== 1) return 'undecoded'
    const values = cursor.array()
    const code = cursor.whole()
    if (SILENT.has(code)) return 'nothing'
    const reader = this.#readers.get(code)
    return reader?.(bytes, values) === true && cursor.at === end ? 'one event' : 'undecoded'
  }

  /** Bucket, key, size, ETag, digest, headers, metadata, payload, replaced; place, lock, checksum and source may follow. */
  #written(bytes: Buffer, values: number): boolean {
    const cursor = this.#cursor
    if (!this.#object() || !this.#size() || !this.#text(this.etag)) return false
    cursor.skip(1)
    if (!this.#headers(bytes)) return false
    cursor.skip(2)
    const replaced = cursor.flag()
    if (replaced === undefined) return false
    this.type = replaced ? 'object.updated' : 'object.created'
    this.isNull = true
    if (values > 10 && !this.#place()) return false
    if (values > 11) cursor.skip(Math.min(values, 13) - 11)
    return values < 14 || cursor.nil()
  }

  #deleted(values: number): boolean {
    if (!this.#object()) return false
    this.type = 'object.deleted'
    this.isNull = true
    this.isMarker = false
    this.size = -1
    return values < 4 || this.#cursor.nil() || this.#size()
  }

  #marked(): boolean {
    this.type = 'object.deleted'
    this.isMarker = true
    this.size = 0
    return this.#object() && this.#place()
  }

  #object(): boolean {
    this.bucketId = this.#cursor.whole()
    return this.bucketId !== -1 && this.#text(this.key)
  }

  #size(): boolean {
    this.size = this.#cursor.whole()
    return this.size !== -1
  }

  /** Whether the version is the `null` version, and what it replaced; nil in a bucket without versioning. */
  #place(): boolean {
    const cursor = this.#cursor
    if (cursor.nil()) return true
    if (cursor.array() !== 2) return false
    const isNull = cursor.flag()
    this.isNull = isNull === true
    cursor.skip(1)
    return isNull !== undefined
  }

  #headers(bytes: Buffer): boolean {
    const cursor = this.#cursor
    const count = cursor.array()
    if (count === -1) return false
    this.contentType.start = 0
    this.contentType.end = 0
    for (let index = 0; index < count; index += 2) {
      if (!cursor.text()) return false
      const isFound = this.contentType.end === 0 && isContentType(bytes, cursor.start, cursor.end)
      if (!isFound) cursor.skip(1)
      else if (!this.#text(this.contentType)) return false
    }
    return true
  }

  #text(place: TextPlace): boolean {
    const cursor = this.#cursor
    if (!cursor.text()) return false
    place.start = cursor.start
    place.end = cursor.end
    return true
  }

  #optionalText(place: TextPlace): boolean {
    place.start = 0
    place.end = 0
    return this.#cursor.nil() || this.#text(place)
  }
}

function isContentType(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== CONTENT_TYPE.length) return false
  for (let index = 0; index < CONTENT_TYPE.length; index += 1) {
    if (bytes[start + index] !== CONTENT_TYPE[index]) return false
  }
  return true
}
