import { basename, dirname } from 'node:path'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import { segmentFirstSequence, type StorePaths } from '../../engine/disk/store-paths.ts'
import type { JournalPoint } from './manifest.ts'

/**
 * A disk on which the journal of a backup ends at a point. A run that did not finish may have left more, whole or torn,
 * which is not part of the backup.
 */
export function cutAt(disk: Disk, paths: StorePaths, point: JournalPoint): Disk {
  const isJournal = (path: string): boolean => path === paths.journal
  return {
    ...disk,
    list: (path) => {
      const names = disk.list(path)
      return isJournal(path) ? names.filter((name) => (segmentFirstSequence(name) ?? 0) <= point.segment) : names
    },
    openToRead: (path) => {
      const file = disk.openToRead(path)
      const isCut = isJournal(dirname(path)) && segmentFirstSequence(basename(path)) === point.segment
      return isCut && point.offset !== null ? endingAt(file, point.offset) : file
    },
  }
}

/** The file without its bytes after `end`. */
function endingAt(file: DiskFile, end: number): DiskFile {
  const lengthAt = (position: number, length: number): number => Math.max(0, Math.min(length, end - position))
  return {
    path: file.path,
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    readAt: (target, position, length) => file.readAt(target, position, lengthAt(position, length)),
    sync: () => file.sync(),
    size: () => Math.min(end, file.size()),
    truncate: (length) => file.truncate(length),
    seal: () => file.seal(),
    close: () => file.close(),
    writeAtAsync: (bytes, position) => file.writeAtAsync(bytes, position),
    readAtAsync: (target, position, length) => file.readAtAsync(target, position, lengthAt(position, length)),
    syncAsync: () => file.syncAsync(),
    closeAsync: () => file.closeAsync(),
  }
}
