import { join } from 'node:path'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import { type StorePaths, segmentName } from '../../../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../../../engine/journal/segment.ts'
import { readHeadMark } from '../../../../engine/verify/head-mark.ts'
import type { SegmentResult } from '../../../../engine/verify/segment-result.ts'
import { verifySegment } from '../../../../engine/verify/segment-verifier.ts'
import type { Finding } from './finding.ts'

/** Time for a running server to finish the batch that it is writing. */
const SETTLE_MILLISECONDS = 50

/**
 * A journal that ends before its high-water mark was restored from an older copy or has lost its end. Verifies only the
 * last segment; the journal ends before the first problem in it.
 */
export async function restoreState(paths: StorePaths): Promise<string | Omit<Finding, 'check'>> {
  if (!nodeDisk.exists(paths.head)) return { status: 'skipped', detail: 'there is no high-water mark yet' }
  const { mark } = await readHeadMark(paths.journal)
  const result = verifyLastSegment(paths, mark?.sequence)
  const problem = result?.problems[0]
  if (problem?.offset === 0) throw new Error(`${join(paths.journal, problem.segment)}: header is damaged`)
  if (mark === undefined) return { status: 'warning', detail: 'the high-water mark cannot be read' }
  if (result === undefined) throw new Error('the journal has no entries, but its high-water mark says that it had some')
  const last = (problem?.sequence ?? result.nextSequence) - 1
  if (last < mark.sequence) throw new Error(`the journal ends at ${last}, but ${mark.sequence} was acknowledged`)
  const marked = result.found[0]
  if (marked !== undefined && marked.hash !== mark.hash) {
    throw new Error(`entry ${mark.sequence} is not the one that was acknowledged`)
  }
  const state = `the journal ends at ${last}, its high-water mark is ${mark.sequence}`
  if (!mark.refusesNext) return state
  const detail = `${state}; the disk failed at the batch after it, which was refused: the next start cuts it off`
  return { status: 'warning', detail }
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
