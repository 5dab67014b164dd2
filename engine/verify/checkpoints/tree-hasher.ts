/**
 * Hashes of the two trees (`spec/formats/journal.md`, "Checkpoints"), computed by @noble/hashes and not by node:crypto,
 * which the server itself uses.
 */
import { sha256 } from '@noble/hashes/sha2.js'

export const HASH_BYTES = 32

const BUNDLE_DOMAIN = Buffer.from('object-store/audit-merkle/v1', 'ascii')
const LEAF = 0
const NODE = 1
const ROOT = 2

/** Hashes into memory of the caller, one after another, and allocates no more than views. */
export class TreeHasher {
  readonly #afterLeaf: ReturnType<typeof sha256.create>
  readonly #afterNode: ReturnType<typeof sha256.create>
  readonly #afterRoot: ReturnType<typeof sha256.create> | undefined
  readonly #state = sha256.create()

  /** @param hashesRoot whether the published root is a hash of the top node */
  constructor(domain: Uint8Array, hashesRoot: boolean) {
    const after = (prefix: number) => sha256.create().update(domain).update(Uint8Array.of(prefix))
    this.#afterLeaf = after(LEAF)
    this.#afterNode = after(NODE)
    this.#afterRoot = hashesRoot ? after(ROOT) : undefined
  }

  /** The tree of transparency logs. */
  static log(): TreeHasher {
    return new TreeHasher(new Uint8Array(0), false)
  }

  /** The tree of proof bundles. */
  static bundle(): TreeHasher {
    return new TreeHasher(BUNDLE_DOMAIN, true)
  }

  /** `target` becomes the leaf of a record's hash. */
  leaf(recordHash: Uint8Array, target: Uint8Array): void {
    this.#hash(this.#afterLeaf, recordHash, target)
  }

  /** `target` becomes the node over two: left, then right. */
  node(both: Uint8Array, target: Uint8Array): void {
    this.#hash(this.#afterNode, both, target)
  }

  /** The published root for a top node, in hexadecimal. */
  root(apex: Uint8Array): string {
    const target = Uint8Array.from(apex)
    if (this.#afterRoot !== undefined) this.#hash(this.#afterRoot, apex, target)
    return Buffer.from(target).toString('hex')
  }

  #hash(after: ReturnType<typeof sha256.create>, input: Uint8Array, target: Uint8Array): void {
    // oxlint-disable-next-line no-underscore-dangle -- the library's public name for a copy that allocates nothing
    after._cloneInto(this.#state)
    this.#state.update(input).digestInto(target)
  }
}
