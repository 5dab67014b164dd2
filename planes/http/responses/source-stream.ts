/**
 * Sends a body source at the reader's pace: a piece is asked for only when the one before is with the kernel. How
 * pieces go out is the matter of those who extend this: `uws-stream.ts` and `node-stream.ts`.
 */
import type { BodySource } from '../exchange.ts'

/** Bytes sent in one run before other connections get their turn. */
const RUN_BYTES_MAXIMUM = 1024 * 1024

/** What a stream reports to its owner: one of the first two, once. */
export interface StreamOwner {
  /** Every byte is with the driver; the response is invalid from now on. */
  streamDone(): void
  /** The source failed or lied about its length. The owner must cut the connection. */
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

  /** Whether some of a piece still has to go out before the next is asked for. */
  protected abstract get isWaiting(): boolean

  /** Sends a piece, not an empty one, as far as it goes. Runs within `gathered`. */
  protected abstract send(piece: Buffer): void

  /** The source has no more pieces. */
  protected abstract finish(): void

  /** Does `work` so that what it writes goes out together. */
  protected abstract gathered(work: () => void): void

  /** Begins, within `gathered`, after status and headers. */
  abstract start(): void

  /** Offers what waits again, where that may be of use. */
  abstract retry(): void

  /** The connection is gone. The source is closed, but not while it is at work on a piece. */
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

  /** Asks for pieces and sends them until the source or the socket has to be waited for. */
  protected run(): void {
    this.#runBytes = 0
    this.runOn()
  }

  /** The same, in the run that has begun. */
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
