import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { HASH_BYTES } from '../../engine/journal/format.ts'
import { type GrowingTrees, type JournalLimit, TreeGrower } from './grow-trees.ts'
import type { TreeFiles } from './tree-files.ts'
import { TreeTails } from './tree-tails.ts'

/** What a comparison of the trees with the journal came to. */
export interface MendReport {
  /** Records of the journal that were compared. */
  readonly records: number
  /** Hashes that differed, and were written again. */
  readonly hashes: number
  /** Why the comparison ended before the end of the trees. */
  readonly failure: string | undefined
}

interface Comparison {
  readonly compared: ComparedTrees
  readonly grower: TreeGrower
}

/**
 * Compares trees with the journal, from its first record on, and writes again what differs. Readers use the trees
 * meanwhile, and their writer, in the same thread, extends them: each hash is right before or after this.
 */
export class TreeMending {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #trees: TreeFiles
  #running: Comparison | undefined

  constructor(disk: Disk, paths: StorePaths, trees: TreeFiles) {
    this.#disk = disk
    this.#paths = paths
    this.#trees = trees
  }

  /**
   * Compares the records of a segment, from the first record on when the comparison before has ended. Never fails.
   * @returns undefined while there are more
   */
  step(limit: JournalLimit): MendReport | undefined {
    const { compared, grower } = (this.#running ??= this.#begin())
    try {
      grower.step(limit)
      if (compared.size < this.#trees.size) return undefined
      return this.#end(compared, undefined)
    } catch (error) {
      // Signing does not wait for old records that cannot be read.
      return this.#end(compared, (error as Error).message)
    }
  }

  #begin(): Comparison {
    // A file that was removed, or put back, is another file than the open one.
    this.#trees.reopen()
    const compared = new ComparedTrees(this.#trees)
    return { compared, grower: new TreeGrower(this.#disk, this.#paths, compared) }
  }

  #end({ size, differing }: ComparedTrees, failure: string | undefined): MendReport {
    this.#running = undefined
    return { records: Math.min(size, this.#trees.size), hashes: differing, failure }
  }
}

/** Takes the hashes of the journal as trees that grow, and puts them into the place of hashes that differ. */
class ComparedTrees implements GrowingTrees {
  readonly #trees: TreeFiles
  #tails = new TreeTails()
  #size = 0
  differing = 0

  constructor(trees: TreeFiles) {
    this.#trees = trees
  }

  get size(): number {
    return this.#size
  }

  append(hashes: Uint8Array): void {
    for (const addition of this.#tails.append(hashes)) this.differing += this.#trees.replace(addition)
    this.#size += hashes.length / HASH_BYTES
  }

  recordHashes(first: number, count: number): Buffer {
    return this.#trees.recordHashes(first, count)
  }

  /** Starts over: only whole trees are compared. */
  cut(): void {
    this.#tails = new TreeTails()
    this.#size = 0
  }

  clear(): void {
    this.cut()
  }
}
