/** The network of a simulated world: connections that delay, split, end early, or are read slowly or not at all. */
import { createHash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { ListenOptions } from '../../../planes/http/listener.ts'
import type { Random } from '../../support/random.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import type { ClientEnd, MemoryExchange } from './memory-exchange.ts'
import { MemoryListener, type SentHead } from './memory-listener.ts'

/** Most requests come whole and at once: what the others do differently shows best beside them. */
const SPLIT_ONE_IN = 4
const SLOW_ONE_IN = 6
const DELAY_TURNS_MAXIMUM = 3
const PIECES_MAXIMUM = 5
const SENDER = '192.0.2.7'

/** How a client treats its connection. */
export interface Manner {
  /** Turns before the head is sent. */
  readonly delayTurns: number
  /** Bytes of the body that are sent in one turn. */
  readonly pieceBytes: number
  /** Turns after which a piece of the answer is read; undefined: it is never read. */
  readonly readTurns: number | undefined
  /** The connection ends after a share of the request's bytes, and so many turns. */
  readonly cut?: { readonly share: number; readonly turns: number }
  /** No more than this share of the request's bytes ever comes, and the connection stays. */
  readonly stallShare?: number
  /** The connection ends so many turns after the first piece of the answer. */
  readonly leavesAfterTurns?: number
}

/** A request whose answer lasts, and what has come of it so far. */
export interface LastingAnswer {
  readonly status: number | undefined
  readonly text: string
  /** Whether the connection has ended, by whomever. */
  readonly isOver: boolean
  /** The client ends the connection. */
  leave(): void
}

/** The connection ended before there was a whole head of an answer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

export class MemoryNetwork {
  /** Whether the host is there: what a host without power still says reaches no client. */
  isOn: () => boolean = () => true
  /** Called with each request and its answer, in the order of the answers. */
  record: ((line: string) => void) | undefined
  /** What the client of the next request does in place of what chance would have it do. */
  next: Partial<Manner> | undefined
  /** Called with each answer, and the port that it came from. */
  observe: (head: SentHead, answer: WireAnswer, port: number) => void = () => undefined
  /** Requests that were sent. */
  requests = 0
  readonly #random: Random
  readonly #listeners = new Map<number, MemoryListener>()
  readonly #open = new Set<Connection>()

  constructor(random: Random) {
    this.#random = random
  }

  listen(options: Omit<ListenOptions, 'driver'>, port: number): MemoryListener {
    const listener = new MemoryListener(options, port)
    this.#listeners.set(port, listener)
    return listener
  }

  /** What chance gives a client. */
  #manner(bytes: number): Manner {
    const random = this.#random
    const splits = random.below(SPLIT_ONE_IN) === 0
    return {
      delayTurns: splits ? random.below(DELAY_TURNS_MAXIMUM + 1) : 0,
      pieceBytes: splits ? Math.max(1, Math.ceil(bytes / (1 + random.below(PIECES_MAXIMUM)))) : Math.max(1, bytes),
      readTurns: random.below(SLOW_ONE_IN) === 0 ? 1 + random.below(DELAY_TURNS_MAXIMUM) : 0,
    }
  }

  /** @throws NoAnswerError */
  async exchange(port: number, head: SentHead, body: Buffer): Promise<WireAnswer> {
    const manner = { ...this.#manner(body.length), ...this.next }
    this.next = undefined
    this.requests += 1
    const listener = this.#listeners.get(port)
    if (listener === undefined) throw new NoAnswerError(`no listener at port ${port}`)
    const connection = new Connection(listener, head, body, manner, () => this.isOn())
    this.#open.add(connection)
    try {
      const answer = await connection.answered
      this.record?.(lineOf(head, body, answer))
      if (answer === undefined) throw new NoAnswerError(`${head.method} ${head.target}: the connection ended`)
      this.observe(head, answer, port)
      return answer
    } finally {
      this.#open.delete(connection)
    }
  }

  /** Sends a request without a body, whose answer is read as it comes. @throws NoAnswerError */
  hold(port: number, head: SentHead): LastingAnswer {
    const listener = this.#listeners.get(port)
    if (listener === undefined) throw new NoAnswerError(`no listener at port ${port}`)
    this.requests += 1
    const connection = new Connection(listener, head, Buffer.alloc(0), this.#manner(0), () => this.isOn())
    this.#open.add(connection)
    void connection.answered.then((answer) => {
      this.#open.delete(connection)
      this.record?.(lineOf(head, Buffer.alloc(0), answer))
      if (answer !== undefined) this.observe(head, answer, port)
    })
    return connection
  }

  /** Every connection is gone at once, and with them what was on its way. */
  loseAll(): void {
    for (const connection of this.#open) connection.lose()
  }
}

function lineOf({ method, target, headers }: SentHead, body: Buffer, answer: WireAnswer | undefined): string {
  const sent = JSON.stringify([method, target, headers, digestOf(body)])
  if (answer === undefined) return `${sent} no answer`
  return `${sent} ${JSON.stringify([answer.status, answer.headers, digestOf(answer.body), answer.complete])}`
}

function digestOf(bytes: Buffer): string {
  return `${bytes.length} ${createHash('sha256').update(bytes).digest('base64')}`
}

/** The client's end of one request. */
class Connection implements ClientEnd, LastingAnswer {
  readonly address = SENDER
  readonly answered: Promise<WireAnswer | undefined>
  readonly #listener: MemoryListener
  readonly #head: SentHead
  readonly #body: Buffer
  readonly #manner: Manner
  readonly #isOn: () => boolean
  /** Bytes of the body that are sent before the connection ends. */
  readonly #willSend: number
  #exchange: MemoryExchange | undefined
  #sent = 0
  #isPaused = false
  /** Whether a turn is to come in which the next piece is sent. */
  #isSending = false
  #isClosed = false
  status: number | undefined
  readonly #headers: Record<string, string> = {}
  readonly #pieces: Buffer[] = []
  #resolve: (answer: WireAnswer | undefined) => void = () => undefined

  constructor(listener: MemoryListener, head: SentHead, body: Buffer, manner: Manner, isOn: () => boolean) {
    this.#listener = listener
    this.#head = head
    this.#body = body
    this.#manner = manner
    this.#isOn = isOn
    const share = manner.cut?.share ?? manner.stallShare
    this.#willSend = share === undefined ? body.length : bodyShareOf(head, body.length, share)
    this.answered = new Promise((resolve) => {
      this.#resolve = resolve
    })
    after(manner.delayTurns, () => (this.#willSend < 0 ? this.#close(undefined) : this.#begin()))
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString()
  }

  get isOver(): boolean {
    return this.#isClosed
  }

  leave(): void {
    this.#leave(this.#answer(false))
  }

  /** The host is gone. */
  lose(): void {
    this.#close(undefined)
  }

  head(status: number, headers: readonly HeaderLine[], length: number | undefined, closes: boolean): void {
    this.status = status
    const lines: HeaderLine[] = [...headers, ['date', new Date(Date.now()).toUTCString()]]
    if (length !== undefined) lines.push(['content-length', String(length)])
    if (closes) lines.push(['connection', 'close'])
    for (const [sent, value] of lines) {
      const name = sent.toLowerCase()
      // As a client on a wire has them: one character a byte.
      const text = Buffer.from(value).toString('latin1')
      this.#headers[name] = this.#headers[name] === undefined ? text : `${this.#headers[name]}, ${text}`
    }
  }

  take(bytes: Buffer, taken: () => void): boolean {
    const { readTurns } = this.#manner
    if (this.#isClosed || !this.#isOn()) return false
    this.#pieces.push(Buffer.from(bytes))
    const { leavesAfterTurns } = this.#manner
    if (leavesAfterTurns !== undefined && this.#pieces.length === 1) {
      // What came until then is seen.
      after(leavesAfterTurns, () => this.#leave(this.#answer(false)))
    }
    if (readTurns === 0) return true
    if (readTurns === undefined) return false
    after(readTurns, () => {
      if (!this.#isClosed) taken()
    })
    return false
  }

  end(): void {
    this.#close(this.#answer(true))
    // The server has still to notice that it has answered.
    queueMicrotask(() => this.#listener.left(this))
  }

  closed(): void {
    this.#close(this.#answer(false))
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#sendLater()
  }

  #begin(): void {
    if (this.#isClosed) return
    this.#exchange = this.#listener.accept(this.#head, this)
    if (this.#exchange === undefined) this.#close(undefined)
    else this.#send()
  }

  #sendLater(): void {
    if (this.#isSending || this.#isClosed || this.#sent >= this.#willSend) return
    this.#isSending = true
    after(1, () => {
      this.#isSending = false
      this.#send()
    })
  }

  #send(): void {
    if (this.#isClosed) return
    if (this.#sent < this.#willSend) {
      if (this.#isPaused) return
      const end = Math.min(this.#willSend, this.#sent + this.#manner.pieceBytes)
      const piece = Buffer.from(this.#body.subarray(this.#sent, end))
      this.#sent = end
      this.#exchange?.receive(piece, end === this.#body.length)
    }
    if (this.#sent < this.#willSend) this.#sendLater()
    else if (this.#manner.cut !== undefined) after(this.#manner.cut.turns, () => this.#leave())
  }

  /** The client ends the connection. */
  #leave(answer?: WireAnswer): void {
    if (this.#isClosed) return
    this.#close(answer)
    this.#listener.left(this)
  }

  #close(answer: WireAnswer | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#resolve(this.#isOn() ? answer : undefined)
  }

  #answer(complete: boolean): WireAnswer | undefined {
    if (this.status === undefined) return undefined
    const body = Buffer.concat(this.#pieces)
    return {
      status: this.status,
      headers: this.#headers,
      body,
      complete,
      get text() {
        return body.toString()
      },
      get code() {
        return firstElement(this.text, 'Code')
      },
    }
  }
}

/** Calls back after so many turns; at once for none. */
function after(turns: number, callback: () => void): void {
  if (turns === 0) callback()
  else setImmediate(() => after(turns - 1, callback))
}

/** How much of the body is in a share of a request's bytes; below zero when not even the head is. */
function bodyShareOf({ method, target, headers }: SentHead, bodyBytes: number, share: number): number {
  const lines = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  const headBytes = method.length + target.length + lines + 14
  return Math.ceil(share * (headBytes + bodyBytes)) - headBytes
}
