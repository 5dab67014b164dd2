/**
 * Sends a body source at the reader's pace: the next piece is requested only when the kernel has taken the previous
 * one. Subclasses write the pieces: `uws-stream.ts` and `node-stream.ts`.
 */
import type { BodySource } from '../exchange.ts'

/** Bytes sent in one run before other connections get their turn. */
const RUN_BYTES_MAXIMUM = 1024 * 1024

/** The callbacks of a stream: one of the first two is called, once. */
export interface StreamOwner {
  /** The driver has every byte; the response must not be used any more. */
  streamDone(): void
  /** The source failed or had another length. The owner must cut the connection. */
  streamFailed(error: unknown): void
  /** The source threw while it was being closed. */
  report(error: unknown): void
}

/** Closes a source whose response will not be streamed. */
export function closeSource(source: BodySource, owner: Pick<StreamOwner, 'report'>): void {
  try {
    source.close()
  } catch (error) {
    owner.report(error)
  }
}

export abstract class SourceStream {
  readonly #source: BodySource
  readonly #owner: StreamOwner
  #runBytes = 0
  #awaitingSource = false
  #over = false

  constructor(source: BodySource, owner: StreamOwner) {
    this.#source = source
    this.#owner = owner
  }

  /** A number that changes as the client reads; undefined while the source is the one being waited for. */
  abstract progress(): number | undefined

  /** Whether part of a piece must be sent before the next is requested. */
  protected abstract get isWaiting(): boolean

  /** Writes as much of a non-empty piece as possible. Runs within `gathered`. */
  protected abstract send(piece: Buffer): void

  /** The source has no more pieces. */
  protected abstract finish(): void

  /** Runs `work` so that its writes are sent together. */
  protected abstract gathered(work: () => void): void

  /** Starts sending, within `gathered`, after status and headers. */
  abstract start(): void

  /** Tries again to write the waiting bytes, where that may help. */
  abstract retry(): void

  /** The connection has closed. Closes the source, but not while it produces a piece. */
  abort(): void {
    if (this.#over) return
    this.#end()
  }

  protected done(): void {
    this.#end()
    this.#owner.streamDone()
  }

  protected fail(error: unknown): void {
    this.#end()
    this.#owner.streamFailed(error)
  }

  /** Requests and sends pieces until it has to wait for the source or the socket. */
  protected run(): void {
    this.#runBytes = 0
    this.runOn()
  }

  /** As `run`, within the current run. */
  protected runOn(): void {
    while (!this.#over && !this.isWaiting) {
      if (this.#runBytes >= RUN_BYTES_MAXIMUM) {
        setImmediate(this.#continue)
        return
      }
      let next: Promise<Buffer | undefined> | Buffer | undefined
      try {
        next = this.#source.next()
      } catch (error) {
        this.fail(error)
        return
      }
      if (next instanceof Promise) {
        this.#awaitingSource = true
        next.then(this.#arrived, this.#rejected)
        return
      }
      this.#take(next)
    }
  }

  #take(piece: Buffer | undefined): void {
    if (piece === undefined) this.finish()
    else if (piece.length > 0) {
      this.#runBytes += piece.length
      this.send(piece)
    }
  }

  readonly #continue = (): void => {
    if (!this.#over) this.gathered(() => this.run())
  }

  readonly #arrived = (piece: Buffer | undefined): void => {
    this.#awaitingSource = false
    if (this.#over) {
      closeSource(this.#source, this.#owner)
      return
    }
    this.gathered(() => {
      this.#take(piece)
      this.run()
    })
  }

  readonly #rejected = (error: unknown): void => {
    this.#awaitingSource = false
    if (this.#over) closeSource(this.#source, this.#owner)
    else this.fail(error)
  }

  #end(): void {
    this.#over = true
    if (!this.#awaitingSource) closeSource(this.#source, this.#owner)
  }
}
