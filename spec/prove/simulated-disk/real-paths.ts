/** What LMDB opens by its path, bypassing any `Disk`: directories that are real, and what is in them. */
import { basename, dirname } from 'node:path'

const DIRECTORIES = new Set(
  ['', '-check', '-rebuild', '-restore', '-follower', '-next', '-replaced'].map((suffix) => `projections${suffix}`),
)
/** Files that say what became of a start that made projections. */
const SMALL_FILES = new Set(['made', 'made-making', 'lot', 'lot-making'])

/** Whether a path is a directory of projections of a disk. @param root of the disk */
export function isProjections(root: string, path: string): boolean {
  return dirname(path) === root && DIRECTORIES.has(basename(path))
}

export function isSmallFile(root: string, path: string): boolean {
  return isProjections(root, dirname(path)) && SMALL_FILES.has(basename(path))
}
