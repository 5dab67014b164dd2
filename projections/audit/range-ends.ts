import type { Microseconds } from '../../engine/brands.ts'
import { AuditLogDamagedError, type AuditRange, type RangeEnds } from './audit-export.ts'
import type { JournalCursor } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

type Step = (frames: RecordFrames) => 'stop' | 'go on'

/**
 * The ends of a range of time. Both are found near a row of the index, so a few thousand records are read at most.
 * @param cursorNear a cursor at or before the first record of a time
 * @throws AuditLogDamagedError
 */
export async function readRangeEnds(
  { fromMicroseconds, toMicroseconds }: AuditRange,
  cursorNear: (time: Microseconds) => JournalCursor,
  turns: Turns,
): Promise<RangeEnds | undefined> {
  let first: Pick<RangeEnds, 'firstSequence' | 'previousHash'> | undefined
  await walk(cursorNear(fromMicroseconds), turns, ({ timeMicroseconds, sequence, previousHash }) => {
    if (timeMicroseconds < fromMicroseconds) return 'go on'
    if (timeMicroseconds < toMicroseconds) first = { firstSequence: sequence, previousHash }
    return 'stop'
  })
  if (first === undefined) return undefined
  const { firstSequence } = first
  let last: Pick<RangeEnds, 'lastSequence' | 'lastHash'> | undefined
  await walk(cursorNear(toMicroseconds), turns, ({ timeMicroseconds, sequence, hash }) => {
    if (timeMicroseconds >= toMicroseconds) return 'stop'
    if (sequence >= firstSequence) last = { lastSequence: sequence, lastHash: hash }
    return 'go on'
  })
  if (last === undefined) throw new AuditLogDamagedError(`the audit log is damaged after sequence ${firstSequence}`)
  return Object.assign(first, last)
}

async function walk(cursor: JournalCursor, turns: Turns, step: Step): Promise<void> {
  try {
    for (let batch = await cursor.next(); batch !== undefined; batch = await cursor.next()) {
      if (batch === 'damaged') throw new AuditLogDamagedError('the audit log is damaged at an end of the range')
      const frames = new RecordFrames(batch.bytes, batch.header)
      while (frames.next()) if (step(frames) === 'stop') return
      if (turns.isOver) await turns.next()
    }
  } finally {
    cursor.close()
  }
}
