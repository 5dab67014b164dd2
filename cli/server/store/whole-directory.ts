import { join } from 'node:path'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'

/** A directory has the files of a store, and must not be opened as one. */
export class NotAStoreError extends Error {
  override readonly name = 'NotAStoreError'
}

/** Where a restore builds the journal; it is moved to its place when everything else is complete. */
export function journalBeingRestored({ restoring }: StorePaths): string {
  return join(restoring, 'journal')
}

/**
 * Refuses a backup, which a server would change, and the remains of an unfinished restore. Removes the remains of a
 * restore that was killed after its end.
 * @throws NotAStoreError
 */
export function requireWhole(disk: Disk, paths: StorePaths): void {
  if (disk.exists(paths.backupMark)) {
    throw new NotAStoreError(`${paths.root} is a backup: restore it with "object-store restore" into another directory`)
  }
  if (disk.exists(journalBeingRestored(paths))) {
    throw new NotAStoreError(`a restore into ${paths.root} did not finish: remove the directory and restore again`)
  }
  if (disk.exists(paths.restoring)) disk.removeTree(paths.restoring)
}
