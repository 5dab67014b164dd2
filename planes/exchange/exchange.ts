import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import { BusyError, type Share } from '../../engine/shares/shares.ts'
import type { ConcurrencyGate, Entry } from '../http/limits/concurrency-gate.ts'
import {
  BodyRemovedError,
  type BodySource,
  ClientGoneError,
  CutOffError,
  type HttpRequest,
  type HttpResponse,
  isSource,
} from '../http/exchange.ts'
import { networkOf } from '../http/limits/network-of.ts'
import { HeldBody, holdBody, longBody, turnAfterLong } from './held-answers.ts'
import { refusalPace } from './refusal-pace.ts'
import { type AuditSource, RequestJournal } from './request-journal.ts'

/** The refusal of a request in a dialect. */
export interface Refusal {
  /** The code of the error, for the audit record. */
  readonly code: string
  readonly response: HttpResponse
  /** Whether it is a server fault, to be logged. */
  readonly isFault: boolean
}

/** Bodies up to this size are received before their operation takes a place, so that slow senders hold no place. */
const SMALL_BODY_BYTES_MAXIMUM = 64 * 1024
/** Maximum body of the refusals that are sent without asking for memory; a longer body is left out. */
const UNASKED_LENGTH_MAXIMUM = 1024

/**
 * The pipeline of one request, the same for all: admit, await a small body, enter the gate, handle, record, answer,
 * each once. A dialect is a subclass, which decides who is admitted, what is done and how it is answered. Each request
 * has its own object, which keeps what is known so far, so that a refusal is recorded with as much. A handler that
 * needs no promise is answered without one.
 */
export abstract class Exchange implements AuditSource {
  readonly http: HttpRequest
  readonly requestId: string
  readonly journal: RequestJournal
  readonly #gate: ConcurrencyGate
  /** The entry in the gate; undefined while the request holds no place. */
  #entry: Entry | undefined

  constructor(http: HttpRequest, requestId: string, engine: EngineClient, gate: ConcurrencyGate) {
    this.http = http
    this.requestId = requestId
    this.journal = new RequestJournal(engine, this)
    this.#gate = gate
  }

  /**
   * Parses, authenticates, recognizes and authorizes the request, in the order of the dialect.
   * @returns whether it has to pass the gate; `by body`: the beginning of the body says who sends it: `admitByBody` follows
   * @throws what `refusal` translates
   */
  protected abstract admit(): 'gated' | 'free' | 'by body'

  /** Of a body, at most, what `admitByBody` keeps of it. */
  protected get admittedBytes(): number {
    return 0
  }

  /** Follows where `admit` returned `by body`: without a place, before the gate. @throws what `refusal` translates */
  protected admitByBody(): Promise<void> {
    throw new Error('a request that is admitted by its head')
  }

  /**
   * The account whose shares of places and of answer memory the request uses. Without authentication it is the address,
   * or the 64-bit network of an IPv6 address.
   */
  protected get account(): string {
    return networkOf(this.http.remoteAddress)
  }

  /** Whether an admitted request may use the places reserved for administrators, and has no share. */
  protected get isAdministrator(): boolean {
    return false
  }

  /** Whether the request is not authenticated, at least not yet. */
  protected abstract get isStranger(): boolean

  /** Carries out the admitted request. */
  protected abstract handle(): HttpResponse | Promise<HttpResponse>

  /** Translates every error of a request, also of the rules and of the store, into an answer of the dialect. */
  protected abstract refusal(error: unknown): Refusal

  /** Content of the request's records; undefined when it is not recorded. Called more than once. */
  abstract audit(): AuditContext | undefined

  /** Whether the request was authorized to change state; then a failure is recorded with an attempt. */
  protected abstract get isChange(): boolean

  /** Adds the common headers of the dialect to an answer. Called once, when the answer is recorded. */
  protected abstract finish(response: HttpResponse): HttpResponse

  /** Replaces an answer that could not be recorded. */
  protected abstract unrecorded(error: unknown): HttpResponse

  /** Called with each server fault, also during a streamed body. */
  protected abstract failed(error: unknown): void

  /**
   * Called once for a failure of the server, before the answer: for 500 and more except 501 and a full gate, and when a
   * body breaks off.
   */
  protected erred(): void {}

  /** Called when the last byte of the answer was produced, or the client has gone. */
  protected sent(_status: number, _bytes: number): void {}

  /** Answers the request. Called once. */
  run(): HttpResponse | Promise<HttpResponse> {
    let response: HttpResponse | Promise<HttpResponse>
    try {
      const admitted = this.admit()
      if (admitted === 'by body') return this.#runByBody()
      if (admitted === 'gated') {
        const bytes = this.http.contentLength ?? 0
        const isSmall = bytes > 0 && bytes <= SMALL_BODY_BYTES_MAXIMUM
        const share = isSmall ? this.#gate.expectBody(this.account, bytes) : undefined
        if (share !== undefined) return this.#runAfterBody(share)
        const entered = this.#takePlace()
        const turn = entered ?? turnAfterLong(this.account)
        if (turn !== undefined) return this.#runLater(turn)
      }
      response = this.handle()
    } catch (error) {
      return this.#refuse(error)
    }
    return response instanceof Promise ? this.#settle(response) : this.#answer(response)
  }

  /**
   * Gets a place, if possible without a promise.
   * @throws BusyError
   */
  #takePlace(): Promise<void> | undefined {
    const entry = this.#gate.entryOf(this.account, this.isAdministrator)
    const entered = this.#gate.enter(entry)
    if (entered === 'rejected') throw new BusyError()
    if (entered !== 'entered') return this.#takePlaceLater(entry, entered)
    this.#entry = entry
    return undefined
  }

  async #takePlaceLater(entry: Entry, entered: Promise<boolean>): Promise<void> {
    if (!(await entered)) throw new BusyError()
    this.#entry = entry
  }

  /** All steps of a small write in one async function, since every promise costs. */
  async #runAfterBody(share: Share): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      const arriving = this.http.body.arrival()
      if (arriving !== undefined) await arriving
      share.leave()
      const entered = this.#takePlace()
      if (entered !== undefined) await entered
      const handled = this.handle()
      response = handled instanceof Promise ? await handled : handled
    } catch (error) {
      return this.#refuse(error)
    }
    return this.#answer(response)
  }

  async #runByBody(): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      const share = this.#gate.expectBody(this.account, this.admittedBytes)
      if (share === undefined) throw new BusyError()
      try {
        await this.admitByBody()
      } finally {
        share.leave()
      }
      await this.#takePlace()
      await turnAfterLong(this.account)
      response = await this.handle()
    } catch (error) {
      return this.#refuse(error)
    }
    return this.#answer(response)
  }

  async #runLater(entered: Promise<void>): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      await entered
      await turnAfterLong(this.account)
      response = await this.handle()
    } catch (error) {
      return this.#refuse(error)
    }
    return this.#answer(response)
  }

  async #settle(handled: Promise<HttpResponse>): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      response = await handled
    } catch (error) {
      return this.#refuse(error)
    }
    return this.#answer(response)
  }

  #refuse(error: unknown): HttpResponse | Promise<HttpResponse> {
    const { code, response, isFault } = this.refusal(error)
    if (isFault) this.failed(error)
    if (isFault || isServersFault(response.status, error)) this.erred()
    const turn = this.isStranger ? refusalPace.turn(networkOf(this.http.remoteAddress)) : undefined
    return turn === undefined ? this.#answer(response, code) : turn.then(() => this.#answer(response, code))
  }

  /** Answers if there is memory for the answer until it is sent; otherwise refuses the request. */
  #answer(response: HttpResponse, errorCode?: string): HttpResponse | Promise<HttpResponse> {
    const body = longBody(response)
    if (body === undefined) return this.#record(response, errorCode)
    // A change that was made must be answered in any case.
    const held = holdBody(body, { owner: this.account, cut: () => this.http.cut(), isDue: this.isChange })
    return held === undefined ? this.#answerBusy() : this.#record({ ...response, body: held }, errorCode)
  }

  /** Refuses without asking for memory, so this cannot recurse, however long the dialect's refusal is. */
  #answerBusy(): HttpResponse | Promise<HttpResponse> {
    const { code, response } = this.refusal(new BusyError())
    return this.#record(withoutLongBody(response), code)
  }

  /** Records the answer and returns it; waits only while the journal has too many pending records. */
  #record(response: HttpResponse, errorCode?: string): HttpResponse | Promise<HttpResponse> {
    let recorded: Promise<void> | undefined
    try {
      recorded = this.journal.finish(response.status, errorCode, this.isChange)
    } catch (error) {
      return saysFailure(response) ? this.finish(this.#follow(response)) : this.#replace(response, error)
    }
    const followed = this.#follow(response)
    if (recorded === undefined) return this.finish(followed)
    return recorded.then(
      () => this.finish(followed),
      (error: unknown) => (saysFailure(followed) ? this.finish(followed) : this.#replace(followed, error)),
    )
  }

  #replace(response: HttpResponse, error: unknown): HttpResponse {
    discardBody(response)
    this.#leave()
    this.erred()
    return this.finish(withoutLongBody(this.unrecorded(error)))
  }

  /**
   * Leaves the gate when a streamed body is closed, and at once without one. An answer in memory keeps its place until
   * it is sent, so that an account has no more such answers than places. Answers of administrators do not: they have no
   * share, and would take the places of others. Nor does a stream that lasts.
   */
  #follow(response: HttpResponse): HttpResponse {
    const { body, status } = response
    if (isSource(body) && body.isLasting === true) this.#leave()
    if (isSource(body) && !(body instanceof HeldBody)) return { ...response, body: this.#followed(body, status) }
    this.sent(status, bytesOf(body))
    if (body instanceof HeldBody && this.#entry !== undefined && !this.isAdministrator)
      body.closed = () => this.#leave()
    else this.#leave()
    return response
  }

  #followed(source: BodySource, status: number): BodySource {
    let sentBytes = 0
    let isOver = false
    const counted = (piece: Buffer | undefined) => {
      if (piece === undefined) isOver = true
      else sentBytes += piece.length
      return piece
    }
    const broken = (error: unknown): never => {
      isOver = true
      this.journal.brokeOff(status, this.#brokenCode(error), sentBytes)
      if (error instanceof BodyRemovedError) throw error
      this.failed(error)
      this.erred()
      throw new CutOffError('the answer was cut off', { cause: error })
    }
    return {
      length: source.length,
      next: () => {
        try {
          const piece = source.next()
          return piece instanceof Promise ? piece.then(counted, broken) : counted(piece)
        } catch (error) {
          return broken(error)
        }
      },
      close: () => {
        source.close()
        if (!isOver) this.journal.left(status, sentBytes)
        this.#leave()
        this.sent(status, sentBytes)
      },
    }
  }

  /** The code in the record of an answer that broke off. */
  #brokenCode(error: unknown): string {
    return error instanceof ClientGoneError ? 'client-gone' : this.refusal(error).code
  }

  #leave(): void {
    const entry = this.#entry
    this.#entry = undefined
    if (entry !== undefined) this.#gate.leave(entry)
  }
}

/** Whether the answer reports a failure of the server, which is true even without a record. */
function saysFailure({ status }: HttpResponse): boolean {
  return status >= 500
}

/** Whether a refusal is a server error. 501 and a full gate, which has its own metric, do not count. */
function isServersFault(status: number, error: unknown): boolean {
  return status >= 500 && status !== 501 && !(error instanceof BusyError)
}

/** The answer without a long body, whose length a client could influence. */
function withoutLongBody(response: HttpResponse): HttpResponse {
  const { body, ...head } = response
  return body === undefined || isSource(body) || body.length <= UNASKED_LENGTH_MAXIMUM ? response : head
}

function bytesOf(body: Buffer | string | HeldBody | undefined): number {
  if (body === undefined) return 0
  return body instanceof HeldBody ? body.length : Buffer.byteLength(body)
}

/** Closes the body of a response that is not sent. */
export function discardBody({ body }: HttpResponse): void {
  if (isSource(body)) body.close()
}
