/**
 * The two trees over record hashes: every size up to 130, against a recursion written from the RFC alone.
 * Proves: RES-TRE-01, RES-TRE-02, RES-TRE-03, RES-TRE-07, RES-TRE-08.
 */
import { createHash } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import * as fc from 'fast-check'
import { test } from 'tap'
import { leafHash, pathSides, rootOfPath } from '../../engine/proof/merkle.ts'
import { BUNDLE_HASHING, LOG_HASHING, type TreeHashing } from '../../engine/checkpoints/tree-hashing.ts'
import {
  consistencyPath,
  inclusionPath,
  isConsistent,
  rootOfInclusion,
  type TreeNodes,
  treeRoot,
} from '../../engine/checkpoints/tree-shape.ts'

const SIZE_MAXIMUM = 130
const DOMAIN = 'object-store/audit-merkle/v1'

function digest(...parts: readonly (string | Uint8Array)[]): Buffer {
  const state = createHash('sha256')
  for (const part of parts) state.update(part)
  return state.digest()
}

/** RFC 6962 section 2.1, and the specification's hashes, in their own words. */
const NAIVE = {
  log: {
    leaf: (hash: Uint8Array) => digest(Uint8Array.of(0), hash),
    node: (left: Uint8Array, right: Uint8Array) => digest(Uint8Array.of(1), left, right),
    root: (apex: Buffer) => apex,
  },
  bundle: {
    leaf: (hash: Uint8Array) => digest(DOMAIN, Uint8Array.of(0), hash),
    node: (left: Uint8Array, right: Uint8Array) => digest(DOMAIN, Uint8Array.of(1), left, right),
    root: (apex: Buffer) => digest(DOMAIN, Uint8Array.of(2), apex),
  },
}
type Naive = (typeof NAIVE)['log']

function naiveApex(naive: Naive, hashes: readonly Uint8Array[]): Buffer {
  if (hashes.length === 1) return naive.leaf(hashes[0] as Uint8Array)
  let split = 1
  while (split * 2 < hashes.length) split *= 2
  return naive.node(naiveApex(naive, hashes.slice(0, split)), naiveApex(naive, hashes.slice(split)))
}

/** The specification's own words: pairs from left to right at each level, and an odd node goes up unchanged. */
function pairedApex(naive: Naive, hashes: readonly Uint8Array[]): Buffer {
  let level = hashes.map((hash) => naive.leaf(hash))
  while (level.length > 1) {
    const above: Buffer[] = []
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at] as Buffer, level[at + 1]]
      above.push(right === undefined ? left : naive.node(left, right))
    }
    level = above
  }
  return level[0] as Buffer
}

function recordHashes(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => digest(`record ${index}`))
}

function nodesOf(hashing: TreeHashing, naive: Naive, hashes: readonly Uint8Array[]): TreeNodes {
  const known = new Map<string, Buffer>()
  const node = (height: number, index: number): Buffer => {
    const width = 2 ** height
    const name = `${height} ${index}`
    const found = known.get(name)
    if (found !== undefined) return found
    if ((index + 1) * width > hashes.length) throw new Error(`no complete subtree ${height} ${index}`)
    const made = naiveApex(naive, hashes.slice(index * width, (index + 1) * width))
    known.set(name, made)
    return made
  }
  return { hashing, node }
}

const ALL = recordHashes(SIZE_MAXIMUM)
const TREES = [
  ['log', LOG_HASHING],
  ['bundle', BUNDLE_HASHING],
] as const

for (const [name, hashing] of TREES) {
  const naive = NAIVE[name]

  test(`T1 ${name}: the root of every size up to ${SIZE_MAXIMUM}, and the same shape from both descriptions`, async (t) => {
    const nodes = nodesOf(hashing, naive, ALL)
    for (let size = 1; size <= SIZE_MAXIMUM; size += 1) {
      const apex = naiveApex(naive, ALL.slice(0, size))
      t.same(apex, pairedApex(naive, ALL.slice(0, size)), `shapes of ${size}`)
      t.same(treeRoot(nodes, size), naive.root(apex), `root of ${size}`)
    }
  })

  test(`T6 ${name}: every inclusion path up to ${SIZE_MAXIMUM} leads to the root, and to no other`, async (t) => {
    const nodes = nodesOf(hashing, naive, ALL)
    let wrong = 0
    for (let size = 1; size <= SIZE_MAXIMUM; size += 1) {
      const root = treeRoot(nodes, size)
      for (let index = 0; index < size; index += 1) {
        const path = inclusionPath(nodes, index, size)
        const leaf = ALL[index] as Buffer
        if (rootOfInclusion(hashing, leaf, index, size, path)?.equals(root) !== true) wrong += 1
        if (rootOfInclusion(hashing, leaf, index, size, path.slice(1))?.equals(root) === true && size > 1) wrong += 1
        if (rootOfInclusion(hashing, leaf, index, size, [...path, root]) !== undefined) wrong += 1
        if (size > 1 && rootOfInclusion(hashing, leaf, (index + 1) % size, size, path)?.equals(root) === true)
          wrong += 1
      }
    }
    t.equal(wrong, 0)
  })

  test(`${name}: what does not exist is refused`, async (t) => {
    const nodes = nodesOf(hashing, naive, ALL)
    t.throws(() => treeRoot(nodes, 0), { name: 'RangeError' })
    for (const [index, size] of [
      [3, 3],
      [-1, 3],
      [0, 0],
      [0.5, 3],
    ] as const) {
      t.throws(() => inclusionPath(nodes, index, size), { name: 'RangeError' })
    }
    for (const [old, size] of [
      [0, 3],
      [4, 3],
      [1.5, 3],
    ] as const) {
      t.throws(() => consistencyPath(nodes, old, size), { name: 'RangeError' })
    }
    t.equal(rootOfInclusion(hashing, ALL[0] as Buffer, 3, 3, []), undefined)
  })
}

test('the paths of the tree of bundles are those that the verifier of bundles takes', async (t) => {
  const nodes = nodesOf(BUNDLE_HASHING, NAIVE.bundle, ALL)
  for (const size of [1, 2, 3, 7, 8, 9, 63, 64, 65, 130]) {
    const root = treeRoot(nodes, size)
    for (let index = 0; index < size; index += 1) {
      const sides = pathSides(index, size)
      const steps = inclusionPath(nodes, index, size).map((hash, at) => ({
        side: sides[at] ?? 'left',
        hash: hash.toString('hex'),
      }))
      const found = rootOfPath(leafHash(ALL[index] as Buffer), index, size, steps)
      if (found === undefined || bytesToHex(found) !== root.toString('hex')) t.fail(`leaf ${index} of ${size}`)
    }
  }
  t.pass('all of them')
})

test(`T6 every pair of sizes up to ${SIZE_MAXIMUM} has a proof of consistency, which holds for no other root`, async (t) => {
  const nodes = nodesOf(LOG_HASHING, NAIVE.log, ALL)
  const roots = [Buffer.alloc(32), ...ALL.map((_, index) => treeRoot(nodes, index + 1))]
  const other = digest('another tree')
  let wrong = 0
  for (let size = 1; size <= SIZE_MAXIMUM; size += 1) {
    const now = { size, root: roots[size] as Buffer }
    for (let old = 1; old <= size; old += 1) {
      const path = consistencyPath(nodes, old, size)
      const before = { size: old, root: roots[old] as Buffer }
      if (!isConsistent(LOG_HASHING, before, now, path)) wrong += 1
      if (isConsistent(LOG_HASHING, { size: old, root: other }, now, path)) wrong += 1
      if (isConsistent(LOG_HASHING, before, { size, root: other }, path)) wrong += 1
      if (isConsistent(LOG_HASHING, before, now, [...path, other])) wrong += 1
      if (path.length > 0 && isConsistent(LOG_HASHING, before, now, path.slice(1))) wrong += 1
      if (old < size && isConsistent(LOG_HASHING, now, before, path)) wrong += 1
    }
  }
  t.equal(wrong, 0)
  t.notOk(isConsistent(LOG_HASHING, { size: 0, root: other }, { size: 1, root: roots[1] as Buffer }, []))
})

test('T6 a proof with one bit changed proves nothing', async () => {
  const nodes = nodesOf(LOG_HASHING, NAIVE.log, ALL)
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: SIZE_MAXIMUM }),
      fc.nat(),
      fc.nat({ max: 255 }),
      fc.boolean(),
      (size, pick, bit, isInclusion) => {
        const root = treeRoot(nodes, size)
        const index = pick % (size - 1)
        const path = isInclusion ? inclusionPath(nodes, index, size) : consistencyPath(nodes, index + 1, size)
        const flipped = path.map((hash) => Buffer.from(hash))
        const target = flipped[pick % flipped.length] as Buffer
        target[Math.floor(bit / 8)]! ^= 1 << (bit % 8)
        if (isInclusion) {
          return rootOfInclusion(LOG_HASHING, ALL[index] as Buffer, index, size, flipped)?.equals(root) !== true
        }
        const before = { size: index + 1, root: treeRoot(nodes, index + 1) }
        return !isConsistent(LOG_HASHING, before, { size, root }, flipped)
      },
    ),
  )
})
