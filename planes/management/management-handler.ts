import { DescriptorsExhaustedError } from '../../engine/disk/disk.ts'
import { EngineUnavailableError } from '../../engine/errors.ts'
import { auditResultOf } from '../../engine/events/audit.ts'
import { ClientGoneError, type HttpHandler, type HttpRequest, type HttpResponse } from '../http/exchange.ts'
import type { ConcurrencyGate } from '../http/concurrency-gate.ts'
import { IncompletePayloadError, StorageFullError } from '../objects/receive-payload.ts'
import type { ManagementAuthenticator, ManagementIdentity } from './authenticate.ts'
import { bearsToken } from './bearer-token.ts'
import { ManagementError } from './errors.ts'
import { auditOf, type ManagementRequest } from './management-request.ts'
import { requestIdOf } from './request-id.ts'
import { discardBody, errorResponse, whenSent, withoutBody, withRequestId } from './responses.ts'
import { ROUTE_HANDLERS } from './route-handlers.ts'
import type { ManagementRoute } from './route-table.ts'
import { decodeParameters, type FoundRoute, findRoute, parseQuery, patternOf } from './router.ts'
import type { ManagementServices } from './services.ts'

/** One answered request, for the log: the route by its pattern, never the path that was sent. */
export interface ManagementExchange {
  readonly requestId: string
  readonly method: string
  /** Undefined when no route has the path. */
  readonly route: string | undefined
  readonly status: number
  /** What a handler threw, when it is a fault of the server. */
  readonly error?: unknown
}

export interface ManagementOptions {
  readonly services: ManagementServices
  readonly authenticator: ManagementAuthenticator
  readonly gate: ConcurrencyGate
  /** Without one the metrics stay closed. */
  readonly scrapeToken: string | undefined
  /** Told of every answered request. */
  readonly observe?: (exchange: ManagementExchange) => void
}

/**
 * The handler of the management listener. Every response carries x-request-id; errors have the envelope of the
 * specification; every request of the versioned interface is in the audit log.
 */
export function createManagementHandler(options: ManagementOptions): HttpHandler {
  return (http) => new ManagementAnswer(options, http).run()
}

class ManagementAnswer {
  readonly #options: ManagementOptions
  readonly #http: HttpRequest
  readonly #requestId: string
  #route: ManagementRoute | undefined
  #identity: ManagementIdentity | undefined
  #authorized = false
  #request: ManagementRequest | undefined
  #error: unknown

  constructor(options: ManagementOptions, http: HttpRequest) {
    this.#options = options
    this.#http = http
    this.#requestId = requestIdOf(http)
  }

  async run(): Promise<HttpResponse> {
    const response = await this.#answer()
    const { method, path } = this.#http
    this.#options.observe?.({
      requestId: this.#requestId,
      method,
      route: this.#route?.path ?? patternOf(path),
      status: response.status,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    })
    const complete = withRequestId(response, this.#requestId)
    return method === 'HEAD' ? withoutBody(complete) : complete
  }

  async #answer(): Promise<HttpResponse> {
    let response: HttpResponse
    let refused: ManagementError | undefined
    try {
      response = await this.#carryOut()
    } catch (error) {
      refused = this.#refusalOf(error)
      response = errorResponse(refused, this.#requestId)
    }
    try {
      await this.#record(response.status, refused)
      return response
    } catch {
      discardBody(response)
      return errorResponse(new ManagementError('AUDIT_UNAVAILABLE'), this.#requestId)
    }
  }

  async #carryOut(): Promise<HttpResponse> {
    const found = findRoute(this.#http.method, this.#http.path)
    this.#route = found.route
    const { authentication } = found.route
    if (authentication === 'scrape-token') this.#requireScrapeToken()
    if (typeof authentication === 'string') return this.#handle(this.#requestOf(found, PROBE))
    this.#identity = this.#authenticate()
    if (!authentication.includes(this.#identity.role)) throw new ManagementError('FORBIDDEN')
    if (!found.route.available) throw new ManagementError('NOT_AVAILABLE')
    this.#authorized = true
    this.#request = this.#requestOf(found, this.#identity)
    return this.#withinGate(this.#request)
  }

  #requestOf({ route, sent }: FoundRoute, identity: ManagementIdentity): ManagementRequest {
    const parameters = decodeParameters(sent)
    const query = parseQuery(this.#http.query, route)
    const journaled = { kind: 'nothing' } as const
    return { http: this.#http, route, identity, requestId: this.#requestId, parameters, query, journaled }
  }

  async #withinGate(request: ManagementRequest): Promise<HttpResponse> {
    const { gate } = this.#options
    const entered = gate.enter()
    if (entered === 'rejected') throw new ManagementError('SLOW_DOWN')
    if (entered !== 'entered' && !(await entered)) throw new ManagementError('SLOW_DOWN')
    try {
      return whenSent(await this.#handle(request), () => gate.leave())
    } catch (error) {
      gate.leave()
      throw error
    }
  }

  async #handle(request: ManagementRequest): Promise<HttpResponse> {
    const handler = ROUTE_HANDLERS.get(`${request.route.method} ${request.route.path}`)
    if (handler === undefined) throw new Error(`${request.route.method} ${request.route.path} has no handler`)
    return handler(request, this.#options.services)
  }

  #requireScrapeToken(): void {
    const { scrapeToken } = this.#options
    if (scrapeToken === undefined) throw new ManagementError('METRICS_CLOSED')
    if (bearsToken(this.#http.header('authorization'), scrapeToken)) return
    throw unauthenticated('Bearer realm="metrics"')
  }

  #authenticate(): ManagementIdentity {
    const identity = this.#options.authenticator.authenticate(this.#http.header('authorization'))
    if (identity === undefined) throw unauthenticated('Bearer realm="management"')
    return identity
  }

  #refusalOf(error: unknown): ManagementError {
    if (error instanceof ManagementError) return error
    if (error instanceof ClientGoneError || error instanceof IncompletePayloadError) {
      return new ManagementError('INVALID_REQUEST', 'The body ended before its length.')
    }
    if (error instanceof StorageFullError) return new ManagementError('STORAGE_FULL')
    this.#error = error
    if (error instanceof EngineUnavailableError) return new ManagementError('AUDIT_UNAVAILABLE')
    if (error instanceof DescriptorsExhaustedError) return new ManagementError('SLOW_DOWN')
    return new ManagementError('INTERNAL_ERROR')
  }

  /** Records the answer; waits only when the journal has too many records on their way. */
  #record(status: number, refused: ManagementError | undefined): Promise<void> | undefined {
    const route = this.#route
    if (route === undefined || typeof route.authentication === 'string') return undefined
    const journaled = this.#request?.journaled ?? { kind: 'nothing' }
    if (journaled.kind === 'outcome') return undefined
    const { engine } = this.#options.services
    const details = refused === undefined ? ['status', status] : ['status', status, 'error', refused.code]
    const result = auditResultOf(status)
    const context = this.#request === undefined ? this.#unparsed(route) : auditOf(this.#request)
    // A change that was authorized and came to nothing has an attempt all the same.
    if (this.#authorized && route.changes && journaled.kind === 'nothing' && result !== 'success') {
      return engine.recordFailedChange(context, result, details)
    }
    const audit = { ...context, metadata: [...context.metadata, ...details] }
    return engine.record(audit, result, journaled.kind === 'attempt' ? journaled.sequence : undefined)
  }

  /** What is known of a request that was refused before its path and query were read. */
  #unparsed(route: ManagementRoute): Parameters<ManagementServices['engine']['record']>[0] {
    return {
      principal: `management:${this.#identity?.role ?? 'unauthenticated'}`,
      credentialId: this.#identity?.credentialId,
      sourceAddress: this.#http.remoteAddress,
      requestId: this.#requestId,
      operation: `${route.method} ${route.path}`,
      resource: route.path,
      metadata: [],
    }
  }
}

/** Probes have no role of their own and need none. */
const PROBE: ManagementIdentity = { role: 'auditor', credentialId: 'probe', expiresMicroseconds: undefined }

/** RFC 9110 section 11.6.1: a 401 says how to authenticate. */
function unauthenticated(challenge: string): ManagementError {
  return new ManagementError('UNAUTHENTICATED', undefined, [['www-authenticate', challenge]])
}
