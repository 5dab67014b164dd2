import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { filesToMerge, type IndexName, listIndex, MERGED_FILES } from './index-names.ts'
import type { IndexTask } from './make-index.ts'

/** Records of the smallest file: as many are read for a question that no file has the answer of. */
const LEVEL_RECORDS = 32_768

/**
 * What is to be made next: one file of several, or a file of the first records that none has. Removes what is superfluous.
 * @param end sequence of the last record that is durable
 * @param refused whether a segment is left out
 * @param levelRecords of the smallest file
 */
export function nextTask(
  disk: Disk,
  paths: StorePaths,
  end: number,
  refused: (segment: number) => boolean,
  levelRecords = LEVEL_RECORDS,
): IndexTask | undefined {
  const { used, superfluous } = listIndex(disk, paths)
  for (const path of superfluous) disk.remove(path)
  const files = filesToMerge(used)
  if (files !== undefined) return { kind: 'merge', files }
  const segments = segmentFirsts(disk, paths)
  for (const [index, segment] of segments.entries()) {
    if (refused(segment)) continue
    const following = segments[index + 1]
    const hole = firstHole(used, segment, following ?? end)
    if (hole === undefined) continue
    const { first, before, after } = hole
    const left = before - first
    // The open segment grows: a file of few records would be put together with others soon.
    if (following === undefined && left <= levelRecords) return undefined
    const isLarge = left >= levelRecords * MERGED_FILES
    return {
      kind: 'records',
      segment,
      after: first === segment ? undefined : after?.path,
      count: isLarge ? levelRecords * MERGED_FILES : Math.max(levelRecords, 1),
      // The first record of a segment, or of the next file, is not one of these.
      before: before === end ? end : before + 1,
      level: isLarge ? 1 : 0,
    }
  }
  return undefined
}

interface Hole {
  readonly first: number
  readonly before: number
  /** The file whose records end before it. */
  readonly after: IndexName | undefined
}

/** The first records from one sequence up to another that no file has. */
function firstHole(used: readonly IndexName[], from: number, before: number): Hole | undefined {
  let at = from
  let after: IndexName | undefined
  for (const name of used) {
    if (name.following <= at) {
      if (name.following === at) after = name
      continue
    }
    if (name.first > at) return at < before ? { first: at, before: Math.min(before, name.first), after } : undefined
    at = name.following
    after = name
  }
  return at < before ? { first: at, before, after } : undefined
}
