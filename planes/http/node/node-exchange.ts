/** An exchange over the request and response objects of node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type BodySource, type HttpResponse, isSource } from '../exchange.ts'
import type { NodeConnection } from './node-connections.ts'
import { NodeHead } from './node-head.ts'
import { lastMessage, writeHead } from './node-response.ts'
import { NodeStream } from './node-stream.ts'
import type { IncomingBody } from '../requests/request-body.ts'
import { type ExchangeHost, ServedExchange } from '../served-exchange.ts'
import { closeSource } from '../responses/source-stream.ts'
import { announcedLength, isBodyless, type WholeBody, wholeLength, wholeSource } from '../responses/whole-response.ts'

/** A longer body in memory is sent as a stream, which is watched until it is sent. */
const WHOLE_BYTES_MAXIMUM = 16 * 1024

const NOTHING = Buffer.alloc(0)
const ASCII = /^[\0-\x7f]*$/

export class NodeExchange extends ServedExchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: NodeConnection
  /** Whether the whole answer was handed to node:http. */
  #isSent = false

  constructor(request: IncomingMessage, response: ServerResponse, connection: NodeConnection, host: ExchangeHost) {
    super(new NodeHead(request), connection.address, host)
    this.#request = request
    this.#response = response
    this.#connection = connection
    const { incoming } = this
    if (incoming === undefined) return
    request.on('data', (chunk: Buffer) => this.#received(incoming, chunk, this.#isLast(chunk)))
    request.on('end', () => {
      if (!incoming.complete) this.#received(incoming, NOTHING, true)
    })
  }

  /** Whether another request on the connection may be taken: this answer is sent or handed over, so it goes first. */
  get isAnswered(): boolean {
    return this.#isSent || this.#response.writableEnded
  }

  /** Whether part of an answer was sent, so that no other answer is possible. */
  get hasSpoken(): boolean {
    return this.#isSent || this.#response.headersSent
  }

  /** The connection has closed, or received an invalid request. */
  gone(): void {
    if (!this.over || this.lingerUntilMilliseconds !== undefined) this.clientGone()
  }

  cut(): void {
    if (!this.over) this.#connection.close()
  }

  protected stopSocket(): void {
    this.#request.pause()
  }

  protected wakeSocket(): void {
    this.#request.resume()
  }

  protected prolongSocket(): void {
    // Nothing to do: node:http closes no connection with a request under way.
  }

  protected schedule(response: HttpResponse, close: boolean): void {
    const { body } = response
    const closes = close || !this.#response.shouldKeepAlive
    this.incoming?.discard()
    if (!isSource(body) && this.mustLinger(closes)) this.#sendAndLinger(response)
    else if (this.method === 'HEAD' || isBodyless(response.status)) this.#sendHead(response, closes)
    else if (isSource(body)) this.#sendSource(response, body, closes)
    else this.#sendWhole(response, body ?? '', closes)
  }

  #isLast(chunk: Buffer): boolean {
    return this.contentLength !== undefined && this.incoming?.receivedBytes === this.contentLength - chunk.length
  }

  #received(incoming: IncomingBody, chunk: Buffer, last: boolean): void {
    incoming.receive(chunk, last, true)
    if (!last || this.lingerUntilMilliseconds === undefined) return
    if (this.#connection.closing) this.#connection.end()
    else this.#leaveConnection()
  }

  /**
   * Bypasses node:http, which would close the socket as soon as the answer is sent. With unread bytes that resets the
   * connection, and a client that is still sending would lose the answer that says why.
   */
  #sendAndLinger(response: HttpResponse): void {
    this.#isSent = true
    this.#connection.closing = true
    this.#connection.socket.write(lastMessage(response, this.method))
    this.linger()
  }

  #sendHead(response: HttpResponse, close: boolean): void {
    const { status } = response
    this.release(response)
    writeHead(this.#response, response, isBodyless(status) ? undefined : announcedLength(response), close)
    this.#end('', close)
  }

  #sendWhole(response: HttpResponse, body: WholeBody, close: boolean): void {
    const length = wholeLength(body)
    if (length > WHOLE_BYTES_MAXIMUM) {
      this.#sendSource(response, wholeSource(typeof body === 'string' ? Buffer.from(body) : body), close)
      return
    }
    writeHead(this.#response, response, length, close)
    this.#end(body, close)
  }

  /** The idle timeout ends the connection of a client that does not read the answer. */
  #end(body: WholeBody, close: boolean): void {
    this.#isSent = true
    if (close) this.#connection.closing = true
    this.#response.end(oneByteText(body), 'latin1')
    this.#leaveConnection()
  }

  #sendSource(response: HttpResponse, source: BodySource, close: boolean): void {
    const { length } = source
    if (close) this.#connection.closing = true
    writeHead(this.#response, response, length, close)
    if (length === 0) {
      closeSource(source, this)
      this.#end('', close)
      return
    }
    this.stream = new NodeStream(this.#response, source, length, this)
    this.stream.start()
    if (!this.over) this.keepWatched()
  }

  override streamDone(): void {
    this.#isSent = true
    this.#leaveConnection()
  }

  /** Lingers until the rest of the body, which is dropped, has arrived, so that the stall guard watches it. */
  #leaveConnection(): void {
    if (this.over) return
    if (this.incoming !== undefined && !this.incoming.complete) {
      this.linger()
      return
    }
    this.#connection.exchanges.delete(this)
    this.finish()
  }
}

/**
 * The body as latin1 text, which node:http joins to the head and writes at once. With UTF-8 text it would also encode
 * the head, whose bytes are final.
 */
function oneByteText(body: WholeBody): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return ASCII.test(body) ? body : Buffer.from(body).toString('latin1')
}
