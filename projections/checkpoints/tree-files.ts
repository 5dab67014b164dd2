import { join } from 'node:path'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import { rowHashing, type TreeName } from '../../engine/checkpoints/row-hashing.ts'
import { HASH_BYTES } from '../../engine/checkpoints/tree-hashing.ts'
import type { TreeNodes } from '../../engine/checkpoints/tree-shape.ts'
import { HASHINGS, LEVELS, levelFile, RECORD_HASHES, TILE_HEIGHT, TILE_WIDTH, TREE_NAMES } from './tree-layout.ts'
import { type FileAddition, TreeTails } from './tree-tails.ts'

/** Where the trees are, in a directory of projections. */
export function treesIn(projections: string): string {
  return join(projections, 'trees')
}

/** Hashes that both trees are made of, and the roots of all complete tiles: a flat file for each level of each tree. */
export const TREE_FILES = [
  { name: RECORD_HASHES, level: 0 },
  ...TREE_NAMES.flatMap((tree) =>
    Array.from({ length: LEVELS }, (_, below) => ({ name: levelFile(tree, below + 1), level: below + 1 })),
  ),
]

/** Bytes that are compared or written at a time. */
export const TREE_PIECE_BYTES = 32 * TILE_WIDTH * HASH_BYTES

/** The trees are shorter than asked for, or were damaged on the disk. */
export class TreesDamagedError extends Error {
  override readonly name = 'TreesDamagedError'
}

/**
 * The hashes of all records, and two trees over them. 32 bytes a record and 2/255 of that for the trees: lower nodes are
 * computed when they are asked for, a tile at a time. A projection: all of it follows from the journal.
 */
export class TreeFiles {
  readonly #disk: Disk
  readonly #directory: string
  readonly #isWriter: boolean
  readonly #files = new Map<string, DiskFile>()
  readonly #tails = new TreeTails()
  #size: number

  private constructor(disk: Disk, directory: string, isWriter: boolean) {
    this.#disk = disk
    this.#directory = directory
    this.#isWriter = isWriter
    this.#size = Math.floor(this.#file(RECORD_HASHES).size() / HASH_BYTES)
  }

  /** Whether a directory has trees. */
  static exist(disk: Disk, directory: string): boolean {
    return disk.exists(join(directory, RECORD_HASHES))
  }

  /** Opens or creates the trees for their one writer, which then completes what a crash left undone. */
  static openToWrite(disk: Disk, directory: string): TreeFiles {
    disk.makeDirectory(directory)
    const trees = new TreeFiles(disk, directory, true)
    try {
      for (const { name } of TREE_FILES) trees.#file(name)
      trees.cut(trees.size)
      return trees
    } catch (error) {
      trees.close()
      throw error
    }
  }

  /** Opens the trees for reading; undefined if they do not exist yet. They may grow meanwhile. */
  static openToRead(disk: Disk, directory: string): TreeFiles | undefined {
    return TreeFiles.exist(disk, directory) ? new TreeFiles(disk, directory, false) : undefined
  }

  /** Records that the trees cover, when they were opened or last extended. */
  get size(): number {
    return this.#size
  }

  recordHash(index: number): Buffer {
    return this.#hashes(RECORD_HASHES, index, 1)
  }

  /** Hashes of `count` records from `first` on. */
  recordHashes(first: number, count: number): Buffer {
    return this.#hashes(RECORD_HASHES, first, count)
  }

  /** One of the two trees, for one answer: a tile that was read is remembered, and not read again. */
  tree(tree: TreeName): TreeNodes {
    const tiles = new Map<string, readonly Buffer[]>()
    const node = (height: number, index: number): Buffer => {
      const level = Math.floor(height / TILE_HEIGHT)
      const row = height % TILE_HEIGHT
      const tile = Math.floor(index / 2 ** (TILE_HEIGHT - row))
      const name = `${level} ${tile}`
      let rows = tiles.get(name)
      if (rows === undefined) {
        rows = this.#tileRows(tree, level, tile)
        tiles.set(name, rows)
      }
      const at = (index - tile * 2 ** (TILE_HEIGHT - row)) * HASH_BYTES
      const found = rows[row]?.subarray(at, at + HASH_BYTES)
      if (found?.length === HASH_BYTES) return found
      throw new TreesDamagedError(`the trees end before node ${index} of height ${height}`)
    }
    return { hashing: HASHINGS[tree], node }
  }

  /** The root of a tree over all its records, from the writer's memory. */
  rootInMemory(tree: TreeName): Buffer {
    return this.#tails.root(tree)
  }

  /** Adds the hashes of the next records, and the roots of the tiles that they complete. */
  append(hashes: Uint8Array): void {
    for (const { name, at, hashes: added } of this.#tails.append(hashes)) {
      this.#file(name).writeAt(added, at * HASH_BYTES)
    }
    this.#size += hashes.length / HASH_BYTES
  }

  /**
   * Writes hashes again that differ in a file, or that it does not have, as far as the trees cover them.
   * @returns how many they were
   */
  replace({ name, at, hashes }: FileAddition): number {
    const level = TREE_FILES.find((file) => file.name === name)?.level ?? 0
    const count = Math.min(hashes.length / HASH_BYTES, Math.floor(this.#size / TILE_WIDTH ** level) - at)
    if (count <= 0) return 0
    const right = Buffer.from(hashes.buffer, hashes.byteOffset, count * HASH_BYTES)
    const found = this.#present(name, at, count)
    let differing = 0
    for (let byte = 0; byte < right.length; byte += HASH_BYTES) {
      if (!right.subarray(byte, byte + HASH_BYTES).equals(found.subarray(byte, byte + HASH_BYTES))) differing += 1
    }
    if (differing > 0) this.#file(name).writeAt(right, at * HASH_BYTES)
    return differing
  }

  /** Opens the files again under their names, and makes those that are not there any more. */
  reopen(): void {
    this.close()
    this.#files.clear()
    this.#disk.makeDirectory(this.#directory)
    for (const { name } of TREE_FILES) this.#file(name)
  }

  /** Forgets all. */
  clear(): void {
    this.cut(0)
  }

  /**
   * Drops everything beyond `size` records, from the top down: remains of a crash are cut again. Roots of complete
   * tiles that are not in the files are added.
   */
  cut(size: number): void {
    let whole = Math.min(size, this.#size)
    for (const { name, level } of TREE_FILES.toReversed()) {
      const file = this.#file(name)
      const width = TILE_WIDTH ** level
      const bytes = Math.floor(size / width) * HASH_BYTES
      if (file.size() > bytes) file.truncate(bytes)
      if (file.size() < bytes) whole = Math.min(whole, Math.floor(file.size() / HASH_BYTES) * width)
    }
    this.#goOn(whole, Math.min(size, this.#size))
  }

  /** Makes them as durable as projections are after a clean stop. */
  sync(): void {
    for (const file of this.#files.values()) file.sync()
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }

  /** Continues from where all files are complete, with the hashes of records that are there already. */
  #goOn(from: number, size: number): void {
    this.#size = from
    this.#tails.load(from, (name, first, count) => this.#hashes(name, first, count))
    while (this.#size < size) {
      const count = Math.min(size - this.#size, TREE_PIECE_BYTES / HASH_BYTES)
      this.append(this.#hashes(RECORD_HASHES, this.#size, count))
    }
  }

  /** All hashes of a tile: leaf hashes or roots of tiles, and the rows over them. */
  #tileRows(tree: TreeName, level: number, tile: number): Buffer[] {
    if (level > LEVELS) throw new TreesDamagedError(`no tree has a level ${level}`)
    // The writer may be about to add more.
    const entries = this.#present(levelFile(tree, level), tile * TILE_WIDTH, TILE_WIDTH)
    return rowHashing().rows(tree, entries, level === 0, TILE_HEIGHT)
  }

  #hashes(name: string, first: number, count: number): Buffer {
    const hashes = this.#present(name, first, count)
    if (hashes.length === count * HASH_BYTES) return hashes
    throw new TreesDamagedError(`${name} ends before hash ${first + count - 1}`)
  }

  /** Fewer hashes if the file ends before. */
  #present(name: string, first: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count * HASH_BYTES)
    const read = this.#file(name).readAt(bytes, first * HASH_BYTES, bytes.length)
    return bytes.subarray(0, read - (read % HASH_BYTES))
  }

  #file(name: string): DiskFile {
    const opened = this.#files.get(name)
    if (opened !== undefined) return opened
    const path = join(this.#directory, name)
    const file = this.#open(path)
    this.#files.set(name, file)
    return file
  }

  #open(path: string): DiskFile {
    const exists = this.#disk.exists(path)
    if (this.#isWriter) return exists ? this.#disk.openToWrite(path) : this.#disk.create(path)
    if (exists) return this.#disk.openToRead(path)
    throw new TreesDamagedError(`there is no file ${path}`)
  }
}
