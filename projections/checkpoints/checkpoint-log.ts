import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { checkpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import { consistencyProofText, inclusionProofText } from '../../engine/checkpoints/tree-proofs.ts'
import { BUNDLE_HASHING, LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { pathSides } from '../../engine/proof/merkle.ts'
import type { PathStep } from '../../engine/proof/bundle-types.ts'
import {
  consistencyPath,
  inclusionPath,
  isConsistent,
  rootOfInclusion,
  treeRoot,
  type TreeNodes,
} from '../../engine/checkpoints/tree-shape.ts'
import type { CheckpointState, HandoverState, ReceiptState } from '../../engine/checkpoints/state.ts'
import type { CheckpointReader } from './reader.ts'
import type { Turns } from '../audit/turns.ts'
import { TreeFiles, TreesDamagedError, treesIn } from './tree-files.ts'
import { TILE_WIDTH } from './tree-layout.ts'
import { recordsOf, verifiedEntries } from './verified-tile.ts'

/**
 * A request that the log cannot answer: the checkpoint does not exist, does not cover the record, or the trees are
 * still being made, or are not the trees that were signed.
 */
export class LogRefusal extends Error {
  override readonly name = 'LogRefusal'
  readonly reason: 'none' | 'not-covered' | 'not-ready' | 'damaged'

  constructor(reason: LogRefusal['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A tile of the log, or of its entries (C2SP tlog-tiles). */
export interface TileName {
  readonly level: number | 'entries'
  readonly index: number
  /** 1 to 256. */
  readonly width: number
}

const HASH_BYTES = 32

/** The parts of the table of checkpoints that the log uses. */
type Checkpoints = Pick<
  CheckpointReader,
  'last' | 'ofSize' | 'after' | 'receiptsOf' | 'receiptsAfter' | 'handovers' | 'signing'
>

/** How a record is in the tree of proof bundles. */
export type BundlePath = readonly PathStep[]

/**
 * Called when the trees do not lead to a checkpoint of this size.
 * @param what is wrong; undefined: the trees do not cover so much, which is no damage while they are being made
 */
type OnTreeDamage = (size: number, what: string | undefined) => void

/** The published log: everything up to its last checkpoint, and nothing beyond. */
export class CheckpointLog {
  readonly #disk: Disk
  readonly #directory: string
  readonly #reader: Checkpoints
  readonly #onDamage: OnTreeDamage

  constructor(disk: Disk, paths: StorePaths, reader: Checkpoints, onDamage: OnTreeDamage) {
    this.#onDamage = onDamage
    this.#disk = disk
    this.#directory = treesIn(paths.projections)
    this.#reader = reader
  }

  /** The last checkpoint, if any was signed. */
  newest(): CheckpointState | undefined {
    return this.#reader.last()
  }

  /** @throws LogRefusal */
  last(): CheckpointState {
    const last = this.#reader.last()
    if (last === undefined) throw new LogRefusal('none', 'no checkpoint was signed yet')
    return last
  }

  /** Every hand-over of the key that is shown, the oldest first. */
  handovers(): HandoverState[] {
    return this.#reader.handovers()
  }

  /** The predecessors of a hand-over of the key: the last checkpoint, shown or not. @throws LogRefusal */
  handingOver(): { readonly last: CheckpointState; readonly handover: HandoverState | undefined } {
    const { last, handover } = this.#reader.signing()
    if (last === undefined) throw new LogRefusal('none', 'no checkpoint was signed yet')
    return { last, handover }
  }

  /** The last checkpoint as a signed note, with the signatures of witnesses. @throws LogRefusal */
  note(): string {
    return this.noteOf(this.last())
  }

  /** A checkpoint as a signed note, with the signatures of witnesses. */
  noteOf(checkpoint: CheckpointState): string {
    const signed = this.#reader.receiptsOf(checkpoint.size).filter(({ kind }) => kind === 'cosignature')
    return [noteOf(checkpoint), ...signed.map(({ receipt }) => `${Buffer.from(receipt).toString()}\n`)].join('')
  }

  /** Receipts of others for a checkpoint, in the order of the entries. */
  receiptsOf(size: number): ReceiptState[] {
    return this.#reader.receiptsOf(size)
  }

  /** Receipts of checkpoints from a size on; `after`: of this size, only later entries. */
  receiptsAfter(size: number, after: number, limit: number): ReceiptState[] {
    return this.#reader.receiptsAfter(size, after, limit)
  }

  /** The checkpoint of a size, by default the last one. @throws LogRefusal */
  ofSize(size: number | undefined): CheckpointState {
    if (size === undefined) return this.last()
    const found = this.#reader.ofSize(size)
    if (found === undefined) throw new LogRefusal('none', `there is no checkpoint of ${size} records`)
    return found
  }

  /** Checkpoints whose entries come after a sequence. */
  after(sequence: number, limit: number): CheckpointState[] {
    return this.#reader.after(sequence, limit)
  }

  /**
   * Proof that a record is in the tree of a checkpoint: C2SP tlog-proof.
   * @param size of the checkpoint; undefined: the last one
   * @throws LogRefusal
   */
  inclusion(sequence: number, size: number | undefined): string {
    const checkpoint = this.ofSize(size)
    if (sequence >= checkpoint.size) {
      throw new LogRefusal('not-covered', `the checkpoint covers the records before ${checkpoint.size}`)
    }
    const path = this.#read(checkpoint, (trees) => {
      const found = inclusionPath(trees.tree('log'), sequence, checkpoint.size)
      const hash = trees.recordHash(sequence)
      const root = rootOfInclusion(LOG_HASHING, hash, sequence, checkpoint.size, found)
      if (root?.equals(checkpoint.root) !== true)
        throw new TreesDamagedError('the trees are not those that were signed')
      return found
    })
    return inclusionProofText(sequence, path, this.noteOf(checkpoint))
  }

  /**
   * Proof that the tree of a checkpoint extends the first `old` records: the body of C2SP tlog-witness. `old` need not
   * be the size of a checkpoint.
   * @throws LogRefusal
   */
  consistency(old: number, to: number | undefined): string {
    const checkpoint = this.ofSize(to)
    return consistencyProofText(old, this.consistencyOf(checkpoint, old), this.noteOf(checkpoint))
  }

  /** The hashes alone, of a checkpoint that may be withheld. @throws LogRefusal */
  consistencyOf(checkpoint: CheckpointState, old: number): readonly Buffer[] {
    const { size } = checkpoint
    if (old > size) throw new LogRefusal('not-covered', `the checkpoint of ${size} records does not cover ${old}`)
    // Every tree extends the empty one.
    if (old === 0) return []
    return this.#read(checkpoint, (trees) => {
      const nodes = trees.tree('log')
      const found = consistencyPath(nodes, old, size)
      // The signed root holds every hash of the path; where a root was signed for the old size, it must be that one too.
      const root = this.#reader.ofSize(old)?.root ?? treeRoot(nodes, old)
      if (!isConsistent(LOG_HASHING, { size: old, root }, checkpoint, found)) {
        throw new TreesDamagedError('the trees are not those that were signed')
      }
      return found
    })
  }

  /**
   * How records are in the tree of proof bundles that a checkpoint signed, each as the journal has it. In short turns.
   * @throws LogRefusal
   */
  async bundlePaths(
    checkpoint: CheckpointState,
    records: readonly { readonly sequence: number; readonly hash: string }[],
    turns: Turns,
  ): Promise<BundlePath[]> {
    const { size, bundleRoot } = checkpoint
    const trees = this.#open(checkpoint)
    try {
      const nodes = withMemory(trees.tree('bundle'))
      const paths: BundlePath[] = []
      for (const { sequence, hash } of records) {
        await turns.next()
        const found = inclusionPath(nodes, sequence, size)
        const root = rootOfInclusion(BUNDLE_HASHING, Buffer.from(hash, 'hex'), sequence, size, found)
        if (root?.equals(bundleRoot) !== true) {
          throw new TreesDamagedError(`record ${sequence} is not in the trees that were signed`)
        }
        const sides = pathSides(sequence, size)
        paths.push(found.map((step, at) => ({ side: sides[at] as PathStep['side'], hash: step.toString('hex') })))
      }
      return paths
    } catch (error) {
      throw this.#named(error, checkpoint)
    } finally {
      trees.close()
    }
  }

  /** @throws LogRefusal for a tile that no published checkpoint needs */
  tile({ level, index, width }: TileName): Buffer {
    const last = this.last()
    const below = level === 'entries' ? 0 : level
    const hashes = Math.floor(last.size / TILE_WIDTH ** below) - index * TILE_WIDTH
    if (hashes < width) throw new LogRefusal('none', 'no published checkpoint needs this tile')
    return this.#read(last, (trees) => {
      const entries = verifiedEntries(trees, last, { level: below, index, width })
      return level === 'entries' ? entriesOf(recordsOf(trees, entries, index)) : Buffer.concat(entries)
    })
  }

  #read<T>(checkpoint: CheckpointState, read: (trees: TreeFiles) => T): T {
    const trees = this.#open(checkpoint)
    try {
      return read(trees)
    } catch (error) {
      throw this.#named(error, checkpoint)
    } finally {
      trees.close()
    }
  }

  /** The refusal for damaged trees, which is reported; every other error as it is. */
  #named(error: unknown, { size }: CheckpointState): unknown {
    if (!(error instanceof TreesDamagedError)) return error
    this.#onDamage(size, error.message)
    return new LogRefusal('damaged', error.message, { cause: error })
  }

  /** @throws LogRefusal */
  #open({ size }: CheckpointState): TreeFiles {
    const trees = TreeFiles.openToRead(this.#disk, this.#directory)
    if (trees !== undefined && trees.size >= size) return trees
    trees?.close()
    this.#onDamage(size, undefined)
    throw new LogRefusal(
      'not-ready',
      `the trees are being made again; they cover ${trees?.size ?? 0} of ${size} records`,
    )
  }
}

/** The nodes of a tree, each computed once: paths to its root share most of them. */
function withMemory({ hashing, node }: TreeNodes): TreeNodes {
  const known = new Map<string, Buffer>()
  return {
    hashing,
    node: (height, index) => {
      const name = `${height}/${index}`
      const found = known.get(name) ?? node(height, index)
      known.set(name, found)
      return found
    },
  }
}

/** The checkpoint as a signed note. */
export function noteOf(checkpoint: CheckpointState): string {
  return checkpointNote(checkpoint, checkpoint.publicKey, checkpoint.signature)
}

/** Each entry after its length in two bytes. */
function entriesOf(hashes: Buffer): Buffer {
  const entries = Buffer.alloc((hashes.length / HASH_BYTES) * (HASH_BYTES + 2))
  for (let at = 0, to = 0; at < hashes.length; at += HASH_BYTES, to += HASH_BYTES + 2) {
    entries.writeUInt16BE(HASH_BYTES, to)
    hashes.copy(entries, to + 2, at, at + HASH_BYTES)
  }
  return entries
}
