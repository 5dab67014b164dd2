import type { MessagePort } from 'node:worker_threads'
import type { HashPorts, HashReply, HashRequest } from './hash-messages.ts'
import { READERS_BYTES } from './hash-messages.ts'

/** Free pieces that a thread keeps. */
const FREE_PIECES_MAXIMUM = 32
/** Threads that read each piece. */
const READERS = 2
/** How long a thread blocks for a piece to be read before it gives up. */
const BLOCKED_MILLISECONDS_MAXIMUM = 60_000

/** Threads that hash have ended, or do not answer: the body that was being received cannot be stored. */
export class HashThreadError extends Error {
  override readonly name = 'HashThreadError'
}

/** Memory for bytes of a body, shared with the threads that hash. */
export interface SharedPiece {
  readonly bytes: Buffer
  readonly number: number
  readonly memory: SharedArrayBuffer
}

/** MD5 and SHA-256 of a body. */
interface BodyDigests {
  readonly md5: Buffer
  readonly sha256: Buffer
}

interface Settling<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

/** A port to a thread that hashes, and the pieces that it knows. */
interface Connection {
  readonly port: MessagePort
  readonly pieces: Set<number>
}

/** Hashes bodies. */
export interface BodyHasher {
  /** A piece with arbitrary contents. */
  takePiece(): SharedPiece
  /** Releases a piece that neither the caller nor an update uses any more. */
  releasePiece(piece: SharedPiece): void
  /** Starts a body. */
  begin(): HashedBody
  /** Ends it; pending digests fail. */
  close(): void
}

/**
 * Has bodies hashed by other threads, for one thread. Their bytes are in pieces of shared memory, which are used again and
 * again: the garbage collector frees such memory late.
 */
export class BodyHashing implements BodyHasher {
  readonly #md5: readonly Connection[]
  readonly #sha256: readonly Connection[]
  readonly #pieceBytes: number
  readonly #start: () => void
  readonly #free: SharedPiece[] = []
  readonly #jobs = new Map<number, Settling<void>>()
  readonly #digests = new Map<number, Settling<BodyDigests> & { md5?: Buffer; sha256?: Buffer }>()
  #pieces = 0
  #bodies = 0
  #lastJob = 0
  #isClosed = false

  /**
   * @param pieceBytes of each piece, whole blocks of the hashes
   * @param start has the threads started; called for the first body. This thread may block right after it.
   */
  constructor(ports: HashPorts, pieceBytes: number, start: () => void) {
    this.#pieceBytes = pieceBytes
    this.#start = start
    this.#md5 = ports.md5.map((port) => this.#connection(port, 'md5'))
    this.#sha256 = ports.sha256.map((port) => this.#connection(port, 'sha256'))
  }

  takePiece(): SharedPiece {
    return this.#free.pop() ?? this.#newPiece()
  }

  releasePiece(piece: SharedPiece): void {
    if (this.#free.length < FREE_PIECES_MAXIMUM) {
      this.#free.push(piece)
      return
    }
    for (const connection of [...this.#md5, ...this.#sha256]) {
      if (connection.pieces.delete(piece.number)) send(connection, { kind: 'forget', piece: piece.number })
    }
  }

  begin(): HashedBody {
    const body = this.#bodies
    if (body === 0) this.#start()
    this.#bodies += 1
    const md5 = this.#md5[body % this.#md5.length] as Connection
    const sha256 = this.#sha256[body % this.#sha256.length] as Connection
    const both = [md5, sha256] as const
    return {
      update: (piece, length) => this.#update(both, body, piece, length),
      updateNow: (piece, length) => this.#updateNow(both, body, piece, length),
      digests: () => this.#digestsOf(both, body),
      drop: () => {
        for (const connection of both) send(connection, { kind: 'drop', body })
      },
    }
  }

  /** Ends the connections. */
  close(): void {
    for (const { port } of [...this.#md5, ...this.#sha256]) port.close()
  }

  #newPiece(): SharedPiece {
    const memory = new SharedArrayBuffer(this.#pieceBytes + READERS_BYTES)
    this.#pieces += 1
    return { bytes: Buffer.from(memory, 0, this.#pieceBytes), number: this.#pieces, memory }
  }

  #connection(port: MessagePort, kind: keyof BodyDigests): Connection {
    port.on('message', (reply: HashReply) => this.#receive(kind, reply))
    port.on('close', () => this.#fail())
    port.unref()
    return { port, pieces: new Set() }
  }

  #update(both: readonly Connection[], body: number, piece: SharedPiece, length: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(ended())
    const job = this.#post(both, body, piece, length)
    this.#hold()
    return new Promise((resolve, reject) => this.#jobs.set(job, { resolve, reject }))
  }

  #updateNow(both: readonly Connection[], body: number, piece: SharedPiece, length: number): void {
    if (this.#isClosed) throw ended()
    this.#post(both, body, piece, length)
    const readers = readersOf(piece)
    for (let left = Atomics.load(readers, 0); left !== 0; left = Atomics.load(readers, 0)) {
      if (Atomics.wait(readers, 0, left, BLOCKED_MILLISECONDS_MAXIMUM) !== 'timed-out') continue
      throw new HashThreadError('a thread that hashes uploads does not answer')
    }
  }

  #post(both: readonly Connection[], body: number, piece: SharedPiece, length: number): number {
    this.#lastJob += 1
    const job = this.#lastJob
    Atomics.store(readersOf(piece), 0, READERS)
    for (const connection of both) {
      const request = { kind: 'update', body, job, piece: piece.number, length } as const
      const isKnown = connection.pieces.has(piece.number)
      connection.pieces.add(piece.number)
      send(connection, isKnown ? request : { ...request, memory: piece.memory })
    }
    return job
  }

  #digestsOf(both: readonly Connection[], body: number): Promise<BodyDigests> {
    if (this.#isClosed) return Promise.reject(ended())
    for (const connection of both) send(connection, { kind: 'digest', body })
    this.#hold()
    return new Promise((resolve, reject) => this.#digests.set(body, { resolve, reject }))
  }

  #receive(kind: keyof BodyDigests, reply: HashReply): void {
    if (reply.kind === 'taken') {
      const job = this.#jobs.get(reply.job)
      this.#jobs.delete(reply.job)
      job?.resolve()
    } else {
      this.#receiveDigest(kind, reply.body, Buffer.from(reply.digest))
    }
    this.#letGo()
  }

  #receiveDigest(kind: keyof BodyDigests, body: number, digest: Buffer): void {
    const waiting = this.#digests.get(body)
    if (waiting === undefined) return
    waiting[kind] = digest
    const { md5, sha256, resolve } = waiting
    if (md5 === undefined || sha256 === undefined) return
    this.#digests.delete(body)
    resolve({ md5, sha256 })
  }

  /** Keeps the thread alive while a job or a digest is pending. */
  #hold(): void {
    if (this.#jobs.size + this.#digests.size > 0) return
    for (const { port } of [...this.#md5, ...this.#sha256]) port.ref()
  }

  #letGo(): void {
    if (this.#jobs.size + this.#digests.size > 0) return
    for (const { port } of [...this.#md5, ...this.#sha256]) port.unref()
  }

  #fail(): void {
    this.#isClosed = true
    for (const { reject } of [...this.#jobs.values(), ...this.#digests.values()]) reject(ended())
    this.#jobs.clear()
    this.#digests.clear()
  }
}

/** A body whose bytes come one piece after the other. */
export interface HashedBody {
  /**
   * Takes the first bytes of a piece: whole blocks, but for the last of the body. Resolves when they are read.
   * @throws HashThreadError
   */
  update(piece: SharedPiece, length: number): Promise<void>
  /** The same, blocking the thread until they are read. */
  updateNow(piece: SharedPiece, length: number): void
  /** Called once, after the last bytes. */
  digests(): Promise<BodyDigests>
  /** The digests are not needed any more. */
  drop(): void
}

function readersOf({ memory }: SharedPiece): Int32Array {
  return new Int32Array(memory, memory.byteLength - READERS_BYTES, 1)
}

function send({ port }: Connection, request: HashRequest): void {
  port.postMessage(request)
}

function ended(): HashThreadError {
  return new HashThreadError('a thread that hashes uploads has ended')
}
