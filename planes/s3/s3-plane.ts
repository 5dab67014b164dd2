import { DomainError } from '../../engine/errors.ts'
import type { Share } from '../../engine/shares/shares.ts'
import type { AuditContext, Pairs } from '../../engine/events/audit.ts'
import { boundedText } from '../../engine/events/bounded-text.ts'
import { Exchange, type Refusal } from '../exchange/exchange.ts'
import { recordedCode } from '../exchange/recorded-code.ts'
import type { ConcurrencyGate } from '../http/limits/concurrency-gate.ts'
import type { HeaderLine, HttpHandler, HttpRequest, HttpResponse } from '../http/exchange.ts'
import type { Authenticator } from './identity/authenticate.ts'
import type { ClaimedPayload, Identity } from './signing/identity.ts'
import { authorize } from './authorize.ts'
import { crossOriginHeaders, isPreflight } from './cors/cors-requests.ts'
import { commonHeaders, errorResponse, toS3Error } from './documents/error-response.ts'

import { S3Error } from './errors/s3-errors.ts'
import { admitForm, isFormHead, keyedTarget } from './admit-form.ts'
import { asForeign } from './foreign-paths.ts'
import { FormBody } from './forms/form-body.ts'
import { FORM_BYTES_MAXIMUM, type FormFields } from './forms/form-reader.ts'
import { expandedFields } from './forms/form-request.ts'
import { isServed, type Operation } from './handling/operation.ts'
import { findOperation, recognize } from './recognize-operation.ts'
import { enterPublicRead, isPublicRead, PUBLIC_READS, withoutNames } from './public-reads.ts'
import { notSupported, unsupportedOf } from './not-supported.ts'
import { type HostNames, refuseOtherHost } from './request/host-names.ts'
import { refuseRepeats } from './request/query-parameters.ts'
import { RequestIds } from './request/request-ids.ts'
import { type ObjectRequest, recordedResource } from './handling/s3-request.ts'
import type { S3Services } from './handling/services.ts'
import { parseTarget, type SplitTarget, splitTarget, type Target } from './request/target.ts'
import { refuseUnsupportedHeaders } from './unsupported-headers.ts'
import type { PrincipalKind, S3Telemetry, Unsupported } from './telemetry.ts'

interface S3PlaneParts {
  readonly services: S3Services
  readonly authenticator: Authenticator
  readonly gate: ConcurrencyGate
  readonly hostNames: HostNames
  readonly telemetry: S3Telemetry
}

/**
 * The S3 data plane. Authentication comes before everything that depends on what was asked for (S1). The one exception
 * is preflights, which cannot be signed; the answer to them depends on the CORS rules of the bucket alone.
 */
export function createS3Handler(parts: S3PlaneParts): HttpHandler {
  const requestIds = new RequestIds()
  return (http) => new S3Dialect(parts, http, requestIds.next()).run()
}

/** Of a version id in a record. Version ids of this server are shorter. */
const VERSION_ID_BYTES_MAXIMUM = 64
/** Of a path in a record that cannot be read as bucket and key. */
const PATH_BYTES_MAXIMUM = 256

class S3Dialect extends Exchange {
  readonly #parts: S3PlaneParts
  readonly #started = performance.now()
  #target: Target | undefined
  /** The place of a public read; undefined for any other request. */
  #publicRead: Share | undefined
  #identity: Identity | undefined
  #operation: Operation | undefined
  /** Undefined until the request is authorized. */
  #request: ObjectRequest | undefined
  #crossOrigin: readonly HeaderLine[] = []
  /** Of a form, as sent. */
  #fields: FormFields | undefined
  #unsupported: Unsupported | undefined
  #code: string | undefined
  /** What a refused request claims about its signer. */
  #claim: Pairs = []
  /** Path of a request without a target that can be recorded. */
  #path: Pairs = []

  constructor(parts: S3PlaneParts, http: HttpRequest, requestId: string) {
    super(http, requestId, parts.services.engine, parts.gate)
    this.#parts = parts
  }

  protected admit(): 'gated' | 'by body' {
    if (isPreflight(this.http)) this.#admitPreflight()
    else if (this.#isForm()) return 'by body'
    else this.#admitSigned()
    return 'gated'
  }

  /** Whether the fields of a form say who sends it. */
  #isForm(): boolean {
    const { http } = this
    const { services } = this.#parts
    if (http.method !== 'POST' || !services.extensions.has('post-object') || !isFormHead(http)) return false
    const { target, fault } = this.#split()
    const operation = fault === undefined ? findOperation(http.method, target, http) : undefined
    if (operation?.isForm !== true) return false
    this.#target = target
    this.#operation = operation
    this.#crossOrigin = crossOriginHeaders(http, target, services.catalog)
    return true
  }

  protected override get admittedBytes(): number {
    return FORM_BYTES_MAXIMUM
  }

  /** As #admitSigned, by the fields of a form. */
  protected override async admitByBody(): Promise<void> {
    const { http } = this
    const { services, authenticator, hostNames } = this.#parts
    const sent = this.#target as Target
    const file = new FormBody(http)
    const read = await file.fields()
    this.#fields = read
    const fields = expandedFields(read, file.fileName)
    const target = keyedTarget(sent, fields)
    this.#target = target
    const identity = authenticator.authenticateForm(read)
    this.#identity = identity
    if (identity === undefined) throw new S3Error('AccessDenied')
    refuseOtherHost(http, hostNames)
    const operation = this.#recognize(sent)
    const formed = admitForm({ http, target, fields, file }, operation, services, authenticator.now)
    authorize(identity, operation, formed, target, services.bucketPolicies)
    this.#request = { ...this.#requestOf(target, operation, identity.payload), http: formed, form: { fields, file } }
  }

  /** Authenticates, recognizes and authorizes the request by its head. */
  #admitSigned(): void {
    const { http } = this
    const { services, authenticator, hostNames } = this.#parts
    const known = authenticator.recall(http)
    const { target, fault }: SplitTarget =
      known === undefined ? this.#split() : { target: known.target, fault: undefined }
    this.#target = target
    this.#crossOrigin = crossOriginHeaders(http, target, services.catalog)
    const identity = known?.identity ?? authenticator.authenticate(http, target)
    this.#identity = identity
    if (identity === undefined) return this.#admitStranger(target, fault)
    if (fault !== undefined) throw fault
    refuseOtherHost(http, hostNames)
    const operation = known?.operation ?? this.#recognize(target)
    this.#operation = operation
    authorize(identity, operation, http, target, services.bucketPolicies)
    this.#request = this.#requestOf(target, operation, identity.payload)
    if (known === undefined) authenticator.remember(http, { target, operation, identity })
  }

  /** Lets a request without a credential read what is public, and refuses every other one. */
  #admitStranger(target: Target, fault: S3Error | undefined): void {
    const { http } = this
    const { services, hostNames } = this.#parts
    const found = fault === undefined ? findOperation(http.method, target, http) : undefined
    if (!isPublicRead(found, http, target, services.bucketPolicies)) throw this.#refuseAnonymous(target)
    refuseOtherHost(http, hostNames)
    const operation = this.#recognize(target)
    if (operation !== found) throw new S3Error('AccessDenied')
    this.#publicRead = enterPublicRead(super.account)
    this.#request = this.#requestOf(target, operation, { kind: 'unsigned' })
  }

  #split(): SplitTarget {
    const { path, query } = this.http
    this.#path = ['path', boundedText(path, PATH_BYTES_MAXIMUM)]
    const split = splitTarget(path, query)
    if (split.fault === undefined || split.target.bucket !== undefined) this.#path = []
    return split
  }

  /** The operation, after refusing unimplemented operations and unsupported headers. */
  #recognize(target: Target): Operation {
    const { http } = this
    const operation = recognize(http.method, target, http)
    this.#operation = operation
    const { services } = this.#parts
    if (!isServed(operation, services.extensions)) throw notSupported(operation)
    refuseRepeats(target.query, operation.repeats)
    refuseUnsupportedHeaders(http, target, operation, services)
    return operation
  }

  /**
   * Unsigned requests are refused without a hint about existing names (S9). An unimplemented operation is not a secret: a
   * browser's form upload, whose signature this server does not read, is refused by name.
   */
  #refuseAnonymous(target: Target): S3Error {
    const operation = findOperation(this.http.method, target, this.http)
    if (operation === undefined || isServed(operation, this.#parts.services.extensions))
      return new S3Error('AccessDenied')
    this.#operation = operation
    return notSupported(operation)
  }

  /**
   * Reads only the path, Origin and two headers of a preflight. Its query belongs to the request to come, and it has no
   * signature.
   */
  #admitPreflight(): void {
    const target = parseTarget(this.http.path, '')
    this.#target = target
    const operation = recognize(this.http.method, target, this.http)
    this.#operation = operation
    this.#request = this.#requestOf(target, operation, { kind: 'unsigned' })
  }

  /** Operations are recognized by the level of the target, so no handler reads a missing bucket or key. */
  #requestOf(target: Target, { bodyBytesMaximum }: Operation, payload: ClaimedPayload): ObjectRequest {
    const { bucket = '', key = '' } = target
    const { http, journal } = this
    return { http, target, bucket, key, identity: this.#identity, payload, bodyBytesMaximum, journal, faults: this }
  }

  protected override get account(): string {
    return this.#identity?.principal ?? (this.#publicRead === undefined ? super.account : PUBLIC_READS)
  }

  protected override get isAdministrator(): boolean {
    return this.#identity !== undefined && this.#identity.policies === undefined
  }

  protected get isStranger(): boolean {
    return this.#identity === undefined
  }

  protected handle(): HttpResponse | Promise<HttpResponse> {
    const handle = this.#operation?.handle
    if (handle === undefined || this.#request === undefined) throw new Error('a request that was not admitted')
    return handle(this.#request, this.#parts.services)
  }

  protected refusal(failure: unknown): Refusal {
    const shown = this.#publicRead === undefined ? asForeign(failure, this.#target) : withoutNames(failure)
    const { error, isFault } = toS3Error(shown)
    this.#unsupported = error.code === 'NotImplemented' ? unsupportedOf(error) : undefined
    const response = errorResponse(error, this.http.method, this.http.path, this.requestId)
    const code = failure instanceof DomainError ? failure.code : recordedCode(error.code)
    this.#code = code
    if (this.#identity === undefined && !isPreflight(this.http)) {
      const { authenticator } = this.#parts
      this.#claim =
        this.#fields === undefined
          ? authenticator.claimOf(this.http, this.#target, error.code)
          : authenticator.claimOfForm(this.#fields, error.code)
    }
    return { code, response, isFault }
  }

  audit(): AuditContext {
    return {
      principal: this.#identity?.principal ?? 'anonymous',
      credentialId: this.#identity?.credentialId,
      sourceAddress: this.http.remoteAddress,
      requestId: this.requestId,
      operation: `s3:${this.http.method}`,
      resource: recordedResource(this.#target),
      metadata: this.#metadata(),
    }
  }

  /** The record of an unauthenticated request stays short: it names the operation and what the request claims to be. */
  #metadata(): Pairs {
    if (this.#identity === undefined) return [...this.#named(), ...this.#path, ...this.#claim]
    if (this.#path.length > 0) return [...this.#named(), ...this.#path]
    if (this.#unsupported === undefined) return this.#named()
    const { refused, reason } = this.#unsupported
    return [...this.#named(), ...(refused === undefined ? [] : ['refused', refused]), 'reason', reason]
  }

  /** The operation, and the version that the request names. */
  #named(): Pairs {
    const operation = this.#operation === undefined ? [] : ['api', this.#operation.name]
    const query = this.#target?.query
    if (query === undefined || query.entries.length === 0) return operation
    const version = query.first('versionId')
    return version === undefined
      ? operation
      : [...operation, 'version_id', boundedText(version, VERSION_ID_BYTES_MAXIMUM)]
  }

  protected get isChange(): boolean {
    return this.#request !== undefined && this.#operation?.changes === true
  }

  /** Reads too are answered only if they are recorded: the engine has failed, and the server ends. */
  protected unrecorded(error: unknown): HttpResponse {
    this.#publicRead?.leave()
    return this.refusal(error).response
  }

  protected finish(response: HttpResponse): HttpResponse {
    return { ...response, headers: [...response.headers, ...this.#crossOrigin, ...commonHeaders(this.requestId)] }
  }

  fault(error: unknown): void {
    this.failed(error)
    this.erred()
  }

  protected failed(error: unknown): void {
    const { bucket, key } = this.#target ?? {}
    const target = bucket === undefined ? undefined : { bucket, key }
    this.#parts.telemetry.failed(error, this.requestId, target)
  }

  protected override erred(): void {
    this.#parts.telemetry.erred()
  }

  protected override sent(status: number, sentBytes: number): void {
    this.#publicRead?.leave()
    this.#parts.telemetry.finished({
      requestId: this.requestId,
      method: this.http.method,
      operation: this.#operation,
      principal: this.#principalKind(),
      route: this.#route(),
      status,
      milliseconds: performance.now() - this.#started,
      receivedBytes: this.http.body.receivedBytes,
      sentBytes,
      code: this.#code,
      unsupported: this.#unsupported,
    })
  }

  #principalKind(): PrincipalKind {
    if (this.#identity === undefined) return 'anonymous'
    return this.isAdministrator ? 'system:root' : 'service_account'
  }

  #route(): string {
    if (this.#target?.bucket === undefined) return '/'
    return this.#target.key === undefined ? '/{bucket}' : '/{bucket}/{key}'
  }
}
