import { chownSync, statSync } from 'node:fs'

/** Gives a file that root made in a directory to the owner of the directory: the server may run as that user. */
export function giveToOwnerOf(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return
  // A disk of a spec has no directory on the file system, and no owners.
  const owner = statSync(directory, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) chownSync(path, owner.uid, owner.gid)
}
