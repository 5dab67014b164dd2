import { hash } from 'node:crypto'
import { MERKLE_DOMAIN, MERKLE_PREFIX } from '../proof/merkle.ts'

export const HASH_BYTES = 32

/** How a tree over record hashes is hashed. Every hash is 32 bytes. */
export interface TreeHashing {
  leaf(recordHash: Uint8Array): Buffer
  node(left: Uint8Array, right: Uint8Array): Buffer
  /** The published root, from the top node of a tree. */
  root(apex: Uint8Array): Buffer
}

/**
 * SHA-256 over a domain, a prefix byte and one or two hashes. One buffer serves all calls: a tree takes two hashes for each
 * record, and node:crypto is several times faster than the portable code of `merkle.ts`, which browsers need.
 */
class PrefixedHashing implements TreeHashing {
  readonly #one: Buffer
  readonly #two: Buffer
  readonly #prefixAt: number
  readonly #hashesRoot: boolean

  constructor(domain: Uint8Array, hashesRoot: boolean) {
    this.#prefixAt = domain.length
    this.#one = Buffer.alloc(domain.length + 1 + HASH_BYTES)
    this.#two = Buffer.alloc(domain.length + 1 + 2 * HASH_BYTES)
    this.#one.set(domain)
    this.#two.set(domain)
    this.#two[this.#prefixAt] = MERKLE_PREFIX.node
    this.#hashesRoot = hashesRoot
  }

  leaf(recordHash: Uint8Array): Buffer {
    return this.#hashOne(MERKLE_PREFIX.leaf, recordHash)
  }

  node(left: Uint8Array, right: Uint8Array): Buffer {
    this.#two.set(left, this.#prefixAt + 1)
    this.#two.set(right, this.#prefixAt + 1 + HASH_BYTES)
    return hash('sha256', this.#two, 'buffer')
  }

  root(apex: Uint8Array): Buffer {
    return this.#hashesRoot ? this.#hashOne(MERKLE_PREFIX.root, apex) : Buffer.from(apex)
  }

  #hashOne(prefix: number, bytes: Uint8Array): Buffer {
    this.#one[this.#prefixAt] = prefix
    this.#one.set(bytes, this.#prefixAt + 1)
    return hash('sha256', this.#one, 'buffer')
  }
}

/** The tree of proof bundles: specification, "Merkle construction". */
export const BUNDLE_HASHING: TreeHashing = new PrefixedHashing(MERKLE_DOMAIN, true)

/** The tree of transparency logs: RFC 6962 section 2.1, with the 32 bytes of a record hash as an entry. */
export const LOG_HASHING: TreeHashing = new PrefixedHashing(new Uint8Array(0), false)

/** Of the tree of transparency logs without an entry: RFC 6962 section 2.1. */
export const EMPTY_ROOT = hash('sha256', '', 'buffer')
