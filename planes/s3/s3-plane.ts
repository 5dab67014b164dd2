import { auditResultOf } from '../../engine/events/audit.ts'
import type { ConcurrencyGate } from '../http/concurrency-gate.ts'
import {
  BodyRemovedError,
  type BodySource,
  type HeaderLine,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from '../http/exchange.ts'
import type { Authenticator, Identity } from './authenticate.ts'
import { authorize } from './authorize.ts'
import { answerPreflight, crossOriginHeaders, isPreflight, preflightTarget } from './cors-requests.ts'
import { commonHeaders, errorResponse, toS3Error } from './error-response.ts'
import { S3Error } from './errors.ts'
import type { Operation } from './operation-table.ts'
import { OPERATION_HANDLERS } from './operations/operation-handlers.ts'
import { findOperation, recognize } from './recognize-operation.ts'
import { RequestIds } from './request-ids.ts'
import { auditContext, type Journaled, type S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import { parseTarget, type Target } from './target.ts'
import { refuseUnsupportedHeaders } from './unsupported-headers.ts'
import { refuseVirtualHost } from './virtual-host.ts'

/** One answered request, for metrics and the log. */
export interface FinishedRequest {
  readonly requestId: string
  readonly method: string
  /** Undefined for a request that was refused before its operation was known. */
  readonly operation: Operation | undefined
  /** What was asked for, without names: `/{bucket}/{key}`. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  readonly receivedBytes: number
  readonly sentBytes: number
}

export interface S3Telemetry {
  finished(request: FinishedRequest): void
  /** A failure that is a fault of the server. */
  failed(error: unknown, requestId: string): void
}

export interface S3PlaneParts {
  readonly services: S3Services
  readonly authenticator: Authenticator
  readonly gate: ConcurrencyGate
  readonly telemetry: S3Telemetry
}

/**
 * The S3 data plane: every request goes through the same steps in the same order, and every answer is recorded.
 * Authentication stands before everything that depends on what was asked for (S1). The one exception are preflights,
 * which cannot be signed; what they are told depends on the CORS rules of the bucket alone.
 */
export function createS3Handler(parts: S3PlaneParts): HttpHandler {
  const requestIds = new RequestIds()
  return (http) => new S3Exchange(parts, http, requestIds.next()).run()
}

const NOTHING: Journaled = { kind: 'nothing' }

/** What is left to do for a request that was let in. */
type Work = () => HttpResponse | Promise<HttpResponse>

function notSupported({ name }: Operation): S3Error {
  return new S3Error('NotImplemented', { message: `${name} is not supported by this server.` })
}

class S3Exchange {
  readonly #parts: S3PlaneParts
  readonly #http: HttpRequest
  readonly #requestId: string
  readonly #started = performance.now()
  #target: Target | undefined
  #identity: Identity | undefined
  #operation: Operation | undefined
  #request: S3Request | undefined
  #crossOrigin: readonly HeaderLine[] = []
  #entered = false

  constructor(parts: S3PlaneParts, http: HttpRequest, requestId: string) {
    this.#parts = parts
    this.#http = http
    this.#requestId = requestId
  }

  run(): HttpResponse | Promise<HttpResponse> {
    try {
      const work = isPreflight(this.#http) ? this.#admitPreflight() : this.#admit()
      const entered = this.#parts.gate.enter()
      if (entered === 'rejected') throw new S3Error('SlowDown')
      if (entered !== 'entered') return this.#runQueued(work, entered)
      this.#entered = true
      const response = work()
      return response instanceof Promise ? this.#settle(response) : this.#answer(response)
    } catch (error) {
      return this.#refuse(error)
    }
  }

  /** From the head of the request to an operation that may be carried out. */
  #admit(): Work {
    const http = this.#http
    const { services } = this.#parts
    const target = parseTarget(http.path, http.query)
    this.#target = target
    this.#crossOrigin = crossOriginHeaders(http, target, services.catalog)
    this.#identity = this.#parts.authenticator.authenticate(http, target)
    const identity = this.#identity
    if (identity.kind === 'anonymous') throw this.#refuseAnonymous(http, target)
    refuseVirtualHost(http, target, services.catalog)
    const operation = recognize(http.method, target, http)
    this.#operation = operation
    if (!operation.implemented) throw notSupported(operation)
    refuseUnsupportedHeaders(http, target, operation)
    authorize(identity.policies, operation, http, target)
    const handler = OPERATION_HANDLERS.get(operation.name)
    if (handler === undefined) throw new Error(`${operation.name} has no handler`)
    const request: S3Request = { http, target, identity, operation, requestId: this.#requestId, journaled: NOTHING }
    this.#request = request
    return () => handler(request, services)
  }

  /**
   * Nothing is served without a signature, and nothing is told of what is there (S9). That an operation does not exist
   * here is no secret: a browser's form upload, which has no signature that this server reads, is refused by its name.
   */
  #refuseAnonymous(http: HttpRequest, target: Target): S3Error {
    const operation = findOperation(http.method, target, http)
    if (operation === undefined || operation.implemented) return new S3Error('AccessDenied')
    this.#operation = operation
    return notSupported(operation)
  }

  /** Nothing that a preflight carries is asked for beside its path, Origin and two headers: no signature, no query. */
  #admitPreflight(): Work {
    const http = this.#http
    const target = preflightTarget(http)
    this.#target = target
    this.#operation = recognize(http.method, target, http)
    return () => answerPreflight(http, target, this.#parts.services.catalog)
  }

  async #runQueued(work: Work, entered: Promise<boolean>): Promise<HttpResponse> {
    try {
      this.#entered = await entered
      if (!this.#entered) throw new S3Error('SlowDown')
      return await this.#answer(await work())
    } catch (error) {
      return this.#refuse(error)
    }
  }

  async #settle(response: Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      return await this.#answer(await response)
    } catch (error) {
      return this.#refuse(error)
    }
  }

  #refuse(failure: unknown): HttpResponse | Promise<HttpResponse> {
    const { error, expected } = toS3Error(failure)
    if (!expected) this.#parts.telemetry.failed(failure, this.#requestId)
    return this.#answer(errorResponse(error, this.#http.method, this.#http.path, this.#requestId), error.code)
  }

  /** Records the answer and sends it off; waits only when the journal has too many records on their way. */
  #answer(response: HttpResponse, errorCode?: string): HttpResponse | Promise<HttpResponse> {
    const wait = this.#record(response.status, errorCode)
    const finished = this.#finish(response)
    return wait === undefined ? finished : wait.then(() => finished)
  }

  #record(status: number, errorCode: string | undefined): Promise<void> | undefined {
    const journaled = this.#request?.journaled ?? NOTHING
    if (journaled.kind === 'outcome') return undefined
    const { engine } = this.#parts.services
    const identity = this.#identity?.kind === 'signed' ? this.#identity : undefined
    const context = auditContext(this.#http, this.#target, this.#operation, identity, this.#requestId)
    const details = errorCode === undefined ? ['status', status] : ['status', status, 'error', errorCode]
    const result = auditResultOf(status)
    // A change that was refused before it was authorized has no attempt: it never came to be one.
    const authorized = this.#request?.operation.changes === true && result !== 'success'
    if (authorized && journaled.kind === 'nothing') return engine.recordFailedChange(context, result, details)
    const audit = { ...context, metadata: [...context.metadata, ...details] }
    return engine.record(audit, result, journaled.kind === 'attempt' ? journaled.sequence : undefined)
  }

  #finish(response: HttpResponse): HttpResponse {
    const headers = [...response.headers, ...this.#crossOrigin, ...commonHeaders(this.#requestId)]
    const { body } = response
    if (typeof body === 'object' && !Buffer.isBuffer(body)) {
      return { ...response, headers, body: this.#followed(body, response.status) }
    }
    this.#done(response.status, body === undefined ? 0 : Buffer.byteLength(body))
    return { ...response, headers }
  }

  /** A streamed answer is done when its source is closed. */
  #followed(source: BodySource, status: number): BodySource {
    let sentBytes = 0
    return {
      length: source.length,
      next: async () => {
        try {
          const piece = await source.next()
          sentBytes += piece?.length ?? 0
          return piece
        } catch (error) {
          if (!(error instanceof BodyRemovedError)) this.#parts.telemetry.failed(error, this.#requestId)
          throw error
        }
      },
      close: () => {
        source.close()
        this.#done(status, sentBytes)
      },
    }
  }

  #done(status: number, sentBytes: number): void {
    if (this.#entered) this.#parts.gate.leave()
    this.#entered = false
    this.#parts.telemetry.finished({
      requestId: this.#requestId,
      method: this.#http.method,
      operation: this.#operation,
      route: this.#route(),
      status,
      milliseconds: performance.now() - this.#started,
      receivedBytes: this.#http.contentLength ?? 0,
      sentBytes,
    })
  }

  #route(): string {
    if (this.#target?.bucket === undefined) return '/'
    return this.#target.key === undefined ? '/{bucket}' : '/{bucket}/{key}'
  }
}
