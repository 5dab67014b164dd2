import type { MessagePort } from 'node:worker_threads'

/**
 * Kinds of hashing threads: MD5 of many bodies in parallel lanes, or SHA-256 of one after the other. Every body is
 * hashed by both at the same time.
 */
export type HashKind = 'md5' | 'sha256'

/** Start data of a thread that hashes. */
export interface HashThreadData {
  readonly kind: HashKind
}

/** From the main thread to a thread that hashes. */
export interface ToHashThread {
  /** Bodies come through it. */
  readonly attach: MessagePort
}

/** The ports of one thread to all the threads that hash. */
export interface HashPorts {
  readonly md5: readonly MessagePort[]
  readonly sha256: readonly MessagePort[]
}

/** Through a port to a thread that hashes. Bodies and pieces are numbers of the sender. */
export type HashRequest =
  /** The next bytes of a body are the first of a piece. `memory` comes with the first use of a piece. */
  | {
      readonly kind: 'update'
      readonly body: number
      readonly job: number
      readonly piece: number
      readonly length: number
      readonly memory?: SharedArrayBuffer
    }
  /** The body is complete. */
  | { readonly kind: 'digest'; readonly body: number }
  /** The digest is not needed any more. */
  | { readonly kind: 'drop'; readonly body: number }
  /** The piece is not used again. */
  | { readonly kind: 'forget'; readonly piece: number }

/** Back from a thread that hashes. */
export type HashReply =
  /** The last of the threads has read the bytes of a job. */
  | { readonly kind: 'taken'; readonly job: number }
  | { readonly kind: 'digest'; readonly body: number; readonly digest: Uint8Array }

/** After the bytes of a piece: how many threads have yet to read it, as a 32-bit integer. */
export const READERS_BYTES = 4
