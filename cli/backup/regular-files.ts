import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ExitError } from '../exit-codes.ts'

/**
 * A disk that opens regular files for reading and nothing else: the backup is not trusted, and a pipe would block, a
 * device be read and a link be followed.
 */
export function regularFilesOf(disk: Disk): Disk {
  return {
    ...disk,
    openToRead: (path) => {
      requireRegular(path)
      return disk.openToRead(path)
    },
    openToReadAsync: (path) => {
      requireRegular(path)
      return disk.openToReadAsync(path)
    },
  }
}

/**
 * Checks the files that are opened without a `Disk`: the journal, whose verifier opens it by itself. @throws ExitError
 * `storeDamaged`
 */
export function requireRegularJournal({ root, journal }: StorePaths): void {
  for (const directory of [journal, join(root, 'manifests')]) {
    const found = lstatSync(directory, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (!found.isDirectory()) throw new ExitError('storeDamaged', `${directory} is not a directory`)
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isFile() && !entry.isDirectory()) requireRegular(join(directory, entry.name))
    }
  }
}

/** A file that is not there is for the disk to report. @throws ExitError `storeDamaged` */
function requireRegular(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) {
    throw new ExitError('storeDamaged', `${path} is not a regular file; a backup has nothing else`)
  }
}
