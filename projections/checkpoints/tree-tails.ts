import { ROW_MAXIMUM, rowHashing, type TreeName } from '../../engine/checkpoints/row-hashing.ts'
import { HASH_BYTES } from '../../engine/checkpoints/tree-hashing.ts'
import { treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import { HASHINGS, LEVELS, levelFile, RECORD_HASHES, TILE_HEIGHT, TILE_WIDTH, TREE_NAMES } from './tree-layout.ts'

/** Hashes to be added to the end of a file. */
export interface FileAddition {
  readonly name: string
  /** Hashes that the file has before. */
  readonly at: number
  readonly hashes: Uint8Array
}

type ReadHashes = (name: string, first: number, count: number) => Buffer

const NONE = Buffer.alloc(0)

/**
 * The last, incomplete tile of every level of both trees, in memory: enough to continue, and for the current roots of
 * the trees. So signed roots never come from files, which may have been changed since they were written.
 */
export class TreeTails {
  readonly #tails = new Map<string, Buffer>()
  #size = 0

  /** Starts with the hashes in the files for the first `size` records. */
  load(size: number, read: ReadHashes): void {
    this.#size = size
    for (const tree of TREE_NAMES) {
      for (let level = 0; level <= LEVELS; level += 1) {
        const name = levelFile(tree, level)
        const count = Math.floor(size / TILE_WIDTH ** level)
        const rest = count % TILE_WIDTH
        this.#tails.set(name, rest === 0 ? NONE : read(name, count - rest, rest))
      }
    }
  }

  /** Takes hashes of the next records; returns what each file gets, the record hashes first and then from the lowest level up. */
  append(hashes: Uint8Array): FileAddition[] {
    const additions: FileAddition[] = [{ name: RECORD_HASHES, at: this.#size, hashes }]
    const before = this.#size
    this.#size += hashes.length / HASH_BYTES
    const records = Buffer.concat([this.#tail(RECORD_HASHES), hashes])
    for (const tree of TREE_NAMES) {
      let entries = records
      for (let level = 0; level <= LEVELS; level += 1) {
        const name = levelFile(tree, level)
        const whole = Math.floor(entries.length / (TILE_WIDTH * HASH_BYTES)) * TILE_WIDTH * HASH_BYTES
        this.#tails.set(name, Buffer.from(entries.subarray(whole)))
        if (whole === 0 || level === LEVELS) break
        const roots = this.#tileRoots(tree, entries.subarray(0, whole), level === 0)
        const above = levelFile(tree, level + 1)
        additions.push({ name: above, at: Math.floor(before / TILE_WIDTH ** (level + 1)), hashes: roots })
        entries = Buffer.concat([this.#tail(above), roots])
      }
    }
    return additions
  }

  /** The root of a tree as it is now. @throws RangeError for an empty tree */
  root(tree: TreeName): Buffer {
    const hashing = HASHINGS[tree]
    const node = (height: number, index: number): Buffer => {
      const level = Math.floor(height / TILE_HEIGHT)
      const [width, begin] = [
        2 ** (height % TILE_HEIGHT),
        Math.floor(this.#size / TILE_WIDTH ** (level + 1)) * TILE_WIDTH,
      ]
      const at = (index * width - begin) * HASH_BYTES
      const entries = this.#tail(levelFile(tree, level)).subarray(at, at + width * HASH_BYTES)
      return rowHashing().apexes(tree, entries, level === 0, height % TILE_HEIGHT)
    }
    return treeRoot({ hashing, node }, this.#size)
  }

  #tileRoots(tree: TreeName, entries: Buffer, areRecords: boolean): Buffer {
    const roots: Buffer[] = []
    for (let at = 0; at < entries.length; at += ROW_MAXIMUM * HASH_BYTES) {
      const piece = entries.subarray(at, at + ROW_MAXIMUM * HASH_BYTES)
      roots.push(rowHashing().apexes(tree, piece, areRecords, TILE_HEIGHT))
    }
    return Buffer.concat(roots)
  }

  #tail(name: string): Buffer {
    return this.#tails.get(name) ?? NONE
  }
}
