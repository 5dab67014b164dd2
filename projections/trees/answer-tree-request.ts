import { treeRoot } from '../../engine/transparency/tree-shape.ts'
import { OtherTreesError, type TreeGrower } from './grow-trees.ts'
import type { TreeFiles } from './tree-files.ts'
import type { TreeReport, TreeRequest, TreeRoots } from './tree-thread-handle.ts'

/** Grows the trees by a piece, and tells what a checkpoint needs when they have come to the limit. */
export function answerTreeRequest(trees: TreeFiles, grower: TreeGrower, request: TreeRequest): TreeReport {
  try {
    const isAtLimit = grower.step(request.limit)
    const due = isAtLimit && request.isDue ? dueReport(trees, request) : undefined
    return { size: trees.size, isAtLimit, discarded: undefined, due }
  } catch (error) {
    if (!(error instanceof OtherTreesError)) throw error
    return { size: trees.size, isAtLimit: false, discarded: error.message, due: undefined }
  }
}

function dueReport(trees: TreeFiles, { previous, wanted }: TreeRequest): TreeReport['due'] {
  return {
    roots: rootsOf(trees, trees.size),
    extendsPrevious: previous === undefined || extendsTrees(trees, previous),
    hashes: wanted.map((sequence) => Uint8Array.from(trees.recordHash(sequence))),
  }
}

function extendsTrees(trees: TreeFiles, previous: TreeRoots): boolean {
  if (previous.size > trees.size) return false
  const { root, bundleRoot } = rootsOf(trees, previous.size)
  return Buffer.compare(root, previous.root) === 0 && Buffer.compare(bundleRoot, previous.bundleRoot) === 0
}

function rootsOf(trees: TreeFiles, size: number): TreeRoots {
  const [root, bundleRoot] = [treeRoot(trees.tree('log'), size), treeRoot(trees.tree('bundle'), size)]
  return { size, root: Uint8Array.from(root), bundleRoot: Uint8Array.from(bundleRoot) }
}
