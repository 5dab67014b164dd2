/** The tree over the records of a checkpoint: specification, "Merkle construction". Every hash is 32 bytes. */
import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import type { PathStep } from './bundle-types.ts'

export const MERKLE_DOMAIN = new TextEncoder().encode('object-store/audit-merkle/v1')
/** The byte after the domain. RFC 6962 has the first two as well. */
export const MERKLE_PREFIX = { leaf: 0, node: 1, root: 2 } as const

function taggedHash(prefix: number, ...inputs: readonly Uint8Array[]): Uint8Array {
  const state = sha256.create().update(MERKLE_DOMAIN).update(Uint8Array.of(prefix))
  for (const input of inputs) state.update(input)
  return state.digest()
}

/** `recordHash`: the 32 bytes, not their hexadecimal text. */
export function leafHash(recordHash: Uint8Array): Uint8Array {
  return taggedHash(MERKLE_PREFIX.leaf, recordHash)
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return taggedHash(MERKLE_PREFIX.node, left, right)
}

/** A tree of one leaf has its leaf as apex. */
function rootHash(apex: Uint8Array): Uint8Array {
  return taggedHash(MERKLE_PREFIX.root, apex)
}

/**
 * The sides of the siblings on the way from a leaf to the apex. An odd node at the end of a level moves up unchanged,
 * without a step.
 */
export function pathSides(index: number, leafCount: number): PathStep['side'][] {
  const sides: PathStep['side'][] = []
  let [position, nodes] = [index, leafCount]
  while (nodes > 1) {
    const isPromoted = position === nodes - 1 && nodes % 2 === 1
    if (!isPromoted) sides.push(position % 2 === 1 ? 'left' : 'right')
    position = Math.floor(position / 2)
    nodes = Math.ceil(nodes / 2)
  }
  return sides
}

/**
 * The root that a path leads to from a leaf; undefined when it is not a path of that leaf in a tree of `leafCount` leaves.
 * The specification checks only its length; the sides are checked too, since nothing else verifies the index.
 */
export function rootOfPath(
  leaf: Uint8Array,
  index: number,
  leafCount: number,
  steps: readonly PathStep[],
): Uint8Array | undefined {
  if (index >= leafCount) return undefined
  const sides = pathSides(index, leafCount)
  if (steps.length !== sides.length || steps.some(({ side }, at) => side !== sides[at])) return undefined
  let current = leaf
  for (const { side, hash } of steps) {
    const sibling = hexToBytes(hash)
    current = side === 'left' ? nodeHash(sibling, current) : nodeHash(current, sibling)
  }
  return rootHash(current)
}
