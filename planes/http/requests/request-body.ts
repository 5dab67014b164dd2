/**
 * The body of one request, between the socket and its reader.
 *
 * A driver delivers chunks from the moment the head is parsed, even before a handler reads the body, and uWebSockets.js
 * reclaims the memory of each chunk when the callback returns. So early chunks are copied into a bounded queue, and the
 * socket is paused when it is full: nothing is lost while a handler authenticates, and memory stays bounded.
 */
import { askForTurn, cancelTurn, countWaiting } from './read-turns.ts'
import { copyChunk, keepChunk, releaseChunk } from './chunk-slabs.ts'
import { BodyTooLargeError, ClientGoneError, type RequestBody, ServerStoppingError } from '../exchange.ts'

/** The socket is paused when more undelivered bytes than this are queued. */
export const QUEUED_BYTES_MAXIMUM = 256 * 1024

/** Stops and restarts the socket below a body. Both may be called at any time, also after the socket is gone. */
export interface Throttle {
  readonly paused: boolean
  /** Closes the connection. */
  cut(): void
  pause(): void
  resume(): void
}

/**
 * More queued bytes than this are passed to `takeNow`, if the reader has it. Receive buffers are bounded so that a
 * pause takes effect after one read (receive-buffer.ts); this bounds memory if a read ever fills the library's buffer.
 */
export const WAITING_BYTES_MAXIMUM = 16 * 1024 * 1024

/** With more undelivered bytes than this, the connection is cut. */
const UNTAKEN_BYTES_MAXIMUM = 128 * 1024 * 1024

/** A body with more remaining bytes than this resumes only in its turn. */
const BURST_BYTES_MINIMUM = 1024 * 1024

/**
 * A chunk of this size shows that the sender is faster than the server. Other bodies get a turn before its next one.
 */
const TURN_BYTES_MINIMUM = 64 * 1024

type Sink = (chunk: Buffer) => void | Promise<void>

type Ending = 'gone' | 'answered' | { readonly error: unknown }

interface Reader {
  readonly sink: Sink
  readonly takeNow: ((chunk: Buffer) => void) | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class IncomingBody implements RequestBody {
  /** The last byte has arrived. */
  complete = false
  /** Bytes that have arrived, delivered or not. */
  receivedBytes = 0

  readonly #throttle: Throttle
  readonly #contentLength: number | undefined
  #queue: Buffer[] = []
  #queuedBytes = 0
  #reader: Reader | undefined
  #taken = false
  #discarding = false
  /** The sink's promise is pending; nothing else is delivered meanwhile. */
  #busy = false
  /** Why the body ended early: the client has gone, the response was sent first, or a chunk was not taken. */
  #ending: Ending | undefined
  /** Resolves `arrival`. */
  #arrived: (() => void) | undefined
  readonly #resume = (): void => this.#throttle.resume()

  constructor(throttle: Throttle, contentLength: number | undefined) {
    this.#throttle = throttle
    this.#contentLength = contentLength
  }

  /**
   * Takes a chunk from the driver.
   * @param isKept whether the chunk's memory stays valid after this returns, and belongs to the body alone
   */
  receive(chunk: Buffer, last: boolean, isKept: boolean): void {
    this.receivedBytes += chunk.length
    if (last) this.complete = true
    if (last) this.#arrived?.()
    if (this.#discarding) return
    const reader = this.#reader
    const direct = reader !== undefined && !this.#busy && this.#queue.length === 0
    if (chunk.length > 0) {
      if (direct) this.#deliver(reader, chunk, undefined)
      else this.#enqueue(chunk, isKept)
    }
    if (this.#busy || !direct) return
    if (last) this.#finish()
    else if (chunk.byteLength >= TURN_BYTES_MINIMUM) this.#waitForTurn()
  }

  /** The client has gone. A body that is already complete is still delivered. */
  abandon(): void {
    if (!this.complete) this.#stop('gone')
  }

  /** The server is stopping: an incomplete body fails for its reader with ServerStoppingError. */
  giveUp(): void {
    if (!this.complete) this.#stop({ error: new ServerStoppingError('the server is stopping') })
  }

  /** Reads the rest off the socket and drops it, so that the next request on the connection can be read. */
  discard(): void {
    this.#stop('answered')
    this.#throttle.resume()
  }

  arrival(): Promise<void> | undefined {
    if (this.complete || this.#ending !== undefined) return undefined
    return new Promise((resolve) => {
      this.#arrived = resolve
    })
  }

  takeArrived(): Buffer | undefined {
    if (!this.complete || this.#taken || this.#ending !== undefined) return undefined
    this.#taken = true
    const pieces = this.#queue.map(keepChunk)
    this.#queue = []
    this.#queuedBytes = 0
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
  }

  async readAll(bytesMaximum: number): Promise<Buffer> {
    const declared = this.#contentLength
    if (declared === undefined) return this.#gather(bytesMaximum)
    if (declared > bytesMaximum) {
      this.discard()
      throw new BodyTooLargeError(`The body has ${declared} bytes, ${bytesMaximum} are allowed`)
    }
    // Not from the shared pool: the caller may transfer this memory to another thread.
    const whole = Buffer.allocUnsafeSlow(declared)
    let filled = 0
    await this.pipe((chunk) => {
      filled += chunk.copy(whole, filled)
    })
    return whole
  }

  pipe(sink: Sink, takeNow?: (chunk: Buffer) => void): Promise<void> {
    if (this.#taken) return Promise.reject(new Error('The request body was already taken'))
    this.#taken = true
    if (this.#ending !== undefined) return Promise.reject(endingError(this.#ending))
    return new Promise((resolve, reject) => {
      this.#reader = { sink, takeNow, resolve, reject }
      countWaiting(this.#queuedBytes)
      this.#drain()
    })
  }

  async #gather(bytesMaximum: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    let length = 0
    await this.pipe((chunk) => {
      length += chunk.length
      if (length > bytesMaximum) throw new BodyTooLargeError(`The body has more than ${bytesMaximum} bytes`)
      pieces.push(Buffer.from(chunk))
    })
    const whole = Buffer.allocUnsafeSlow(length)
    let filled = 0
    for (const piece of pieces) filled += piece.copy(whole, filled)
    return whole
  }

  #enqueue(chunk: Buffer, isKept: boolean): void {
    const takeNow = this.#reader?.takeNow
    if (takeNow !== undefined && this.#queuedBytes + chunk.length > WAITING_BYTES_MAXIMUM) {
      this.#overflow(takeNow, chunk)
      return
    }
    this.#queue.push(isKept ? chunk : copyChunk(chunk, !this.complete))
    this.#queuedBytes += chunk.length
    if (this.#reader !== undefined) countWaiting(chunk.length)
    if (this.#queuedBytes > UNTAKEN_BYTES_MAXIMUM && !this.complete) this.#throttle.cut()
    else if (this.#queuedBytes > QUEUED_BYTES_MAXIMUM && !this.complete) this.#throttle.pause()
  }

  /** Passes all queued chunks, and `chunk` after them, to the reader at once. */
  #overflow(takeNow: (chunk: Buffer) => void, chunk: Buffer): void {
    try {
      for (let copy = this.#dequeue(); copy !== undefined; copy = this.#dequeue()) {
        takeNow(copy)
        releaseChunk(copy)
      }
      takeNow(chunk)
    } catch (error) {
      this.#stop({ error })
      this.#throttle.resume()
    }
  }

  #dequeue(): Buffer | undefined {
    const copy = this.#queue.shift()
    if (copy === undefined) return undefined
    this.#queuedBytes -= copy.length
    countWaiting(-copy.length)
    return copy
  }

  /** Passes `chunk` to the sink; releases `copy` when the sink has settled. */
  #deliver(reader: Reader, chunk: Buffer, copy: Buffer | undefined): void {
    let pending: void | Promise<void>
    try {
      pending = reader.sink(chunk)
    } catch (error) {
      this.#fail(error)
      return
    }
    if (pending === undefined) {
      if (copy !== undefined) releaseChunk(copy)
      return
    }
    this.#busy = true
    if (!this.complete) this.#throttle.pause()
    pending.then(
      () => {
        this.#busy = false
        if (copy !== undefined) releaseChunk(copy)
        this.#drain()
      },
      (error: unknown) => {
        this.#busy = false
        this.#fail(error)
      },
    )
  }

  /** Delivers queued chunks until a promise of the sink is pending; then ends the reader or resumes the socket. */
  #drain(): void {
    while (!this.#busy && this.#reader !== undefined && this.#ending === undefined) {
      const copy = this.#dequeue()
      if (copy === undefined) break
      this.#deliver(this.#reader, copy, copy)
    }
    if (this.#busy) return
    if (this.#ending !== undefined) this.#fail(endingError(this.#ending))
    else if (this.complete && this.#queue.length === 0) this.#finish()
    else if (this.#throttle.paused) this.#runAgain()
  }

  /** One turn of the event loop takes one such chunk of all clients, so that other requests are served in between. */
  #waitForTurn(): void {
    if (this.#discarding) return
    this.#throttle.pause()
    askForTurn(this.#resume)
  }

  #runAgain(): void {
    const coming = this.#contentLength === undefined ? Infinity : this.#contentLength - this.receivedBytes
    if (coming > BURST_BYTES_MINIMUM) askForTurn(this.#resume)
    else this.#resume()
  }

  /** Ends the reader, but never while its sink is still at work on resources that the reader's owner may then free. */
  #stop(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#arrived?.()
    this.#drop()
    if (!this.#busy && this.#reader !== undefined) this.#fail(endingError(ending))
  }

  #finish(): void {
    this.#reader?.resolve()
    this.#reader = undefined
  }

  #fail(error: unknown): void {
    this.#drop()
    this.#reader?.reject(error)
    this.#reader = undefined
    this.#throttle.resume()
  }

  #drop(): void {
    this.#discarding = true
    cancelTurn(this.#resume)
    if (this.#reader !== undefined && this.#queuedBytes > 0) countWaiting(-this.#queuedBytes)
    for (const copy of this.#queue) releaseChunk(copy)
    this.#queue = []
    this.#queuedBytes = 0
  }
}

function endingError(ending: Ending): unknown {
  if (typeof ending === 'object') return ending.error
  if (ending === 'gone') return new ClientGoneError('The client left before the end of the request body')
  return new Error('The response was sent before the request body was read')
}

/** The body of all requests without one. */
export const EMPTY_BODY: RequestBody = {
  receivedBytes: 0,
  arrival: () => undefined,
  takeArrived: () => Buffer.alloc(0),
  readAll: () => Promise.resolve(Buffer.alloc(0)),
  pipe: () => Promise.resolve(),
}
