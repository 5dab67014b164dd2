import type { Microseconds, Sequence } from '../../engine/brands.ts'
import { segmentName } from '../../engine/disk/store-paths.ts'
import { type AuditPart, eventId } from '../../engine/events/audit.ts'
import { decodeAuditPart } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import { oneTime, type RecordTimes } from '../../engine/journal/record-times.ts'
import { damageOfGap, type JournalGap } from './journal-damage.ts'
import type { RecordFrames } from './record-frames.ts'

/** One record of the audit log. */
export interface AuditRecord extends RecordTimes {
  readonly sequence: Sequence
  readonly entry: AuditPart
  /** Set where the body is not an entry: `entry` is then a substitute that says so, with the hash of the record. */
  readonly isUnreadable?: true
}

/** Whether a record is about a request; the genesis and the seals are not. */
export function isEntry({ kind }: RecordFrames): boolean {
  return kind === RECORD_KIND.change || kind === RECORD_KIND.audit
}

/** A record, whatever its body is: `journal verify` reports an unreadable one, and the records after it are shown as well. */
export function auditRecord(frames: RecordFrames): AuditRecord {
  try {
    return readableRecord(frames)
  } catch {
    const { sequence, orderMicroseconds, timeMicroseconds, hash, bodyLength } = frames
    const metadata = ['damaged', 'the body is not an entry', 'record_hash', hash, 'body_bytes', bodyLength]
    const entry = { ...NOTHING_KNOWN, metadata }
    return { sequence, orderMicroseconds, timeMicroseconds, entry, isUnreadable: true }
  }
}

/** @throws Error when the body is not an entry of a version that this program knows */
export function readableRecord(frames: RecordFrames): AuditRecord {
  const { sequence, orderMicroseconds, timeMicroseconds } = frames
  return { sequence, orderMicroseconds, timeMicroseconds, entry: decodeAuditPart(frames.body) }
}

/**
 * The record that is shown in the place of a gap, so that no reader of the records alone takes them for complete.
 * @param timeMicroseconds no record of the gap is earlier
 */
export function substituteOfGap(gap: JournalGap, timeMicroseconds: Microseconds): AuditRecord {
  const { segmentFirstSequence, offset } = gap.place
  const { detail, verdict } = damageOfGap(gap)
  const facts = { damaged: detail, verdict, last_event_id: eventId(gap.lastSequence) }
  const metadata = Object.entries({ ...facts, segment: segmentName(segmentFirstSequence), offset }).flat()
  const entry = { ...NOTHING_KNOWN, metadata }
  return { sequence: gap.firstSequence, ...oneTime(timeMicroseconds), entry, isUnreadable: true }
}

/** Stands for the operation, the principal and the resource of a record that cannot be read. */
const UNREADABLE = 'unreadable'

/** The parts of a record that cannot be read. */
const NOTHING_KNOWN = {
  result: 'failure',
  principal: UNREADABLE,
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: undefined,
  operation: UNREADABLE,
  resource: UNREADABLE,
  intent: undefined,
} as const
