import { HASH_BYTES, LOG_HASHING } from './tree-hashing.ts'

export const TILE_WIDTH = 256
/** The length of an entry in its tile, in two bytes, and the entry. */
export const ENTRY_BYTES = 2 + HASH_BYTES

/** Hashes of a tree that belong into one file: C2SP tlog-tiles. */
interface HashTile {
  readonly level: number
  readonly index: number
  readonly bytes: Buffer
}

/** The tree of RFC 6962 made of its entries, tile after tile, returning complete tiles at once. */
export class TileTree {
  /** Of each level: hashes of the tile that is not full yet, and how many tiles are. */
  readonly #levels: { hashes: Buffer[]; full: number }[] = []

  /** Adds the entries of the next tile, which is full unless it is the last. Returns every tile that they complete. */
  add(entries: Uint8Array): HashTile[] {
    const bytes = Buffer.from(entries)
    const complete: HashTile[] = []
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
      this.#push(0, LOG_HASHING.leaf(bytes.subarray(at + 2, at + ENTRY_BYTES)), complete)
    }
    return complete
  }

  /** The tiles that are not full. */
  rest(): HashTile[] {
    return this.#levels.flatMap(({ hashes, full }, level) =>
      hashes.length === 0 ? [] : [{ level, index: full, bytes: Buffer.concat(hashes) }],
    )
  }

  /**
   * The root of all that was added, and of more entries after them: fewer than complete the tile that was begun. Undefined
   * of an empty tree.
   */
  root(more: Uint8Array = new Uint8Array(0)): Buffer | undefined {
    const bytes = Buffer.from(more)
    const leaves: Buffer[] = []
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
      leaves.push(LOG_HASHING.leaf(bytes.subarray(at + 2, at + ENTRY_BYTES)))
    }
    let below: Buffer | undefined = apexOf([...(this.#levels[0]?.hashes ?? []), ...leaves])
    for (const { hashes } of this.#levels.slice(1)) {
      below = apexOf(below === undefined ? hashes : [...hashes, below])
    }
    return below === undefined ? undefined : LOG_HASHING.root(below)
  }

  #push(level: number, hash: Buffer, complete: HashTile[]): void {
    const own = (this.#levels[level] ??= { hashes: [], full: 0 })
    own.hashes.push(hash)
    if (own.hashes.length < TILE_WIDTH) return
    complete.push({ level, index: own.full, bytes: Buffer.concat(own.hashes) })
    const apex = apexOf(own.hashes) as Buffer
    own.hashes = []
    own.full += 1
    this.#push(level + 1, apex, complete)
  }
}

/** The apex over neighbours, the last of which may be smaller than the others: an odd node moves up unchanged. */
function apexOf(hashes: readonly Buffer[]): Buffer | undefined {
  let row = hashes
  while (row.length > 1) {
    row = row.flatMap((left, at) => {
      if (at % 2 === 1) return []
      const right = row[at + 1]
      return [right === undefined ? left : LOG_HASHING.node(left, right)]
    })
  }
  return row[0]
}
