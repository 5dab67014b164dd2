import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { COLD_MAGIC } from '../../engine/journal/cold/cold-format.ts'
import { scanOneSegment } from '../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { ExitError } from '../exit-codes.ts'
import type { Copier } from './copier.ts'
import type { JournalPoint } from './manifest.ts'

/** Whether a segment is cold, and so sealed. */
function isCold(file: DiskFile): boolean {
  const start = Buffer.alloc(COLD_MAGIC.length)
  return file.readAt(start, 0, start.length) === start.length && start.equals(COLD_MAGIC)
}

/**
 * Copies the segments up to a point, each as it is stored. What an earlier run has copied is not read again, but for the
 * segment that was open then: it is continued, or replaced when it has become cold.
 * @param before the point of the run before
 */
export async function copyJournal(
  disk: Disk,
  from: StorePaths,
  to: StorePaths,
  before: JournalPoint | undefined,
  point: JournalPoint,
  copier: Copier,
): Promise<void> {
  disk.makeDirectory(to.journal)
  for (const first of segmentFirsts(disk, from)) {
    if (first > point.segment) break
    if (before !== undefined && (first < before.segment || (first === before.segment && before.offset === null)))
      continue
    const end = first === point.segment ? point.offset : null
    const had = first === before?.segment ? before.offset : null
    const source = disk.openToRead(from.segment(first))
    try {
      if (had === null || isCold(source)) await copier.copy(source, to.segment(first), end ?? undefined)
      else await copier.append(source, to.segment(first), had, end ?? source.size())
    } finally {
      source.close()
    }
  }
  copier.syncDirectories()
}

/**
 * The store must continue what the backup has: an older copy of the store, or a copy with another continuation, would
 * mix two histories in one journal.
 * @throws ExitError
 */
export function requireSameHistory(disk: Disk, store: StorePaths, before: JournalPoint, backup: string): void {
  let found: string | undefined
  if (segmentFirsts(disk, store).includes(before.segment)) {
    scanOneSegment(disk, store, before.segment, {
      record: ({ sequence, hash }) => {
        if (sequence === before.sequence) found = hash.toString('hex')
      },
    })
  }
  if (found === before.hash) return
  const what =
    found === undefined
      ? `the store no longer has record ${before.sequence}, where the backup ends`
      : `record ${before.sequence} of the store is another one than in the backup`
  throw new ExitError(
    'failed',
    `${what}: it was restored from an older copy, or it is another store; make its backup in a new directory than ${backup}`,
  )
}
