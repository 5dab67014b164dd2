import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { HASH_BYTES } from '../../engine/journal/format.ts'
import { TreeGrower, type JournalLimit } from './grow-trees.ts'
import { TREE_FILES, TREE_PIECE_BYTES, TreeFiles, treesIn } from './tree-files.ts'

/** Makes the trees in an empty directory of projections, up to the limit, and syncs them. @throws JournalDamagedError */
export function buildTrees(disk: Disk, paths: StorePaths, projections: string, limit: JournalLimit): void {
  const trees = TreeFiles.openToWrite(disk, treesIn(projections))
  try {
    const grower = new TreeGrower(disk, paths, trees)
    while (!grower.step(limit));
    trees.sync()
  } finally {
    trees.close()
  }
}

/** A hash of the trees that differs from the journal's; undefined: it is missing. */
export interface TreeDifference {
  readonly file: string
  readonly index: number
  readonly stored: Buffer
  readonly expected: Buffer | undefined
}

/**
 * Compares trees with others that cover as much or more. The trees may be behind the journal, which they follow.
 * @returns hashes compared
 */
export function compareTrees(
  disk: Disk,
  stored: string,
  expected: string,
  onDifference: (difference: TreeDifference) => void,
): number {
  return TREE_FILES.reduce(
    (hashes, { name }) =>
      hashes + compareFiles(disk, join(treesIn(stored), name), join(treesIn(expected), name), name, onDifference),
    0,
  )
}

function compareFiles(
  disk: Disk,
  stored: string,
  expected: string,
  file: string,
  onDifference: (difference: TreeDifference) => void,
): number {
  if (!disk.exists(stored)) return 0
  const [left, right] = [disk.openToRead(stored), disk.openToRead(expected)]
  try {
    const [here, there] = [Buffer.alloc(TREE_PIECE_BYTES), Buffer.alloc(TREE_PIECE_BYTES)]
    const hashes = Math.ceil(left.size() / HASH_BYTES)
    for (let at = 0; at < hashes * HASH_BYTES; at += TREE_PIECE_BYTES) {
      const found = here.subarray(0, left.readAt(here, at, TREE_PIECE_BYTES))
      const wanted = there.subarray(0, right.readAt(there, at, TREE_PIECE_BYTES))
      for (let hash = 0; hash < found.length; hash += HASH_BYTES) {
        const one = found.subarray(hash, hash + HASH_BYTES)
        const other = wanted.subarray(hash, hash + HASH_BYTES)
        if (one.equals(other)) continue
        onDifference({
          file,
          index: (at + hash) / HASH_BYTES,
          stored: one,
          expected: other.length > 0 ? other : undefined,
        })
      }
    }
    return hashes
  } finally {
    left.close()
    right.close()
  }
}
