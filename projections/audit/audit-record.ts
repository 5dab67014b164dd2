import { type AuditPart, decodeAuditPart } from '../../engine/events/entry-codec.ts'
import { RECORD_KIND } from '../../engine/journal/format.ts'
import type { RecordFrames } from './record-frames.ts'

/** One record of the audit log. */
export interface AuditRecord {
  readonly sequence: number
  readonly timeMicroseconds: number
  readonly entry: AuditPart
}

/** The journal's own records, its genesis and its seals, tell of no request. */
export function isEntry({ kind }: RecordFrames): boolean {
  return kind === RECORD_KIND.change || kind === RECORD_KIND.audit
}

/** @throws Error when the record is no entry of a version this program knows */
export function auditRecord(frames: RecordFrames): AuditRecord {
  const { sequence, timeMicroseconds } = frames
  return { sequence, timeMicroseconds, entry: decodeAuditPart(frames.body) }
}
