/** A log of somebody else, which asks a witness: its tree, its checkpoints, and what it submits. */
import { hash } from 'node:crypto'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { checkpointNote, checkpointText, verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { consistencyProofText } from '../../engine/checkpoints/tree-proofs.ts'
import { consistencyPath, type TreeNodes, treeRoot } from '../../engine/checkpoints/tree-shape.ts'

const EMPTY_ROOT = hash('sha256', Buffer.alloc(0), 'buffer')

export class OtherLog {
  readonly origin: string
  readonly key: SigningKey
  readonly #history: string
  readonly #nodes = new Map<string, Buffer>()

  /** `history`: logs of one name with another history have forked. */
  constructor(origin: string, { seed = 5, history = 'one' }: { seed?: number; history?: string } = {}) {
    this.origin = origin
    this.key = new SigningKey(Buffer.alloc(32, seed))
    this.#history = history
  }

  get vkey(): string {
    return verifierKeyText(this.origin, this.key.publicKey)
  }

  root(size: number): Buffer {
    return size === 0 ? EMPTY_ROOT : treeRoot(this.#tree, size)
  }

  text(size: number, root = this.root(size)): Buffer {
    return checkpointText({ origin: this.origin, size, root })
  }

  /** A checkpoint of the first so many entries. */
  note(size: number, root = this.root(size)): string {
    const statement = { origin: this.origin, size, root }
    return checkpointNote(statement, this.key.publicKey, this.key.sign(checkpointText(statement)))
  }

  path(old: number, size: number): Buffer[] {
    return old === 0 || old > size ? [] : consistencyPath(this.#tree, old, size)
  }

  /** What is sent to a witness that has seen `old` entries. */
  submission(old: number, size: number, { path = this.path(old, size), note = this.note(size) } = {}): string {
    return consistencyProofText(old, path, note)
  }

  get #tree(): TreeNodes {
    return { hashing: LOG_HASHING, node: (height, index) => this.#node(height, index) }
  }

  #node(height: number, index: number): Buffer {
    const name = `${height} ${index}`
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const made =
      height === 0
        ? LOG_HASHING.leaf(hash('sha256', `${this.#history} ${index}`, 'buffer'))
        : LOG_HASHING.node(this.#node(height - 1, 2 * index), this.#node(height - 1, 2 * index + 1))
    this.#nodes.set(name, made)
    return made
  }
}
