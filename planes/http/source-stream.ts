/**
 * Sends a body source at the reader's pace: a piece is asked for only when the one before is with the kernel. How
 * pieces go out is the matter of those who extend this: with a length in `sized-stream.ts`, without one in
 * `chunked-stream.ts`.
 */
import type * as uWS from 'uWebSockets.js'
import type { BodySource } from './exchange.ts'

/** Bytes sent in one run before other connections get their turn. */
const RUN_BYTES_MAXIMUM = 1024 * 1024

/** What a stream reports to its owner: one of the first two, once. */
export interface StreamOwner {
  /** Every byte is with the library; the response is invalid from now on. */
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
  protected readonly res: uWS.HttpResponse
  readonly #source: BodySource
  readonly #owner: StreamOwner
  #runBytes = 0
  #awaitingSource = false
  #over = false

  constructor(res: uWS.HttpResponse, source: BodySource, owner: StreamOwner) {
    this.res = res
    this.#source = source
    this.#owner = owner
  }

  /** A number that changes as the client reads; undefined while the source is the one being waited for. */
  abstract progress(): number | undefined

  /** Whether some of a piece still has to go out before the next is asked for. */
  protected abstract get isWaiting(): boolean

  /** Sends a piece, not an empty one, as far as it goes. Runs within a cork. */
  protected abstract send(piece: Buffer): void

  /** The source has no more pieces. */
  protected abstract finish(): void

  /** Goes on with what waits, within a cork; `offset` is what the library says it has sent of the body. */
  protected abstract goOn(offset: number): void

  /** Begins, within a cork, after status and headers. */
  start(): void {
    this.res.onWritable((offset) => {
      this.#resume(offset)
      return !this.isWaiting
    })
    this.#run()
  }

  /** Offers what waits again: the kernel has room for some of it long before it reports so. */
  retry(): void {
    if (this.isWaiting) this.res.cork(() => this.#resume(this.res.getWriteOffset()))
  }

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

  #resume(offset: number): void {
    if (!this.isWaiting) return
    this.goOn(offset)
    if (!this.isWaiting) this.#run()
  }

  /** Asks for pieces and sends them until the source or the socket has to be waited for. */
  #run(): void {
    this.#runBytes = 0
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
    if (!this.#over) this.res.cork(() => this.#run())
  }

  readonly #arrived = (piece: Buffer | undefined): void => {
    this.#awaitingSource = false
    if (this.#over) {
      closeSource(this.#source, this.#owner)
      return
    }
    this.res.cork(() => {
      this.#take(piece)
      this.#run()
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
