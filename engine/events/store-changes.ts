import { startName } from './names.ts'
import { defineChange } from './schema/change.ts'
import { digest, flag, integer, microseconds, payloadId, sequence, text, volumeNumber } from './schema/kinds.ts'
import { field } from './schema/record.ts'
import { payloadReference } from './values.ts'

/** A start cut bytes off the end of the journal. */
export const journalRecovered = defineChange('journal.recovered', 5, {
  segment: field(integer, 'segment number'),
  offset: field(integer, 'offset'),
  length: field(integer, 'length'),
  digest: field(digest, 'SHA-256 of the bytes cut off'),
  refused: field(flag, 'refused', 'true for a whole batch whose write or sync failed; else it was torn'),
})

/**
 * The journal was restored from a backup, and continues after a record of it: entries written after the backup are
 * lost.
 */
export const journalRestored = defineChange('journal.restored', 36, {
  last: field(sequence, 'last record', 'that was restored; this entry and the start before it are the first after it'),
  head: field(digest, 'hash of that record'),
  backedUp: field(microseconds, 'when the backup was made'),
  restored: field(microseconds, 'when it was restored'),
})

export const serverStarted = defineChange('server.started', 6, {
  version: field(text, 'version of the program'),
  start: field(
    startName,
    'name of the start',
    '16 hexadecimal digits, new each time; names of payload files begin with it',
  ),
})

export const serverStopped = defineChange('server.stopped', 7, {})

/** Compaction copied the bytes of a small payload to another place; length and checksum stay. */
export const payloadMoved = defineChange('payload.moved', 19, {
  payload: field(payloadId, 'payload id'),
  volume: field(volumeNumber, 'volume number'),
  offset: field(integer, 'offset', 'of the bytes in the volume'),
})

/**
 * Bytes were appended to a payload: both together are a new payload of parts, to which an `object.written` of the same
 * entry refers.
 */
export const payloadAppended = defineChange('payload.appended', 39, {
  payload: field(payloadId, 'payload id', 'of both together'),
  base: field(payloadId, 'base', 'of the bytes before, which are shared'),
  offset: field(integer, 'offset', 'bytes of the base'),
  part: field(payloadReference, 'part', 'the bytes after it, which are new'),
  size: field(integer, 'size', 'of the part'),
  digest: field(digest, 'SHA-256 of the part'),
})

/** The SHA-256 of a multipart payload is known. */
export const payloadDigested = defineChange('payload.digested', 20, {
  payload: field(payloadId, 'payload id'),
  digest: field(digest, 'SHA-256 of the bytes'),
})

/** The entry's time is the clock's high-water mark for retention (specification, Object Lock clock). */
export const clockObserved = defineChange('clock.observed', 21, {})

/** Nothing refers to a volume any more: its file is removed. */
export const volumeRemoved = defineChange('volume.removed', 22, { volume: field(volumeNumber, 'volume number') })
