import { join } from 'node:path'
import type { Disk, DiskFile } from '../../engine/disk/disk.ts'
import { BUNDLE_HASHING, HASH_BYTES, LOG_HASHING, type TreeHashing } from '../../engine/transparency/tree-hashing.ts'
import type { TreeNodes } from '../../engine/transparency/tree-shape.ts'

/** Where the trees are, in a directory of projections. */
export function treesIn(projections: string): string {
  return join(projections, 'trees')
}

/** Hashes of one tile (C2SP tlog-tiles). */
export const TILE_WIDTH = 256
const TILE_HEIGHT = 8
/** Tiles of 256 hashes over tiles: 2^48 records. */
const LEVELS = 5
const TILE_BYTES = TILE_WIDTH * HASH_BYTES

/** The two trees, and how the files of each begin. */
const TREES = { log: LOG_HASHING, bundle: BUNDLE_HASHING } as const
type TreeName = keyof typeof TREES
const TREE_NAMES = Object.keys(TREES) as TreeName[]

const RECORD_HASHES = 'record-hashes'

/** Hashes that both trees are made of, and the roots of all complete tiles: a flat file for each level of each tree. */
export const TREE_FILES = [
  { name: RECORD_HASHES, level: 0 },
  ...TREE_NAMES.flatMap((tree) =>
    Array.from({ length: LEVELS }, (_, below) => ({ name: `${tree}-${below + 1}`, level: below + 1 })),
  ),
]

/** The trees end before what is asked for, or were damaged on the disk. */
export class TreesDamagedError extends Error {
  override readonly name = 'TreesDamagedError'
}

/**
 * The hashes of all records, and two trees over them. 32 bytes a record and 2/255 of that for the trees: lower nodes are
 * computed when they are asked for, from at most 128 hashes each. A projection: all of it follows from the journal.
 */
export class TreeFiles {
  readonly #files: ReadonlyMap<string, DiskFile>
  #size: number

  private constructor(files: ReadonlyMap<string, DiskFile>) {
    this.#files = files
    this.#size = Math.floor(this.#file(RECORD_HASHES).size() / HASH_BYTES)
  }

  /** Whether there are trees in a directory. */
  static exist(disk: Disk, directory: string): boolean {
    return disk.exists(join(directory, RECORD_HASHES))
  }

  /** Opens or creates the trees for their one writer, who then completes what a crash left undone. */
  static openToWrite(disk: Disk, directory: string): TreeFiles {
    disk.makeDirectory(directory)
    const trees = open(TREE_FILES, ({ name }) => {
      const path = join(directory, name)
      return disk.exists(path) ? disk.openToWrite(path) : disk.create(path)
    })
    const files = new TreeFiles(trees)
    files.#truncate(files.size)
    files.#complete()
    return files
  }

  /** Opens the trees for reading; undefined when there are none yet. They may grow meanwhile. */
  static openToRead(disk: Disk, directory: string): TreeFiles | undefined {
    if (!TREE_FILES.every(({ name }) => disk.exists(join(directory, name)))) return undefined
    return new TreeFiles(open(TREE_FILES, ({ name }) => disk.openToRead(join(directory, name))))
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

  /** One of the two trees. */
  tree(tree: TreeName): TreeNodes {
    const hashing = TREES[tree]
    return { hashing, node: (height, index) => this.#node(tree, hashing, height, index) }
  }

  /** `width` hashes of a tile: C2SP tlog-tiles. */
  tile(tree: TreeName, level: number, index: number, width: number): Buffer {
    return Buffer.concat(this.#entries(tree, TREES[tree], level, index * TILE_WIDTH, width))
  }

  /** Adds the hashes of the next records, and the roots of the tiles that they complete. */
  append(hashes: Uint8Array): void {
    this.#file(RECORD_HASHES).writeAt(hashes, this.#size * HASH_BYTES)
    this.#size += hashes.length / HASH_BYTES
    this.#complete()
  }

  /** Forgets all. */
  clear(): void {
    this.#truncate(0)
  }

  /** Makes them as durable as projections are after a clean stop. */
  sync(): void {
    for (const file of this.#files.values()) file.sync()
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }

  /** Cuts what is beyond `size` records, from the top down: what a crash leaves of it is cut again. */
  #truncate(size: number): void {
    for (const { name, level } of TREE_FILES.toReversed()) {
      const bytes = Math.floor(size / TILE_WIDTH ** level) * HASH_BYTES
      if (this.#file(name).size() > bytes) this.#file(name).truncate(bytes)
    }
    this.#size = size
  }

  /** Adds the roots of complete tiles that are not in the files yet. A whole hash was written whole or is written again. */
  #complete(): void {
    for (const tree of TREE_NAMES) {
      for (let level = 1; level <= LEVELS; level += 1) {
        const file = this.#file(`${tree}-${level}`)
        const wanted = Math.floor(this.#size / TILE_WIDTH ** level)
        const had = Math.floor(file.size() / HASH_BYTES)
        if (had >= wanted) continue
        const roots: Buffer[] = []
        for (let index = had; index < wanted; index += 1) {
          roots.push(this.#apex(tree, TREES[tree], level - 1, index * TILE_WIDTH, TILE_WIDTH))
        }
        file.writeAt(Buffer.concat(roots), had * HASH_BYTES)
      }
    }
  }

  #node(tree: TreeName, hashing: TreeHashing, height: number, index: number): Buffer {
    const level = Math.floor(height / TILE_HEIGHT)
    const width = 2 ** (height % TILE_HEIGHT)
    return this.#apex(tree, hashing, level, index * width, width)
  }

  /** The apex over `width` neighbours of a level; a power of two, at most a tile. */
  #apex(tree: TreeName, hashing: TreeHashing, level: number, first: number, width: number): Buffer {
    const row = this.#entries(tree, hashing, level, first, width)
    for (let count = width; count > 1; count /= 2) {
      for (let at = 0; at < count; at += 2) {
        row[at / 2] = hashing.node(row[at] as Buffer, row[at + 1] as Buffer)
      }
    }
    return row[0] as Buffer
  }

  /** Neighbours of a level: leaf hashes at level 0, roots of tiles above. */
  #entries(tree: TreeName, hashing: TreeHashing, level: number, first: number, count: number): Buffer[] {
    if (level > LEVELS) throw new TreesDamagedError(`no tree has a level ${level}`)
    const bytes = this.#hashes(level === 0 ? RECORD_HASHES : `${tree}-${level}`, first, count)
    return Array.from({ length: count }, (_, index) => {
      const entry = bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
      return level === 0 ? hashing.leaf(entry) : entry
    })
  }

  #hashes(name: string, first: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count * HASH_BYTES)
    const read = this.#file(name).readAt(bytes, first * HASH_BYTES, bytes.length)
    if (read < bytes.length) throw new TreesDamagedError(`${name} ends before hash ${first + count - 1}`)
    return bytes
  }

  #file(name: string): DiskFile {
    const file = this.#files.get(name)
    if (file === undefined) throw new TreesDamagedError(`there is no file ${name}`)
    return file
  }
}

function open(
  files: typeof TREE_FILES,
  openOne: (file: (typeof TREE_FILES)[number]) => DiskFile,
): Map<string, DiskFile> {
  const opened = new Map<string, DiskFile>()
  try {
    for (const file of files) opened.set(file.name, openOne(file))
    return opened
  } catch (error) {
    for (const file of opened.values()) file.close()
    throw error
  }
}

/** Bytes that are compared or written at a time. */
export const TREE_PIECE_BYTES = 32 * TILE_BYTES
