/**
 * Sends a body source at the reader's pace: a piece is asked for only when the one before is with the kernel.
 *
 * The library may take part of a piece; the rest is offered again when the socket is writable, counted from the
 * library's own offset. The response is over at the instant the last byte is taken, and must not be touched after.
 */
import type * as uWS from 'uWebSockets.js'
import type { BodySource } from './exchange.ts'

/** Bytes sent in one run before other connections get their turn. */
const RUN_BYTES_MAXIMUM = 1024 * 1024

/** What a stream tells its owner: one of the first two, once. */
export interface StreamOwner {
  /** Every byte is with the kernel; the response is invalid from now on. */
  streamDone(): void
  /** The source failed or lied about its length. The owner must cut the connection. */
  streamFailed(error: unknown): void
  /** The source threw while it was being closed. */
  report(error: unknown): void
}

/** A body in memory as a source, for those that are too long for the kernel to be sure to take at once. */
export function wholeSource(body: Buffer): BodySource {
  let rest: Buffer | undefined = body
  return {
    length: body.length,
    next: () => {
      const piece = rest
      rest = undefined
      return piece
    },
    close: () => {},
  }
}

/** Closes a source whose response will not be streamed. */
export function closeSource(source: BodySource, owner: Pick<StreamOwner, 'report'>): void {
  try {
    source.close()
  } catch (error) {
    owner.report(error)
  }
}

export class BodyStream {
  readonly #res: uWS.HttpResponse
  readonly #source: BodySource
  readonly #owner: StreamOwner
  readonly #offerBytes: number
  /** The piece being sent, and the offset in the body of its first byte. */
  #piece: Buffer | undefined
  #pieceOffset = 0
  #runBytes = 0
  #awaitingSource = false
  #over = false

  /** @param offerBytes most bytes handed to the library at once */
  constructor(res: uWS.HttpResponse, source: BodySource, owner: StreamOwner, offerBytes: number) {
    this.#res = res
    this.#source = source
    this.#owner = owner
    this.#offerBytes = offerBytes
  }

  /** Begins, within a cork, after status and headers. The source must have a length above zero. */
  start(): void {
    this.#res.onWritable((offset) => this.#resumeAt(offset))
    this.#run()
  }

  /** A number that grows as the client reads; undefined while the source is the one being waited for. */
  progress(): number | undefined {
    return this.#piece === undefined ? undefined : this.#res.getWriteOffset()
  }

  /** Offers the waiting piece again: the kernel has room for some of it long before it reports so. */
  retry(): void {
    if (this.#piece !== undefined) this.#res.cork(() => this.#resumeAt(this.#res.getWriteOffset()))
  }

  /** The connection is gone. The source is closed, but not while it is at work on a piece. */
  abort(): void {
    if (this.#over) return
    this.#end()
  }

  #resumeAt(offset: number): boolean {
    const piece = this.#piece
    if (piece === undefined) return true
    if (this.#offer(piece, offset - this.#pieceOffset)) this.#run()
    return this.#piece === undefined
  }

  /** Sends `piece` from `start` on; true when all of it is out and the body is not at its end. */
  #offer(piece: Buffer, start: number): boolean {
    for (let from = start; from < piece.length; from += this.#offerBytes) {
      const [taken, done] = this.#res.tryEnd(piece.subarray(from, from + this.#offerBytes), this.#source.length)
      if (done) {
        this.#end()
        this.#owner.streamDone()
        return false
      }
      if (!taken) return false
    }
    this.#pieceOffset += piece.length
    this.#piece = undefined
    return true
  }

  /** Asks for pieces and sends them until the source or the socket has to be waited for. */
  #run(): void {
    this.#runBytes = 0
    while (!this.#over && this.#piece === undefined) {
      if (this.#runBytes >= RUN_BYTES_MAXIMUM) {
        setImmediate(this.#continue)
        return
      }
      let next: Promise<Buffer | undefined> | Buffer | undefined
      try {
        next = this.#source.next()
      } catch (error) {
        this.#fail(error)
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
    const { length } = this.#source
    if (piece === undefined) this.#fail(new Error(`The body ended after ${this.#pieceOffset} of ${length} bytes`))
    else if (this.#pieceOffset + piece.length > length) this.#fail(new Error(`The body has more than ${length} bytes`))
    else if (piece.length > 0) {
      this.#runBytes += piece.length
      this.#piece = piece
      this.#offer(piece, 0)
    }
  }

  readonly #continue = (): void => {
    if (!this.#over) this.#res.cork(() => this.#run())
  }

  readonly #arrived = (piece: Buffer | undefined): void => {
    this.#awaitingSource = false
    if (this.#over) {
      closeSource(this.#source, this.#owner)
      return
    }
    this.#res.cork(() => {
      this.#take(piece)
      this.#run()
    })
  }

  readonly #rejected = (error: unknown): void => {
    this.#awaitingSource = false
    if (this.#over) closeSource(this.#source, this.#owner)
    else this.#fail(error)
  }

  #fail(error: unknown): void {
    this.#end()
    this.#owner.streamFailed(error)
  }

  #end(): void {
    this.#over = true
    this.#piece = undefined
    if (!this.#awaitingSource) closeSource(this.#source, this.#owner)
  }
}
