import { HASH_BYTES, type TreeHasher } from './tree-hasher.ts'

/** The top nodes of complete subtrees over neighbouring leaves, from left to right. Plain data: it comes from worker threads. */
export interface RangeNodes {
  readonly begin: number
  readonly end: number
  /** Of each node: it covers 2 to this power leaves, and starts at a multiple of that. */
  readonly heights: readonly number[]
  /** 32 bytes each. */
  readonly hashes: Uint8Array
}

/** Twice the height of the highest tree: a range that starts in the middle rises and falls. */
const NODES_MAXIMUM = 128

/**
 * The part of a tree that depends on the leaves of a range alone: the fewest complete subtrees that cover it. Adjacent
 * ranges join, so every segment can be hashed by itself.
 */
export class CompactRange {
  readonly #hasher: TreeHasher
  #begin: number
  #end: number
  #count = 0
  readonly #heights = new Uint8Array(NODES_MAXIMUM)
  readonly #hashes = new Uint8Array(NODES_MAXIMUM * HASH_BYTES)
  /** Views of `#hashes`: each place, and each pair of places. */
  readonly #places: readonly Uint8Array[]
  readonly #pairs: readonly Uint8Array[]

  constructor(hasher: TreeHasher, begin: number) {
    this.#hasher = hasher
    this.#begin = begin
    this.#end = begin
    const view = (places: number) => (_: unknown, at: number) =>
      this.#hashes.subarray(at * HASH_BYTES, (at + places) * HASH_BYTES)
    this.#places = Array.from({ length: NODES_MAXIMUM }, view(1))
    this.#pairs = Array.from({ length: NODES_MAXIMUM }, view(2))
  }

  /** Adds the next leaf. @param recordHash 32 bytes */
  append(recordHash: Uint8Array): void {
    this.#hasher.leaf(recordHash, this.#places[this.#count] as Uint8Array)
    this.#push(0)
  }

  /** Adds the range that follows. */
  extend({ heights, hashes }: RangeNodes): void {
    for (const [at, height] of heights.entries()) {
      this.#places[this.#count]?.set(hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
      this.#push(height)
    }
  }

  /** A copy of the range so far. */
  nodes(): RangeNodes {
    return {
      begin: this.#begin,
      end: this.#end,
      heights: Array.from(this.#heights.subarray(0, this.#count)),
      hashes: this.#hashes.slice(0, this.#count * HASH_BYTES),
    }
  }

  /** Returns the range so far; the rest continues after it. */
  take(): RangeNodes {
    const nodes = this.nodes()
    this.#begin = this.#end
    this.#count = 0
    return nodes
  }

  /** Leaves before the end. */
  get end(): number {
    return this.#end
  }

  /** The root of the tree, in hexadecimal, for a range that starts with the first leaf and is not empty. */
  root(): string {
    const pair = new Uint8Array(2 * HASH_BYTES)
    const apex = pair.subarray(HASH_BYTES)
    apex.set(this.#places[this.#count - 1] as Uint8Array)
    for (let at = this.#count - 2; at >= 0; at -= 1) {
      pair.set(this.#places[at] as Uint8Array)
      this.#hasher.node(pair, apex)
    }
    return this.#hasher.root(apex)
  }

  /** Takes the node in the next place, and joins complete subtrees. */
  #push(height: number): void {
    let start = this.#end
    let joined = height
    this.#end += 2 ** height
    while (this.#count > 0 && this.#heights[this.#count - 1] === joined) {
      const before = start - 2 ** joined
      if (before % 2 ** (joined + 1) !== 0) break
      this.#count -= 1
      this.#hasher.node(this.#pairs[this.#count] as Uint8Array, this.#places[this.#count] as Uint8Array)
      start = before
      joined += 1
    }
    this.#heights[this.#count] = joined
    this.#count += 1
  }
}
