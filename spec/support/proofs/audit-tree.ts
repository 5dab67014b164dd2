/**
 * The Merkle tree of a checkpoint by the recursive definition of RFC 6962 section 2.1, with node:crypto: a second way to
 * the tree that the verifier walks level by level with other hashes.
 */
import { createHash } from 'node:crypto'
import type { PathStep } from '../../../engine/proof/bundle-types.ts'

function tagged(prefix: number, ...inputs: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256').update('object-store/audit-merkle/v1').update(Uint8Array.of(prefix))
  for (const input of inputs) hash.update(input)
  return hash.digest()
}

/** The largest power of two that is less than the count of leaves. */
function split(leaves: number): number {
  let left = 1
  while (left * 2 < leaves) left *= 2
  return left
}

function apex(recordHashes: readonly Buffer[]): Buffer {
  const [only] = recordHashes
  if (only === undefined) throw new Error('a tree has a leaf')
  if (recordHashes.length === 1) return tagged(0, only)
  const left = split(recordHashes.length)
  return tagged(1, apex(recordHashes.slice(0, left)), apex(recordHashes.slice(left)))
}

/** The root over the hashes of records, in hexadecimal. */
export function treeRoot(recordHashes: readonly Buffer[]): string {
  return tagged(2, apex(recordHashes)).toString('hex')
}

/** The inclusion path of the record at an index. */
export function treePath(recordHashes: readonly Buffer[], index: number): PathStep[] {
  if (recordHashes.length === 1) return []
  const left = split(recordHashes.length)
  const [before, behind] = [recordHashes.slice(0, left), recordHashes.slice(left)]
  return index < left
    ? [...treePath(before, index), { side: 'right', hash: apex(behind).toString('hex') }]
    : [...treePath(behind, index - left), { side: 'left', hash: apex(before).toString('hex') }]
}
