import { createHash, type Hash } from 'node:crypto'

/** One kind of digests, of bodies that come in pieces. */
export interface Hashing<Body> {
  begin(): Body
  /** Takes the bytes of a body in order; calls `taken` once it has read them. */
  update(body: Body, bytes: Uint8Array, taken: () => void): void
  /** Called once, at the end of a body. */
  digest(body: Body, done: (digest: Uint8Array) => void): void
}

/**
 * SHA-256, one piece after the other in the order of arrival. No upload has more than a few pieces in flight, so each
 * gets its turn.
 */
export class Sha256Hashing implements Hashing<Hash> {
  begin(): Hash {
    return createHash('sha256')
  }

  update(body: Hash, bytes: Uint8Array, taken: () => void): void {
    body.update(bytes)
    taken()
  }

  digest(body: Hash, done: (digest: Uint8Array) => void): void {
    done(Uint8Array.from(body.digest()))
  }
}
