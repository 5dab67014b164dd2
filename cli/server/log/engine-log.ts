import type { RoomFor } from '../../../engine/journal/journal-room.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import { segmentName } from '../../../engine/disk/store-paths.ts'
import { HEAL_ADVICE } from '../store/heal-advice.ts'
import type { Logger } from './logger.ts'
import type { EngineThread } from '../threads/engine-thread-handle.ts'
import type { Unrecorded } from '../threads/thread-messages.ts'

const LOST_MARK =
  'journal/HEAD was missing or damaged: it is written again, the projections were derived again, and entries that were lost from the end of the journal cannot be noticed; compare the last sequence with a checkpoint or a backup'

const BRIDGED = `a segment of the journal is damaged; everything in it was applied before, and the segment after it states its digest, so the start went on; ${HEAL_ADVICE}`

/** Logs the findings of a start in the store. */
export function logOpening(log: Logger, engine: EngineThread): void {
  const {
    created,
    replayedRecords,
    discardedProjections,
    snapshot,
    refusedSnapshots,
    cut,
    gaps,
    lostMark,
    changedMasterKey,
  } = engine.report
  const { deploymentId } = engine
  log.info({ deploymentId, created, replayedRecords, discardedProjections, snapshot }, 'the store is open')
  for (const { name, reason } of refusedSnapshots) {
    log.warn({ snapshot: name, reason }, 'a snapshot of the projections could not be used at this start')
  }
  for (const { first, fault, contentDigest } of gaps) {
    const digest = Buffer.from(contentDigest).toString('hex')
    log.error({ segment: segmentName(first), fault, digest }, BRIDGED)
  }
  if (changedMasterKey !== undefined) {
    log.info(
      { masterKeyId: changedMasterKey },
      'the store has the new master key; the previous one is no longer needed',
    )
  }
  if (lostMark) log.warn(LOST_MARK)
  if (cut === undefined) return
  const { segment, offset, length, refused } = cut
  const what = refused ? 'a batch that was refused because it could not be made durable' : 'an unfinished batch'
  log.warn({ segment, offset, length, refused }, `${what} at the end of the journal was cut off and saved`)
}

/** Logs a change of the room in the journal. */
export function logRoom(log: Logger, roomFor: RoomFor): void {
  if (roomFor === 'everything') log.info('the journal has room again, and every request is recorded')
  else if (roomFor === 'changes')
    log.warn('the disk is full: the journal has room for records of changes alone, and reads are only counted')
  else log.error('the disk is full: the journal has no room, every change is refused, and reads are only counted')
}

/** Logs counters that could not be right. */
export function logRecount(log: Logger, { counters, found, counted }: Recounted): void {
  log.warn({ counters, found, counted }, 'counters were below 0 and were counted again from the rows')
}

/** Logs the fate of records that came too late when the journal failed. */
export function logUnrecorded(log: Logger, unrecorded: Unrecorded | undefined): void {
  if (unrecorded === undefined) return
  const { count, problem } = unrecorded
  if (problem === undefined) log.warn({ count }, 'records of answered requests are kept for the next start')
  else log.error({ count, problem }, 'records of answered requests are lost: they could not be kept for the next start')
}
