import { DescriptorsExhaustedError } from '../../engine/disk/disk.ts'
import { DomainError, EngineUnavailableError, isRowDamage, OutcomeUnknownError } from '../../engine/errors.ts'
import { AuditLogDamagedError } from '../../projections/audit/audit-export.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import { Exchange, type Refusal } from '../exchange/exchange.ts'
import { BusyError } from '../../engine/shares/shares.ts'
import { recordedCode } from '../exchange/recorded-code.ts'
import { requestIdOf } from '../exchange/request-id.ts'
import {
  BodyRemovedError,
  ClientGoneError,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  ServerStoppingError,
} from '../http/exchange.ts'
import type { ConcurrencyGate } from '../http/limits/concurrency-gate.ts'
import type { RequestClass } from '../metrics/metric-table.ts'
import { IncompletePayloadError, StorageFullError } from '../objects/receive-payload.ts'
import type { ManagementAuthenticator, ManagementIdentity } from './access/authenticate.ts'
import { bearsToken } from './access/bearer-token.ts'
import { requestOfTicket } from './downloads/ticket-request.ts'
import { ManagementError, managementErrorOf } from './errors.ts'
import type { ManagementRequest } from './requests/management-request.ts'
import { auditContext, resourceOf } from './requests/request-context.ts'
import { errorResponse, withoutBody, withRequestId } from './responses.ts'
import { operationName } from './openapi/operation-names.ts'
import { isRecorded } from './routing/define-route.ts'
import { readRequest } from './requests/read-request.ts'
import { targetOf } from './requests/request-target.ts'
import { type FoundRoute, findRoute, patternOf } from './routing/router.ts'
import type { ManagementServices } from './services.ts'
import { UnreadableVersionError } from './verification/verify-version.ts'

/** One answered request, for the log. The route is its pattern, never the path that was sent. */
export interface ManagementExchange {
  readonly requestId: string
  readonly method: string
  /** Undefined when no route has the path. */
  readonly route: string | undefined
  /** Its operationId in the OpenAPI document; undefined when no route takes the path and the method. */
  readonly operation: string | undefined
  readonly status: number
  /** Principal of its records: `management:` and the role, or `unauthenticated`. */
  readonly principal: string
  /** From the head of the request to the answer; a body may still be sent. */
  readonly milliseconds: number
  /** Error code in the record of a refused request. */
  readonly reason?: string
  /** The exception of a server fault. */
  readonly error?: unknown
  /** With an error: the target, as recorded. Other log lines contain no names. */
  readonly target?: Readonly<Record<string, string | number>>
  /** Whether the error cut off an answer that was being sent. */
  readonly isCutOff?: true
}

export interface ManagementOptions {
  readonly services: ManagementServices
  readonly authenticator: ManagementAuthenticator
  readonly gate: ConcurrencyGate
  /** Without it the metrics are closed. */
  readonly scrapeToken: string | undefined
  /** Called for each request that fails by a fault of the server, or a state of it. */
  readonly erred?: () => void
  /** Called with the time from the head of each request to the last byte of its answer. */
  readonly timed?: (requestClass: RequestClass<'management'>, seconds: number) => void
  /** Called after every answer, and again with a fault that comes to light while its body is sent. */
  readonly observe?: (exchange: ManagementExchange) => void
}

/**
 * The handler of the management listener. Every response carries x-request-id; errors have the envelope of the
 * specification; every request of the versioned interface is in the audit log.
 */
export function createManagementHandler(options: ManagementOptions): HttpHandler {
  const { downloads } = options.services
  return (http) => new ManagementDialect(options, requestOfTicket(http, downloads) ?? http).run()
}

class ManagementDialect extends Exchange {
  readonly #options: ManagementOptions
  #found: FoundRoute | undefined
  #identity: ManagementIdentity | undefined
  #isAuthorized = false
  #resource: string | undefined
  #request: ManagementRequest | undefined
  readonly #started = performance.now()
  #fault: unknown
  #code: string | undefined
  /** Status of the answer; undefined before there is one. */
  #status: number | undefined
  /** Whether the request has the metrics token, which authenticates no identity. */
  #isScraper = false

  constructor(options: ManagementOptions, http: HttpRequest) {
    super(http, requestIdOf(http), options.services.engine, options.gate)
    this.#options = options
  }

  protected admit(): 'gated' | 'free' {
    const found = findRoute(this.http.method, this.http.path)
    this.#found = found
    const { roles } = found.route
    if (roles === 'scrape-token') {
      this.#requireScrapeToken()
      this.#isScraper = true
    }
    if (typeof roles === 'string') {
      this.#request = this.#requestOf(found, PROBE)
      return isRecorded(found.route) ? 'gated' : 'free'
    }
    this.#identity = this.#authenticate()
    if (!roles.includes(this.#identity.role)) throw new ManagementError('FORBIDDEN')
    this.#isAuthorized = true
    this.#request = this.#requestOf(found, this.#identity)
    return 'gated'
  }

  #requestOf(found: FoundRoute, identity: ManagementIdentity): ManagementRequest {
    const { http, journal } = this
    const isAllowed = () => this.#isAllowed(found)
    return { ...readRequest(found, http), http, identity, isAllowed, journal, fault: (error) => this.#lateFault(error) }
  }

  #isAllowed({ route: { roles } }: FoundRoute): boolean {
    if (typeof roles === 'string') return true
    const identity = this.#options.authenticator.authenticate(this.http.header('authorization'))
    return identity !== undefined && roles.includes(identity.role)
  }

  #requireScrapeToken(): void {
    const { scrapeToken } = this.#options
    if (scrapeToken === undefined) throw new ManagementError('METRICS_CLOSED')
    if (bearsToken(this.http.header('authorization'), scrapeToken)) return
    throw unauthenticated('Bearer realm="metrics"')
  }

  #authenticate(): ManagementIdentity {
    const identity = this.#options.authenticator.authenticate(this.http.header('authorization'))
    if (identity !== undefined) return identity
    this.journal.note(...this.#options.authenticator.claimOf(this.http.header('authorization')))
    throw unauthenticated('Bearer realm="management"')
  }

  protected override get account(): string {
    return this.#identity?.credentialId ?? super.account
  }

  protected override get isAdministrator(): boolean {
    return this.#identity?.role === 'system-administrator'
  }

  protected get isStranger(): boolean {
    return this.#identity === undefined
  }

  protected handle(): HttpResponse | Promise<HttpResponse> {
    if (this.#found === undefined || this.#request === undefined) throw new Error('handled before it was admitted')
    return this.#found.route.handle(this.#request, this.#options.services)
  }

  protected refusal(failure: unknown): Refusal {
    const { error, isFault } = toManagementError(failure)
    const code = failure instanceof DomainError ? failure.code : recordedCode(error.code)
    this.#code = code
    return { code, response: errorResponse(error, this.requestId), isFault }
  }

  /** Undefined for probes and for unknown routes, which are not recorded. */
  audit(): AuditContext | undefined {
    const found = this.#found
    if (found === undefined || !isRecorded(found.route)) return undefined
    // Computed once: the target may be deleted before the outcome is recorded.
    this.#resource ??= resourceOf(found, this.#options.services)
    return auditContext(this.http, found, this.#identity, this.requestId, this.#resource)
  }

  protected get isChange(): boolean {
    return this.#isAuthorized && this.#found?.route.changes === true
  }

  #lateFault(failure: unknown): ManagementError {
    const { error, isFault } = toManagementError(failure)
    if (isFault) this.#observe(error.status, { error: failure })
    return error
  }

  protected unrecorded(): HttpResponse {
    const error = new ManagementError('AUDIT_UNAVAILABLE')
    this.#code = recordedCode(error.code)
    return errorResponse(error, this.requestId)
  }

  protected finish(response: HttpResponse): HttpResponse {
    this.#status = response.status
    this.#observe(response.status, this.#fault === undefined ? undefined : { error: this.#fault })
    const complete = withRequestId(response, this.requestId)
    return this.http.method === 'HEAD' ? withoutBody(complete) : complete
  }

  #observe(status: number, fault?: Pick<ManagementExchange, 'error' | 'isCutOff'>): void {
    const { method, path } = this.http
    const route = this.#found?.route.path ?? patternOf(path)
    const principal = `management:${this.#identity?.role ?? (this.#isScraper ? 'scrape-token' : 'unauthenticated')}`
    const milliseconds = Math.round((performance.now() - this.#started) * 1000) / 1000
    const operation = this.#found === undefined ? undefined : operationName(this.#found.route)
    const refusal = this.#code === undefined ? {} : { reason: this.#code }
    const answered = {
      requestId: this.requestId,
      method,
      route,
      operation,
      status,
      milliseconds,
      principal,
      ...refusal,
    }
    this.#options.observe?.(fault === undefined ? answered : { ...answered, ...fault, target: this.#target() })
  }

  #target(): NonNullable<ManagementExchange['target']> {
    const target: Record<string, string | number> = {}
    const pairs = this.#found === undefined ? [] : targetOf(this.#found, this.http.query)
    for (const [at, value] of pairs.entries()) if (at % 2 === 1) target[String(pairs[at - 1])] = value
    return target
  }

  protected failed(error: unknown): void {
    if (error instanceof PayloadDamagedError) this.#options.services.damageFound('read')
    if (isRowDamage(error)) this.#options.services.damageFound('rows')
    if (error instanceof AuditLogDamagedError) this.#options.services.damageFound('audit')
    if (this.#status === undefined) this.#fault = error
    else this.#observe(this.#status, { error, isCutOff: true })
  }

  protected override erred(): void {
    this.#options.erred?.()
  }

  protected override sent(): void {
    this.#options.timed?.(requestClassOf(this.#found), (performance.now() - this.#started) / 1000)
  }
}

/** Class of a request in the metric of durations. `other`: probes and unknown routes. */
function requestClassOf(found: FoundRoute | undefined): RequestClass<'management'> {
  if (found === undefined || !isRecorded(found.route)) return 'other'
  if (found.route.method === 'DELETE') return 'delete'
  return found.route.changes ? 'write' : 'read'
}

const STOPPING = 'The server is stopping, and did not wait for the rest of the body. Try again.'

/** The error that a failure is answered with; `isFault` is true for a fault of the server. */
function toManagementError(error: unknown): { readonly error: ManagementError; readonly isFault: boolean } {
  if (error instanceof ManagementError) return { error, isFault: false }
  if (error instanceof DomainError) return { error: managementErrorOf(error), isFault: isRowDamage(error) }
  if (error instanceof BusyError) return { error: new ManagementError('SLOW_DOWN'), isFault: false }
  if (error instanceof ServerStoppingError) return { error: new ManagementError('SLOW_DOWN', STOPPING), isFault: false }
  if (error instanceof ClientGoneError || error instanceof IncompletePayloadError) {
    return { error: new ManagementError('INVALID_REQUEST', 'The body ended before its length.'), isFault: false }
  }
  if (error instanceof StorageFullError) return { error: new ManagementError('STORAGE_FULL'), isFault: false }
  // The engine has logged why it stopped.
  if (error instanceof OutcomeUnknownError) return { error: new ManagementError('OUTCOME_UNKNOWN'), isFault: false }
  if (error instanceof EngineUnavailableError)
    return { error: new ManagementError('AUDIT_UNAVAILABLE'), isFault: false }
  if (error instanceof PayloadDamagedError)
    return { error: managementErrorOf(new DomainError('object-damaged')), isFault: true }
  if (error instanceof UnreadableVersionError) {
    const { code, message } = toManagementError(error.cause).error
    return { error: new ManagementError(code, `${message} (${error.message})`), isFault: true }
  }
  if (error instanceof BodyRemovedError) return { error: new ManagementError('CONFLICT'), isFault: false }
  if (error instanceof DescriptorsExhaustedError) return { error: new ManagementError('SLOW_DOWN'), isFault: true }
  return { error: new ManagementError('INTERNAL_ERROR'), isFault: true }
}

/** Identity of requests to probes, which are not authenticated. */
const PROBE: ManagementIdentity = { role: 'auditor', credentialId: 'probe', expiresMicroseconds: undefined }

/** A 401 with the required challenge (RFC 9110 section 11.6.1). */
function unauthenticated(challenge: string): ManagementError {
  return new ManagementError('UNAUTHENTICATED', undefined, [['www-authenticate', challenge]])
}
