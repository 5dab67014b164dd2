import { join } from 'node:path'
import { sequenceOf } from '../../../../engine/brands.ts'
import { systemMilliseconds } from '../../../../engine/clock.ts'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { segmentName, type StorePaths } from '../../../../engine/disk/store-paths.ts'
import { decodeGenesis, type Genesis } from '../../../../engine/journal/bodies.ts'
import { ChainVerdicts } from '../../../../engine/journal/chain-verdicts.ts'
import { requireKnownFormat } from '../../../../engine/journal/known-format.ts'
import { readGenesis } from '../../../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../../../engine/journal/segment.ts'
import { storeCreation } from '../../../../engine/journal/segment-chain.ts'
import { type HeadMark, readHeadMark } from '../../../../engine/verify/head-mark.ts'
import type { SegmentResult } from '../../../../engine/verify/segment-result.ts'
import { verifySegment } from '../../../../engine/verify/segment-verifier.ts'
import { BackupNote } from '../../../backup/backup-note.ts'
import type { Config } from '../../../config/config-types.ts'
import { behindSentence, clockBehind } from '../../../server/clock-behind.ts'
import { DoctorFailure, type Found } from './finding.ts'

/** Time for a running server to finish the batch that it is writing. */
const SETTLE_MILLISECONDS = 50
/** A backup that is older is worth a warning. */
const BACKUP_MILLISECONDS = 7 * 24 * 3600 * 1000
/** What to do when acknowledged records are missing. */
const LOST_ADVICE =
  'put back the journal of this store, or restore the newest backup into a new directory (object-store restore); the end of an older copy is not a state to go on from'

/** Undefined if the store was not created yet; an error if it cannot be read. */
export function genesisOf(paths: StorePaths): Genesis | Error | undefined {
  try {
    requireKnownFormat(nodeDisk, paths.journal)
    return nodeDisk.exists(paths.segment(sequenceOf(0))) ? decodeGenesis(readGenesis(nodeDisk, paths)) : undefined
  } catch (error) {
    return error as Error
  }
}

export function storageFormat(genesis: Genesis | Error | undefined): Found {
  if (genesis instanceof Error) throw genesis
  if (genesis === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  return `version 1, deployment ${Buffer.from(genesis.deploymentId).toString('hex')}`
}

/**
 * A journal that ends before its high-water mark was restored from an older copy, has lost its end, or is damaged there. Verifies
 * only the last segment; the journal ends before the first problem in it.
 */
export function restoreState(paths: StorePaths, { mark, result }: JournalEnd): Found {
  if (!nodeDisk.exists(paths.head)) return { status: 'skipped', detail: 'there is no high-water mark yet' }
  const problem = result?.problems[0]
  if (problem?.offset === 0) throw new Error(`${join(paths.journal, problem.segment)}: header is damaged`)
  if (mark === undefined) {
    const next =
      'look for a reason in the log of the disk: a start goes on, and cannot tell whether the end of the journal was lost'
    return { status: 'warning', detail: 'the high-water mark cannot be read', next }
  }
  if (result === undefined) {
    throw new DoctorFailure('the journal has no entries, but its high-water mark says that it had some', LOST_ADVICE)
  }
  const last = (problem?.sequence ?? result.nextSequence) - 1
  if (last < mark.sequence && problem !== undefined) {
    const place = `${join(paths.journal, problem.segment)}, offset ${problem.offset}`
    throw new Error(
      `the journal is damaged at record ${problem.sequence} (${place}: ${problem.detail}), and ${mark.sequence} was acknowledged`,
    )
  }
  if (last < mark.sequence) {
    throw new DoctorFailure(`the journal ends at ${last}, but ${mark.sequence} was acknowledged`, LOST_ADVICE)
  }
  const marked = result.found[0]
  if (marked !== undefined && marked.hash !== mark.hash) {
    throw new DoctorFailure(`entry ${mark.sequence} is not the one that was acknowledged`, LOST_ADVICE)
  }
  const state = `the journal ends at ${last}, its high-water mark is ${mark.sequence}`
  if (!mark.refusesNext) return state
  const detail = `${state}; the disk failed at the batch after it, which was refused: the next start cuts it off`
  return {
    status: 'warning',
    detail,
    next: "see the kernel's log (dmesg) for what the disk had, then start the server",
  }
}

export interface JournalEnd {
  readonly mark: HeadMark | undefined
  /** Of the last segment; undefined without a segment. */
  readonly result: SegmentResult | undefined
}

/** What the mark says of the end of the journal, and what the last segment has. */
export async function endOfJournal(paths: StorePaths): Promise<JournalEnd> {
  const mark = nodeDisk.exists(paths.head) ? (await readHeadMark(paths.journal)).mark : undefined
  return { mark, result: verifyLastSegment(paths, mark?.sequence) }
}

/** The last verdict on the chain that is kept. It is not verified again: that takes long. */
export function chainVerdict(paths: StorePaths, genesis: Genesis | Error | undefined, { result }: JournalEnd): Found {
  if (result === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  const id =
    genesis === undefined || genesis instanceof Error ? undefined : Buffer.from(genesis.deploymentId).toString('hex')
  const { whole, ignored } = new ChainVerdicts(nodeDisk, paths, id).read(result.nextSequence - 1)
  if (ignored !== undefined) {
    return {
      status: 'warning',
      detail: `${paths.verified} is ignored: ${ignored}`,
      next: 'run object-store journal verify',
    }
  }
  if (whole === undefined) return 'the whole chain was not verified yet; journal verify does it'
  const { through, by, program, problem, atMilliseconds } = whole
  const when = `${new Date(atMilliseconds).toISOString()} by ${program} of ${by}`
  if (problem === undefined) return `it was intact up to record ${through}, verified ${when}`
  const place = problem.sequence === undefined ? '' : ` at record ${problem.sequence}`
  throw new Error(`damage was found${place}, ${when}: ${problem.verdict}, ${problem.detail}`)
}

/** When the last backup ended, as far as this data directory knows. */
export function lastBackup(paths: StorePaths, genesis: Genesis | Error | undefined, { result }: JournalEnd): Found {
  if (result === undefined || genesis === undefined || genesis instanceof Error) {
    return { status: 'skipped', detail: 'the store was not created yet, or cannot be read' }
  }
  const id = Buffer.from(genesis.deploymentId).toString('hex')
  const { backup, ignored } = new BackupNote(nodeDisk, paths, id).read(result.nextSequence - 1)
  if (ignored !== undefined) return { status: 'warning', detail: `${paths.backedUp} is ignored: ${ignored}` }
  const now = systemMilliseconds()
  if (backup === undefined) {
    const isNew = now - storeCreation(nodeDisk, paths) < BACKUP_MILLISECONDS
    if (isNew) return 'none was made yet, and the store is new'
    return {
      status: 'warning',
      detail: 'none was made by object-store backup; if the store is copied otherwise, all is well',
    }
  }
  const { atMilliseconds, sequence, directory, missing } = backup
  const lacks = missing === 0 ? '' : `; ${missing} payloads were not in the store`
  const detail = `the last one ended ${new Date(atMilliseconds).toISOString()}, up to record ${sequence}, in ${directory}${lacks}`
  if (missing > 0)
    return { status: 'warning', detail, next: 'run object-store storage scrub: storage status then names the objects' }
  return now - atMilliseconds < BACKUP_MILLISECONDS ? detail : { status: 'warning', detail }
}

/** Whether the clock of this host is behind the last entry of the journal. */
export function clock(config: Config, { result }: JournalEnd): Found {
  if (result === undefined) return { status: 'skipped', detail: 'the store was not created yet' }
  const entry = result.lastTime === 0 ? (result.header?.createdMicroseconds ?? 0) : result.lastTime
  const behind = clockBehind(systemMilliseconds(), Math.floor(entry / 1000))
  const tolerance = config['object_lock.clock_backwards_tolerance_seconds'] * 1000
  if (behind.milliseconds > tolerance) return { status: 'warning', detail: behindSentence(behind) }
  return 'it is not before the last entry of the journal'
}

/** Undefined if there is no segment. */
function verifyLastSegment(paths: StorePaths, watched: number | undefined): SegmentResult | undefined {
  const first = segmentFirsts(nodeDisk, paths).at(-1)
  if (first === undefined) return undefined
  const job = {
    path: paths.segment(first),
    name: segmentName(first),
    isLast: true,
    settleMilliseconds: SETTLE_MILLISECONDS,
  }
  return verifySegment({ ...job, watched: watched === undefined ? [] : [watched] }, () => undefined)
}
