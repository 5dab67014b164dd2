/**
 * Roots and proofs of a tree, from the roots of its complete subtrees. RFC 6962 splits at the largest power of two, and the
 * specification promotes an odd node: both give one shape, so this serves both trees.
 */
import type { TreeHashing } from './tree-hashing.ts'

/** A tree whose complete subtrees are known. */
export interface TreeNodes {
  readonly hashing: TreeHashing
  /** The apex over the leaves from `index * 2^height`, `2^height` of them. */
  node(height: number, index: number): Buffer
}

/** The published root of the first `size` leaves. @throws RangeError for an empty tree */
export function treeRoot(nodes: TreeNodes, size: number): Buffer {
  return nodes.hashing.root(apexOf(nodes, 0, size))
}

/** The largest power of two below `count`, which is 2 or more. */
function splitOf(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

/** `start` is a multiple of the smallest power of two that is not below `count`, as it is wherever RFC 6962 leads. */
function apexOf(nodes: TreeNodes, start: number, count: number): Buffer {
  if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`a tree of ${count} leaves has no root`)
  const height = Math.ceil(Math.log2(count))
  if (2 ** height === count) return nodes.node(height, start / count)
  const split = splitOf(count)
  return nodes.hashing.node(apexOf(nodes, start, split), apexOf(nodes, start + split, count - split))
}

/** The siblings on the way from a leaf to the apex: RFC 6962 section 2.1.1. */
export function inclusionPath(nodes: TreeNodes, index: number, size: number): Buffer[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new RangeError(`leaf ${index} is not in a tree of ${size}`)
  }
  const path: Buffer[] = []
  let [start, count] = [0, size]
  while (count > 1) {
    const split = splitOf(count)
    if (index < start + split) {
      path.push(apexOf(nodes, start + split, count - split))
      count = split
    } else {
      path.push(apexOf(nodes, start, split))
      start += split
      count -= split
    }
  }
  return path.toReversed()
}

/** Proof that the tree of `old` leaves is the start of the tree of `size` leaves: RFC 6962 section 2.1.2. */
export function consistencyPath(nodes: TreeNodes, old: number, size: number): Buffer[] {
  if (!Number.isSafeInteger(old) || old < 1 || old > size) {
    throw new RangeError(`a tree of ${size} leaves does not extend one of ${old}`)
  }
  const path: Buffer[] = []
  let [start, count, rest, isWhole] = [0, size, old, true]
  while (rest < count) {
    const split = splitOf(count)
    if (rest <= split) {
      path.push(apexOf(nodes, start + split, count - split))
      count = split
    } else {
      path.push(apexOf(nodes, start, split))
      start += split
      count -= split
      rest -= split
      isWhole = false
    }
  }
  if (!isWhole) path.push(apexOf(nodes, start, count))
  return path.toReversed()
}

/** The root that a path leads to from a leaf; undefined when it has not the length of one: RFC 9162 section 2.1.3.2. */
export function rootOfInclusion(
  hashing: TreeHashing,
  recordHash: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Buffer | undefined {
  return index < size ? rootFromNode(hashing, hashing.leaf(recordHash), { height: 0, index }, size, path) : undefined
}

/** The same from the apex of a complete subtree: of `2^height` leaves, from `index * 2^height` on. */
export function rootFromNode(
  hashing: TreeHashing,
  node: Buffer,
  { height, index }: { readonly height: number; readonly index: number },
  size: number,
  path: readonly Uint8Array[],
): Buffer | undefined {
  let apex = node
  let [position, last, used] = [index, Math.floor((size - 1) / 2 ** height), 0]
  while (last > 0) {
    const isRight = position % 2 === 1
    if (isRight || position < last) {
      const sibling = path[used]
      if (sibling === undefined) return undefined
      apex = isRight ? hashing.node(sibling, apex) : hashing.node(apex, sibling)
      used += 1
    }
    position = Math.floor(position / 2)
    last = Math.floor(last / 2)
  }
  return used === path.length ? hashing.root(apex) : undefined
}

/**
 * Whether the tree of `size` with this root extends the tree of `old`: RFC 9162 section 2.1.4.2. For hashings without a
 * hashed root.
 */
export function isConsistent(
  hashing: TreeHashing,
  old: { readonly size: number; readonly root: Uint8Array },
  { size, root }: { readonly size: number; readonly root: Uint8Array },
  path: readonly Uint8Array[],
): boolean {
  if (old.size < 1 || old.size > size) return false
  if (old.size === size) return path.length === 0 && Buffer.compare(old.root, root) === 0
  let [position, last] = [old.size - 1, size - 1]
  while (position % 2 === 1) [position, last] = [Math.floor(position / 2), Math.floor(last / 2)]
  const rest = [...path]
  const begin = position === 0 ? old.root : rest.shift()
  if (begin === undefined) return false
  let before: Uint8Array = begin
  let after: Uint8Array = begin
  for (const sibling of rest) {
    if (last === 0) return false
    if (position % 2 === 1 || position === last) {
      before = hashing.node(sibling, before)
      after = hashing.node(sibling, after)
      while (position % 2 === 0 && position !== 0) [position, last] = [Math.floor(position / 2), Math.floor(last / 2)]
    } else {
      after = hashing.node(after, sibling)
    }
    ;[position, last] = [Math.floor(position / 2), Math.floor(last / 2)]
  }
  return last === 0 && Buffer.compare(before, old.root) === 0 && Buffer.compare(after, root) === 0
}
