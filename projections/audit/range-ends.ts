import { AuditLogDamagedError, type AuditRange, type RangeEnds, RangeTest } from './audit-export.ts'
import type { JournalCursor } from './journal-cursor.ts'
import { RecordFrames } from './record-frames.ts'
import type { Turns } from './turns.ts'

type Step = (frames: RecordFrames) => 'stop' | 'go on'

/**
 * The first and the last record of a range of time, in a log whose records are in the order of their times: near rows of the
 * index, so a few thousand records are read at most. Undefined for an empty range.
 * @param cursors at or before the first record of the range, and at or before the first one after it
 * @throws AuditLogDamagedError
 */
export async function readRangeEnds(
  range: AuditRange,
  cursors: Readonly<Record<'begin' | 'nearEnd', () => JournalCursor>>,
  turns: Turns,
): Promise<RangeEnds | undefined> {
  let first: Pick<RangeEnds, 'firstSequence' | 'previousHash'> | undefined
  const fromBegin = new RangeTest(range)
  await walk(cursors.begin(), turns, (frames) => {
    if (frames.timeMicroseconds < range.fromMicroseconds) return 'go on'
    if (fromBegin.isIn(frames)) first = { firstSequence: frames.sequence, previousHash: frames.previousHash }
    return 'stop'
  })
  if (first === undefined) return undefined
  const { firstSequence } = first
  let last: Pick<RangeEnds, 'lastSequence' | 'lastHash'> | undefined
  const test = new RangeTest(range)
  await walk(cursors.nearEnd(), turns, (frames) => {
    const { sequence, timeMicroseconds, hash } = frames
    if (test.isIn(frames) && sequence >= firstSequence) last = { lastSequence: sequence, lastHash: hash }
    return timeMicroseconds >= range.toMicroseconds ? 'stop' : 'go on'
  })
  if (last === undefined) throw new AuditLogDamagedError(`the audit log is damaged after sequence ${firstSequence}`)
  const ends: Omit<RangeEnds, 'parts'> = Object.assign(first, last)
  return { ...ends, parts: 1 }
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
