import { DescriptorsExhaustedError } from '../../engine/disk/disk.ts'
import { DomainError, EngineUnavailableError, isRowDamage } from '../../engine/errors.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import { Exchange, type Refusal } from '../exchange/exchange.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import { BusyError } from '../../engine/shares/shares.ts'
import { recordedCode } from '../exchange/recorded-code.ts'
import { requestIdOf } from '../exchange/request-id.ts'
import type { ConcurrencyGate } from '../http/limits/concurrency-gate.ts'
import {
  BodyRemovedError,
  ClientGoneError,
  type HeaderLine,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from '../http/exchange.ts'
import type { LinkAccess, LinkRefusal } from '../metrics/metric-table.ts'
import { acceptsPage } from './accepts-page.ts'
import { SharingError, type SharingErrorCode, sharingErrors } from './errors.ts'
import { type RecordedLink, UNKNOWN_LINK } from './find-link.ts'
import { messagePage, passwordPage } from './pages.ts'
import { EMBED_ROUTES } from './embed-content.ts'
import { shareContent } from './share-content.ts'
import { sharePage } from './share-page.ts'
import { shareUnlock } from './share-unlock.ts'
import { jsonAnswer, pageAnswer } from './responses.ts'
import type { ShareServices, SharingServices } from './services.ts'
import { type FoundSharingRoute, routeFinder, type SharingRequest, type SharingRoute } from './sharing-route.ts'

/** Every route of shares. */
export const SHARE_ROUTES: readonly SharingRoute<ShareServices>[] = [sharePage, shareUnlock, shareContent]

/** One answered request, for metrics and the log, without anything that identifies the link. */
export interface FinishedAccess {
  readonly requestId: string
  readonly method: string
  /** With `{token}` for the token; undefined for a path that no route has. */
  readonly route: string | undefined
  readonly access: LinkAccess | undefined
  readonly status: number
  readonly milliseconds: number
  readonly sentBytes: number
  readonly principal: typeof PRINCIPAL
  /** The code of the refusal or failure. */
  readonly code: string | undefined
  /** Undefined when access was not denied. */
  readonly refused: LinkRefusal | undefined
}

export interface SharingTelemetry {
  finished(access: FinishedAccess): void
  /** A failure that is a fault of the server. */
  failed(error: unknown, requestId: string): void
  /** A request that fails by a fault of the server, or a state of it. */
  erred(): void
}

interface SharingParts<Services> {
  readonly services: Services
  readonly gate: ConcurrencyGate
  readonly telemetry: SharingTelemetry
}

/** Settings common to all requests of one set of routes. */
interface Dialect<Services> extends SharingParts<Services> {
  readonly find: (path: string) => FoundSharingRoute<Services> | undefined
  readonly kind: 'share' | 'embed'
  readonly requestIdHeader: string
}

/** The routes of shares, for the listeners of management and console: everything below `/s/`. */
export function createShareHandler(parts: SharingParts<ShareServices>): HttpHandler {
  const find = routeFinder(SHARE_ROUTES)
  const dialect: Dialect<ShareServices> = { ...parts, find, kind: 'share', requestIdHeader: 'x-request-id' }
  return (http) => new SharingExchange(dialect, http).run()
}

/** The routes of embeds, for the S3 listener: everything below `/e/`, which cannot be a bucket. */
export function createEmbedHandler(parts: SharingParts<SharingServices>): HttpHandler {
  const find = routeFinder(EMBED_ROUTES)
  const dialect: Dialect<SharingServices> = { ...parts, find, kind: 'embed', requestIdHeader: 'x-amz-request-id' }
  return (http) => new SharingExchange(dialect, http).run()
}

const PRINCIPAL = 'capability:public'

/**
 * One request by a link. Its sender is not authenticated: a refusal is recorded within the budget of unauthenticated
 * requests and paced like theirs, an answer is counted. The link is looked up in the current state for each request,
 * and again after each wait.
 */
class SharingExchange<Services extends SharingServices> extends Exchange {
  readonly #dialect: Dialect<Services>
  readonly #started = performance.now()
  #found: FoundSharingRoute<Services> | undefined
  #link: RecordedLink = UNKNOWN_LINK
  #refused: LinkRefusal | undefined
  #code: string | undefined
  #headers: readonly HeaderLine[] = []

  constructor(dialect: Dialect<Services>, http: HttpRequest) {
    super(http, requestIdOf(http), dialect.services.engine, dialect.gate)
    this.#dialect = dialect
  }

  protected admit(): 'gated' {
    const { method, path } = this.http
    const found = this.#dialect.find(path)
    if (found === undefined) throw new SharingError('NOT_FOUND')
    this.#found = found
    const { methods } = found.route
    if (!methods.includes(method)) {
      throw new SharingError('METHOD_NOT_ALLOWED', undefined, [['allow', methods.join(', ')]])
    }
    return 'gated'
  }

  protected get isStranger(): boolean {
    return true
  }

  protected handle(): HttpResponse | Promise<HttpResponse> {
    if (this.#found === undefined) throw new Error('handled before it was admitted')
    const { route, token } = this.#found
    return route.handle(this.#requestOf(token), this.#dialect.services)
  }

  #requestOf(token: string): SharingRequest {
    return {
      http: this.http,
      token,
      wantsPage: this.#wantsPage,
      engine: this.#dialect.services.engine,
      found: (link) => {
        this.#link = link
      },
      addHeaders: (headers) => {
        this.#headers = headers
      },
      countAudit: (operation) => {
        const counted = { principal: 'system:sharing', sourceAddress: undefined, requestId: undefined }
        return { ...this.#context(operation), ...counted }
      },
    }
  }

  get #wantsPage(): boolean {
    return this.#dialect.kind === 'share' && acceptsPage(this.http.header('accept'))
  }

  protected refusal(failure: unknown): Refusal {
    const { error, isFault } = toSharingError(failure)
    const { code, message, status, headers } = error
    if (sharingErrors[code].refuses) this.#refused = operationOf(code, this.#dialect.kind)
    const answer = this.#wantsPage
      ? pageAnswer(status, ASKS_AGAIN.has(code) ? passwordPage('unlock', message) : messagePage(message))
      : jsonAnswer(status, { error: { code, message, request_id: this.requestId } })
    this.#code = recordedCode(code)
    return { code: this.#code, response: { ...answer, headers: [...answer.headers, ...headers] }, isFault }
  }

  /** Only refusals are recorded; answers are counted (specification, Audit events, rule 3). */
  audit(): AuditContext | undefined {
    return this.#refused === undefined ? undefined : this.#context(this.#refused)
  }

  #context(operation: string): AuditContext {
    const { id, resource } = this.#link
    return {
      principal: PRINCIPAL,
      credentialId: undefined,
      sourceAddress: this.http.remoteAddress,
      requestId: this.requestId,
      operation,
      resource,
      metadata: id === undefined ? [] : [`${this.#dialect.kind}_id`, id],
    }
  }

  protected get isChange(): boolean {
    return false
  }

  protected unrecorded(error: unknown): HttpResponse {
    return this.refusal(error).response
  }

  protected finish(response: HttpResponse): HttpResponse {
    const { requestIdHeader } = this.#dialect
    const headers = [
      ...response.headers,
      ...this.#headers,
      ...COMMON_HEADERS,
      [requestIdHeader, this.requestId] as const,
    ]
    return { ...response, headers }
  }

  protected failed(error: unknown): void {
    this.#dialect.telemetry.failed(error, this.requestId)
  }

  protected override erred(): void {
    this.#dialect.telemetry.erred()
  }

  protected override sent(status: number, sentBytes: number): void {
    this.#dialect.telemetry.finished({
      requestId: this.requestId,
      method: this.http.method,
      route: this.#found?.route.path,
      access: this.#found?.route.access,
      status,
      milliseconds: performance.now() - this.#started,
      sentBytes,
      principal: PRINCIPAL,
      code: this.#code,
      refused: this.#refused,
    })
  }
}

/** Refusals whose page offers the password form. They are answered at URLs next to the URL of the form. */
const ASKS_AGAIN: ReadonlySet<SharingErrorCode> = new Set([
  'SHARE_PASSWORD_REQUIRED',
  'SHARE_PASSWORD_WRONG',
  'SHARE_PASSWORD_THROTTLED',
])

/** Of every answer: browsers must not guess another type, or send the URL, which has the token, as a referrer. */
const COMMON_HEADERS: readonly HeaderLine[] = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
]

function operationOf(code: SharingErrorCode, kind: 'share' | 'embed'): LinkRefusal {
  if (code === 'SHARE_PASSWORD_WRONG') return 'share.password_failed'
  if (code === 'SHARE_PASSWORD_THROTTLED') return 'share.password_throttled'
  return kind === 'share' ? 'share.denied' : 'embed.denied'
}

/** The error that a failure is answered with; `isFault` is true for a fault of the server. */
function toSharingError(error: unknown): { readonly error: SharingError; readonly isFault: boolean } {
  if (error instanceof SharingError) return { error, isFault: false }
  if (error instanceof BusyError) return asked(new SharingError('SLOW_DOWN'))
  if (error instanceof ClientGoneError) return asked(new SharingError('INVALID_REQUEST', 'The body ended too early.'))
  if (error instanceof BodyRemovedError) return asked(new SharingError('CONFLICT'))
  if (error instanceof DescriptorsExhaustedError) return { error: new SharingError('SLOW_DOWN'), isFault: true }
  if (error instanceof PayloadDamagedError) return { error: new SharingError('OBJECT_DAMAGED'), isFault: true }
  if (isRowDamage(error)) return { error: new SharingError('UNAVAILABLE'), isFault: true }
  // The engine has logged why it stopped, or the disk is full.
  if (error instanceof EngineUnavailableError || error instanceof DomainError)
    return asked(new SharingError('UNAVAILABLE'))
  return { error: new SharingError('INTERNAL_ERROR'), isFault: true }
}

function asked(error: SharingError) {
  return { error, isFault: false }
}
