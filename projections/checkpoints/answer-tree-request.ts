import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { inclusionPath, rootOfInclusion, treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { OtherTreesError, TreeGrower } from './grow-trees.ts'
import { type MendReport, TreeMending } from './mend-trees.ts'
import { TreeFiles, TreesDamagedError, treesIn } from './tree-files.ts'
import type { TreeReport, TreeRequest, TreeRoots } from './tree-thread-handle.ts'

/** The trees of a store, opened to be written. */
export interface OpenTrees {
  readonly trees: TreeFiles
  readonly grower: TreeGrower
  readonly mending: TreeMending
}

export function openTrees(disk: Disk, paths: StorePaths): OpenTrees {
  const trees = TreeFiles.openToWrite(disk, treesIn(paths.projections))
  return { trees, grower: new TreeGrower(disk, paths, trees), mending: new TreeMending(disk, paths, trees) }
}

/**
 * Grows the trees by a piece, and returns what a checkpoint needs when they have reached the limit. Its roots follow
 * from the previous checkpoint and from records that this process read in the journal, and not from files that may have
 * been changed.
 */
export function answerTreeRequest({ trees, grower, mending }: OpenTrees, request: TreeRequest): TreeReport {
  const { limit, isDue, previous, mends } = request
  let mended: MendReport | undefined
  try {
    grower.beginAfter(previous?.size ?? 0)
    const isAtLimit = grower.step(limit)
    mended = mends && isAtLimit ? mending.step(limit) : undefined
    const due = isAtLimit && isDue ? dueReport(trees, grower, request) : undefined
    return { size: trees.size, isAtLimit, discarded: undefined, mended, due }
  } catch (error) {
    if (!(error instanceof OtherTreesError)) throw error
    return { size: trees.size, isAtLimit: false, discarded: error.message, mended, due: undefined }
  }
}

/** @throws OtherTreesError when the trees were damaged, and start over */
function dueReport(trees: TreeFiles, grower: TreeGrower, { previous, wanted }: TreeRequest): TreeReport['due'] {
  const [root, bundleRoot] = [trees.rootInMemory('log'), trees.rootInMemory('bundle')]
  try {
    if (previous !== undefined) requireExtended(trees, previous)
    const hashes = wanted.map((sequence) => Uint8Array.from(provenHash(trees, root, sequence)))
    const roots = { size: trees.size, root: Uint8Array.from(root), bundleRoot: Uint8Array.from(bundleRoot) }
    return { roots, extendsPrevious: true, hashes }
  } catch (error) {
    if (!(error instanceof TreesDamagedError)) throw error
    grower.doubt(previous?.size ?? 0)
    return { roots: { size: trees.size, root, bundleRoot }, extendsPrevious: false, hashes: [] }
  }
}

function requireExtended(trees: TreeFiles, { size, root, bundleRoot }: TreeRoots): void {
  const isExtended =
    size <= trees.size &&
    treeRoot(trees.tree('log'), size).equals(root) &&
    treeRoot(trees.tree('bundle'), size).equals(bundleRoot)
  if (!isExtended) throw new TreesDamagedError(`the trees do not lead to the checkpoint of ${size} records`)
}

function provenHash(trees: TreeFiles, root: Buffer, sequence: number): Buffer {
  const hash = trees.recordHash(sequence)
  const path = inclusionPath(trees.tree('log'), sequence, trees.size)
  if (rootOfInclusion(LOG_HASHING, hash, sequence, trees.size, path)?.equals(root) === true) return hash
  throw new TreesDamagedError(`the trees on the disk do not have the hash of record ${sequence}`)
}
