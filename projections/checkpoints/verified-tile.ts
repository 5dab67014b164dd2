import { HASH_BYTES, LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { inclusionPath, rootFromNode } from '../../engine/checkpoints/tree-shape.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { type TreeFiles, TreesDamagedError } from './tree-files.ts'
import { TILE_HEIGHT, TILE_WIDTH } from './tree-layout.ts'

/** A tile of the log, of which a checkpoint has at least `width` hashes. */
interface LogTile {
  readonly level: number
  readonly index: number
  readonly width: number
}

/**
 * The hashes of a tile, checked against the signed root: a client with a wrong tile must think that the log has forked,
 * and keeps it for ever.
 * @throws TreesDamagedError
 */
export function verifiedEntries(
  trees: TreeFiles,
  { size, root }: Pick<CheckpointState, 'size' | 'root'>,
  { level, index, width }: LogTile,
): Buffer[] {
  const height = level * TILE_HEIGHT
  const first = index * TILE_WIDTH
  const nodes = trees.tree('log')
  const entries = Array.from({ length: width }, (_, at) => nodes.node(height, first + at))
  // The path from the first hash passes every other hash of the tile that the checkpoint covers. The steps inside its subtree fall off.
  const path = inclusionPath(nodes, first * 2 ** height, size).slice(height)
  const found = rootFromNode(LOG_HASHING, entries[0] as Buffer, { height, index: first }, size, path)
  if (found?.equals(root) === true) return entries
  throw new TreesDamagedError(`tile ${index} of level ${level} does not lead to the root that was signed`)
}

/** The record hashes of which a tile has the leaf hashes. @throws TreesDamagedError */
export function recordsOf(trees: TreeFiles, leaves: readonly Buffer[], index: number): Buffer {
  const hashes = trees.recordHashes(index * TILE_WIDTH, leaves.length)
  for (const [at, leaf] of leaves.entries()) {
    if (LOG_HASHING.leaf(hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)).equals(leaf)) continue
    throw new TreesDamagedError(`the hash of record ${index * TILE_WIDTH + at} changed while it was read`)
  }
  return hashes
}
