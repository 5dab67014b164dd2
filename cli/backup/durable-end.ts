import { setTimeout as pause } from 'node:timers/promises'
import { next, previous, type Sequence } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { isStoreLocked } from '../../engine/disk/store-lock.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { type HeadMark, readHeadMark } from '../../engine/journal/head-mark.ts'
import { AcknowledgedDataLostError, JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { firstOf } from '../../engine/journal/positions.ts'
import { RefusedBatchSearch } from '../../engine/journal/recovery/refused-batch.ts'
import { decodeSegmentHeader, segmentFirsts } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { laterBatchFollows, type ScanEnd, SegmentWindow, scanSegment } from '../../engine/journal/segment-scan.ts'
import { ExitError } from '../exit-codes.ts'
import { type JournalPoint, pointAt } from './manifest.ts'

const LOOK_MILLISECONDS = 20
/** The mark is written every second; a start that replays a long journal writes it at its end. */
const PATIENCE_MILLISECONDS = 10 * 60_000
/** Pause before a second look, since recovery may cut off what the first look saw. */
const SCAN_AGAIN_MILLISECONDS = 2000

/**
 * The point up to which a backup copies the journal: at or after everything that was acknowledged when this was called,
 * and certainly kept by the store. Of a running store only what HEAD marks is certain: a batch that can be read may not
 * be synced yet, and be refused. So this waits until the mark has reached the present end of the journal.
 * @throws ExitError, JournalDamagedError, AcknowledgedDataLostError
 */
export async function durableEnd(disk: Disk, paths: StorePaths): Promise<JournalPoint> {
  const until = performance.now() + PATIENCE_MILLISECONDS
  let target: Sequence | undefined
  let scannedAt = 0
  while (performance.now() < until) {
    const running = await isStoreLocked(disk, paths.root)
    const mark = readHeadMark(disk, paths)
    if (!running) {
      const end = endOfStopped(disk, paths, mark)
      // A server that has started meanwhile may cut off the end.
      if (!(await isStoreLocked(disk, paths.root))) return end
      continue
    }
    if (target === undefined || performance.now() - scannedAt > SCAN_AGAIN_MILLISECONDS) {
      const { sequence } = scanEnd(disk, paths, undefined).point
      target = target === undefined || sequence < target ? sequence : target
      scannedAt = performance.now()
    }
    if (mark !== undefined && mark.sequence >= target) return pointOfMark(disk, paths, mark)
    await pause(LOOK_MILLISECONDS)
  }
  throw new ExitError('failed', `the server on ${paths.root} does not move the mark of its journal; is it starting?`)
}

/** Without a server all that can be read will be kept by the next start, but for a batch that was refused. */
function endOfStopped(disk: Disk, paths: StorePaths, mark: HeadMark | undefined): JournalPoint {
  const { point, scan, path, laterBatch } = scanEnd(disk, paths, mark)
  // Behind a torn batch there is nothing.
  if (scan.end === 'foreign' || laterBatch) {
    throw new JournalDamagedError(`${path}, offset ${scan.offset}: ${scan.reason}`)
  }
  if (mark !== undefined && mark.sequence > point.sequence) {
    throw new AcknowledgedDataLostError(
      `the journal ends at ${point.sequence}, and its mark says that ${mark.sequence} was acknowledged`,
    )
  }
  // Writes of a killed server may be in memory only: the copy must not have more than the store after a power cut.
  const file = disk.openToRead(path)
  try {
    file.sync()
  } finally {
    file.close()
  }
  return point
}

/** The point of a mark, or the end of the segment before the last, where that is later: it is sealed, so it is durable. */
function pointOfMark(disk: Disk, paths: StorePaths, mark: HeadMark): JournalPoint {
  const { point, scan, path } = scanEnd(disk, paths, undefined, mark.sequence)
  if (point.sequence < mark.sequence) {
    throw new JournalDamagedError(`${path}, offset ${scan.offset}, before record ${mark.sequence}: ${scan.reason}`)
  }
  if (point.sequence === mark.sequence && point.hash !== Buffer.from(mark.head).toString('hex')) {
    throw new JournalDamagedError(`record ${mark.sequence} of ${paths.journal} is not the one that HEAD marks`)
  }
  return point
}

interface End {
  readonly point: JournalPoint
  readonly scan: ScanEnd
  readonly path: string
  /** A whole batch follows where the journal ends: what is between them is damaged, and not torn. */
  readonly laterBatch: boolean
}

/**
 * Where the journal ends: in its last segment, or with the seal before that while nothing is in it.
 * @param mark names a batch that was refused; the end is before it
 * @param limit the end is at or before this record, or at the seal before the last segment
 */
function scanEnd(disk: Disk, paths: StorePaths, mark: HeadMark | undefined, limit?: Sequence): End {
  const firsts = segmentFirsts(disk, paths)
  const first = firsts.at(-1)
  if (first === undefined) throw new ExitError('notFound', `there is no journal in ${paths.root}`)
  const path = paths.segment(first)
  const file = openSegment(disk, path)
  try {
    const window = new SegmentWindow(file)
    const header = decodeSegmentHeader(Buffer.from(window.view(0, SEGMENT_HEADER.bytes)))
    if (header === undefined) throw new JournalDamagedError(`${path}: header is damaged`)
    const chain = firstOf(header)
    const refused = new RefusedBatchSearch(mark, header)
    const sealBefore = firsts.at(-2)
    let point =
      sealBefore === undefined
        ? undefined
        : pointAt(previous(header.firstSequence), header.chainHead, header.firstBatch - 1, sealBefore, null)
    const scan = scanSegment(window, header.segmentNumber, SEGMENT_HEADER.bytes, chain, {
      record: () => undefined,
      batch: (_, end) => {
        refused.batch(chain, end)
        if (refused.found !== undefined || (limit !== undefined && chain.nextSequence > next(limit))) return
        // A last segment that is cold is sealed, and copied as it is.
        const offset = file.isCold ? null : end
        point = pointAt(previous(chain.nextSequence), chain.head, chain.nextBatch - 1, first, offset)
      },
    })
    if (point === undefined) throw new JournalDamagedError(`${path}: it holds no record`)
    const laterBatch =
      refused.found === undefined &&
      scan.end === 'torn' &&
      !file.isCold &&
      laterBatchFollows(window, scan.offset, header.segmentNumber, chain.nextBatch)
    return { point, scan, path, laterBatch }
  } finally {
    file.close()
  }
}
