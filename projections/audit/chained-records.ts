import type { Sequence } from '../../engine/brands.ts'
import { segmentName } from '../../engine/disk/store-paths.ts'
import { AuditLogDamagedError } from './audit-export.ts'
import { type AuditRecord, isEntry, readableRecord } from './audit-record.ts'
import type { JournalCursor } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

/** A record with its place in the chain. Hashes are in hexadecimal. */
export interface ChainedRecord extends AuditRecord {
  readonly hash: string
  readonly previousHash: string
  /** Its bytes as the journal has them, from the length of the body on, without padding. */
  readonly stored: Buffer
}

/**
 * Records by their sequences; without records that are no entry, or not yet written.
 * @param cursorNear a cursor shortly before a record
 * @throws AuditLogDamagedError
 */
export async function readChained(
  sequences: readonly Sequence[],
  cursorNear: (sequence: Sequence) => JournalCursor,
  turns: Turns,
): Promise<ReadonlyMap<Sequence, ChainedRecord>> {
  const wanted = new Set(sequences)
  const found = new Map<Sequence, ChainedRecord>()
  for (const sequence of wanted) {
    // An attempt and its outcome mostly are in one batch.
    if (found.has(sequence)) continue
    const cursor = cursorNear(sequence)
    try {
      const batch = await cursor.next(sequence)
      if (batch === 'damaged') {
        const { segmentFirstSequence, offset } = cursor.place
        const place = `${segmentName(segmentFirstSequence)}, offset ${offset}`
        throw new AuditLogDamagedError(`record ${sequence}, or one near it, cannot be read (${place})`)
      }
      const frames = batch && new RecordFrames(batch.bytes, batch.header)
      while (frames?.next() === true) {
        if (!wanted.has(frames.sequence) || !isEntry(frames)) continue
        const { hash, previousHash, stored } = frames
        found.set(frames.sequence, { ...provable(frames), hash, previousHash, stored })
      }
    } finally {
      cursor.close()
    }
    if (turns.isOver) await turns.next()
  }
  return found
}

/** Refuses a record that cannot be decoded: nothing is proved of it. */
function provable(frames: RecordFrames): AuditRecord {
  try {
    return readableRecord(frames)
  } catch (error) {
    throw new AuditLogDamagedError(`record ${frames.sequence} of the audit log is not an entry`, { cause: error })
  }
}
