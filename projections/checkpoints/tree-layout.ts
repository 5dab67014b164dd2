import type { TreeName } from '../../engine/checkpoints/row-hashing.ts'
import { BUNDLE_HASHING, LOG_HASHING, type TreeHashing } from '../../engine/checkpoints/tree-hashing.ts'

/** Hashes of one tile (C2SP tlog-tiles). */
export const TILE_WIDTH = 256
export const TILE_HEIGHT = 8
/** Tiles of 256 hashes over tiles: 2^48 records. */
export const LEVELS = 5

/** The two trees. */
export const HASHINGS: Readonly<Record<TreeName, TreeHashing>> = { log: LOG_HASHING, bundle: BUNDLE_HASHING }
export const TREE_NAMES: readonly TreeName[] = ['log', 'bundle']

export const RECORD_HASHES = 'record-hashes'

/** The file of a level: hashes of all records, which both trees share, or roots of the complete tiles of the level below. */
export function levelFile(tree: TreeName, level: number): string {
  return level === 0 ? RECORD_HASHES : `${tree}-${level}`
}
