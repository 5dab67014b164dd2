import { statSync } from 'node:fs'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'

/** Uploads and payload files are on different file systems. */
class SplitStoreError extends Error {
  override readonly name = 'SplitStoreError'
}

/**
 * A payload is renamed into place, which is impossible between two file systems.
 * @returns false while the store has no such directories yet
 * @throws SplitStoreError
 */
export function isOnOneFileSystem({ uploads, files }: StorePaths): boolean {
  const devices = [uploads, files].flatMap((path) => statSync(path, { throwIfNoEntry: false })?.dev ?? [])
  if (devices.length < 2) return false
  if (devices[0] === devices[1]) return true
  throw new SplitStoreError(`${uploads} and ${files} are on different file systems; no upload could be stored`)
}
