import { MERKLE_DOMAIN, MERKLE_PREFIX } from '../proof/merkle.ts'
import { LANES, sha256RowsModule } from './sha256-rows-module.ts'
import { HASH_BYTES } from './tree-hashing.ts'

/** Transparency-log tree or proof-bundle tree. */
export type TreeName = 'log' | 'bundle'

/** Hashes that are taken at a time. */
export const ROW_MAXIMUM = 8192

type HashRow = (from: number, to: number, vectors: number) => void
type RowName = `${TreeName}${'Leaf' | 'Node'}`

const ROW_AT = 64
/** The last vector may be only partly of the row. */
const MEMORY_BYTES = ROW_AT + (ROW_MAXIMUM + 2 * LANES) * HASH_BYTES

const PREFIXES = { log: new Uint8Array(0), bundle: MERKLE_DOMAIN } as const
const FORMS = (['log', 'bundle'] as const).flatMap((tree) => [
  { name: `${tree}Leaf`, prefix: Uint8Array.of(...PREFIXES[tree], MERKLE_PREFIX.leaf), dataBytes: HASH_BYTES },
  { name: `${tree}Node`, prefix: Uint8Array.of(...PREFIXES[tree], MERKLE_PREFIX.node), dataBytes: 2 * HASH_BYTES },
])

/** Hashes whole rows of the trees: the same hashes as `tree-hashing.ts`, several times as many a second. */
export class RowHashing {
  readonly #memory: Buffer
  readonly #functions: Readonly<Record<RowName, HashRow>>

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(sha256RowsModule(FORMS, MEMORY_BYTES)))
    this.#memory = Buffer.from((exports['memory'] as WebAssembly.Memory).buffer)
    this.#functions = exports as Record<RowName, HashRow>
  }

  /**
   * Rows over neighbours of a level, the lowest first: leaf hashes when they are record hashes, then all complete pairs, until
   * one hash is left or `rows` are made.
   * @param entries at most `ROW_MAXIMUM` hashes
   */
  rows(tree: TreeName, entries: Uint8Array, areRecords: boolean, rows: number): Buffer[] {
    let count = this.#load(tree, entries, areRecords)
    const made = [this.#row(count)]
    while (made.length < rows && count > 1) {
      count = this.#above(tree, count)
      made.push(this.#row(count))
    }
    return made
  }

  /** The roots of complete subtrees of `2^height` neighbours. @param entries at most `ROW_MAXIMUM` hashes */
  apexes(tree: TreeName, entries: Uint8Array, areRecords: boolean, height: number): Buffer {
    let count = this.#load(tree, entries, areRecords)
    for (let made = 0; made < height; made += 1) count = this.#above(tree, count)
    return this.#row(count)
  }

  #load(tree: TreeName, entries: Uint8Array, areRecords: boolean): number {
    const count = entries.length / HASH_BYTES
    if (!Number.isInteger(count) || count > ROW_MAXIMUM) throw new RangeError(`${entries.length} bytes are no row`)
    this.#memory.set(entries, ROW_AT)
    if (areRecords && count > 0) this.#functions[`${tree}Leaf`](ROW_AT, ROW_AT, Math.ceil(count / LANES))
    return count
  }

  #above(tree: TreeName, count: number): number {
    const pairs = Math.floor(count / 2)
    if (pairs > 0) this.#functions[`${tree}Node`](ROW_AT, ROW_AT, Math.ceil(pairs / LANES))
    return pairs
  }

  #row(count: number): Buffer {
    return Buffer.from(this.#memory.subarray(ROW_AT, ROW_AT + count * HASH_BYTES))
  }
}

let shared: RowHashing | undefined

/** Shared within the thread: to make the module takes longer than to hash a thousand rows. */
export function rowHashing(): RowHashing {
  shared ??= new RowHashing()
  return shared
}
