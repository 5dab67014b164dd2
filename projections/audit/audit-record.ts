import type { Microseconds, Sequence } from '../../engine/brands.ts'
import type { AuditPart } from '../../engine/events/audit.ts'
import { decodeAuditPart } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import type { RecordFrames } from './record-frames.ts'

/** One record of the audit log. */
export interface AuditRecord {
  readonly sequence: Sequence
  readonly timeMicroseconds: Microseconds
  readonly entry: AuditPart
}

/** Whether a record is about a request; the genesis and the seals are not. */
export function isEntry({ kind }: RecordFrames): boolean {
  return kind === RECORD_KIND.change || kind === RECORD_KIND.audit
}

/** @throws Error when the record is not an entry of a version that this program knows */
export function auditRecord(frames: RecordFrames): AuditRecord {
  const { sequence, timeMicroseconds } = frames
  return { sequence, timeMicroseconds, entry: decodeAuditPart(frames.body) }
}
