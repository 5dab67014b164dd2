/**
 * Authenticates every request of the S3 plane, before routing. Rules: AWS Signature Version 4 in a header or presigned;
 * every header that affects the request must be signed.
 */

import type { Milliseconds } from '../../../engine/brands.ts'
import { randomBytes } from 'node:crypto'
import type { HttpRequest } from '../../http/exchange.ts'
import { effectiveHeader, refuseContradictions } from '../request/effective-headers.ts'
import { invalidArgument, S3Error, type S3ErrorCode } from '../errors/s3-errors.ts'
import type { Pairs } from '../../../engine/events/audit.ts'
import { NO_PARAMETERS } from '../request/query-parameters.ts'
import type { FormFields } from '../forms/form-reader.ts'
import { claimPairs } from './claim-pairs.ts'
import type { RefusedCredential } from './credential-directory.ts'
import { checkFormTime, type FormClaims, formClaims } from './form-claims.ts'
import { headerClaims, presignedClaims, type SignatureClaims, unsupportedMechanism } from './signature-claims.ts'
import { ChunkSignatures } from '../signing/chunk-signatures.ts'
import type { Credential, ClaimedPayload, Identity } from '../signing/identity.ts'
import { equalsHex } from '../signing/equal-hex.ts'
import {
  canonicalText,
  type SigningKey,
  STREAMING_PREFIX,
  stringToSign,
  UNSIGNED_PAYLOAD,
} from '../signing/signature-v4.ts'
import { SigningKeyCache } from '../signing/signing-key-cache.ts'
import type { Operation } from '../handling/operation.ts'
import type { Target } from '../request/target.ts'
import { checkVersionTwoTime, isVersionTwo, isVersionTwoSignedBy, versionTwoClaims } from './version-two-links.ts'
import { identityNow, VerifiedUrls } from './verified-urls.ts'

const SKEW_MILLISECONDS_MAXIMUM = 900_000

/** An authenticated, recognized and authorized request. */
interface Admitted {
  readonly target: Target
  readonly operation: Operation
  readonly identity: Identity
}

/** The credential of a valid signature, and its signing key. */
interface Verified {
  readonly credential: Credential
  readonly signingKey: SigningKey
}

interface AuthenticatorOptions {
  /** The credential of an access key that may sign now, or undefined. */
  readonly lookup: (accessKey: string) => Credential | undefined
  /** What an access key is that may not sign. Default: unknown. */
  readonly describe?: (accessKey: string) => RefusedCredential
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => Milliseconds
  /** Whether links of Signature Version 2 are read: the extension presign-v2. Default: no. */
  readonly readsVersionTwo?: boolean
}

export class Authenticator {
  readonly #lookup: AuthenticatorOptions['lookup']
  readonly #describe: AuthenticatorOptions['describe']
  readonly #clock: AuthenticatorOptions['clock']
  readonly #readsVersionTwo: boolean
  readonly #signingKeys = new SigningKeyCache()
  readonly #urls = new VerifiedUrls()
  /** Secret used for unknown access keys, so that they cost the same time. */
  readonly #nobodysSecret = randomBytes(32).toString('hex')

  constructor(options: AuthenticatorOptions) {
    this.#lookup = options.lookup
    this.#describe = options.describe
    this.#clock = options.clock
    this.#readsVersionTwo = options.readsVersionTwo === true
  }

  /**
   * Checks form, time, completeness and signature, in this order. Everything else is checked later, so that a refusal
   * is recorded with the caller's name. The body is not read: the caller compares a `sha256` payload with the digest
   * of the body at its end.
   * @returns undefined for an anonymous request
   * @throws S3Error 400 AuthorizationHeaderMalformed, AuthorizationQueryParametersError, InvalidArgument,
   *   InvalidRequest; 403 AccessDenied, RequestTimeTooSkewed, InvalidAccessKeyId, SignatureDoesNotMatch
   */
  authenticate(request: HttpRequest, target: Target): Identity | undefined {
    const now = this.#clock()
    if (this.#isVersionTwo(request, target)) return this.#authenticateVersionTwo(request, target, now)
    const claims = readClaims(request, target, now)
    if (claims === undefined) return undefined
    refuseContradictions(request, target.query)
    const payloadHash = readPayloadHash(claims.mode, request, target)
    checkTime(claims, now)
    refuseUnsignedHeaders(claims, request)

    const { credential, signingKey } = this.#checkSignature(claims, payloadHash, request, target)
    const { accessKey, principal, credentialId, policies } = credential
    const payload = claimedPayload(payloadHash, claims, signingKey)
    return { accessKey, principal, credentialId, mode: claims.mode, payload, policies }
  }

  /**
   * The earlier result for a URL that was verified and admitted before. Undefined when the full check is needed, which
   * also finds the reason of a refusal.
   */
  recall(request: HttpRequest): Admitted | undefined {
    const url = this.#urls.find(request)
    if (url === undefined || !isInTime(url.claims, this.#clock())) return undefined
    const identity = identityNow(url, this.#lookup(url.claims.accessKey))
    return identity && { target: url.target, operation: url.operation, identity }
  }

  /** Remembers a verified and authorized request. */
  remember(request: HttpRequest, { target, operation, identity }: Admitted): void {
    if (isVersionTwo(target.query)) return
    const credential = identity.mode === 'presigned' ? this.#lookup(identity.accessKey) : undefined
    if (credential !== undefined) this.#urls.add(request, target, operation, identity, credential.secretKey)
  }

  /**
   * What a request that `authenticate` refused claims about its signer, as pairs for its record. Nothing of it is proven,
   * unless it says `signature` `valid`: then the holder of the secret signed, and only the state of the credential is why
   * it was refused. Empty when the request names no credential that can be read.
   * @param target undefined when the path could not be decoded
   * @param code of the refusal
   */
  claimOf(request: HttpRequest, target: Target | undefined, code: S3ErrorCode): Pairs {
    if (target !== undefined && this.#isVersionTwo(request, target))
      return this.#claimOfVersionTwo(request, target, code)
    const claims = claimsIfAny(() => readClaims(request, target, this.#clock()))
    const described = claims && this.#describe?.(claims.accessKey)
    if (claims === undefined || described === undefined) return []
    const isWrong = code === 'SignatureDoesNotMatch'
    // Only this refusal comes after form, time and completeness have been found right.
    const isJudged = code === 'InvalidAccessKeyId' && target !== undefined && described.secretKey !== undefined
    const isValid = isJudged && this.#isSignedWith(described.secretKey, claims, request, target)
    return claimPairs(described, isWrong, isJudged ? isValid : undefined)
  }

  /** The time that signatures and policies of forms are judged by. */
  get now(): Milliseconds {
    return this.#clock()
  }

  /**
   * Checks the signature of a form, which signs its policy; what the policy says is judged after it.
   * @returns undefined for an anonymous form
   * @throws S3Error InvalidRequest, InvalidArgument, AccessDenied, InvalidAccessKeyId, SignatureDoesNotMatch
   */
  authenticateForm(fields: FormFields): Identity | undefined {
    const claims = formClaims(fields)
    if (claims === undefined) return undefined
    checkFormTime(claims, this.#clock(), SKEW_MILLISECONDS_MAXIMUM)
    const found = this.#lookup(claims.accessKey)
    const matches = this.#signsForm(claims, found?.secretKey ?? this.#nobodysSecret)
    const { accessKey, principal, credentialId, policies } = proven(found, matches, claims.accessKey)
    return { accessKey, principal, credentialId, mode: 'form', payload: { kind: 'unsigned' }, policies }
  }

  /** As `claimOf`, of a form that `authenticateForm` refused. */
  claimOfForm(fields: FormFields, code: S3ErrorCode): Pairs {
    const claims = claimsIfAny(() => formClaims(fields))
    const described = claims && this.#describe?.(claims.accessKey)
    if (claims === undefined || described === undefined) return []
    const { secretKey } = described
    const isValid =
      code === 'InvalidAccessKeyId' && secretKey !== undefined ? this.#signsForm(claims, secretKey) : undefined
    return claimPairs(described, code === 'SignatureDoesNotMatch', isValid)
  }

  #signsForm({ accessKey, scope, policy, signature }: FormClaims, secretKey: string): boolean {
    return equalsHex(this.#signingKeys.get(accessKey, secretKey, scope).sign(policy), signature)
  }

  /** A link with an Authorization header is refused with every other one. */
  #isVersionTwo(request: HttpRequest, { query }: Target): boolean {
    return this.#readsVersionTwo && isVersionTwo(query) && !request.header('authorization')
  }

  #authenticateVersionTwo(request: HttpRequest, { query }: Target, now: Milliseconds): Identity {
    const claims = versionTwoClaims(request, query)
    refuseSeveralHosts(request)
    checkVersionTwoTime(claims, now)
    const found = this.#lookup(claims.accessKey)
    const matches = isVersionTwoSignedBy(found?.secretKey ?? this.#nobodysSecret, claims, request, query)
    const { accessKey, principal, credentialId, policies } = proven(found, matches, claims.accessKey)
    return { accessKey, principal, credentialId, mode: 'presigned', payload: { kind: 'unsigned' }, policies }
  }

  #claimOfVersionTwo(request: HttpRequest, { query }: Target, code: S3ErrorCode): Pairs {
    const claims = claimsIfAny(() => versionTwoClaims(request, query))
    const described = claims && this.#describe?.(claims.accessKey)
    if (claims === undefined || described === undefined) return []
    const isJudged = code === 'InvalidAccessKeyId' && described.secretKey !== undefined
    const isValid = isJudged ? isVersionTwoSignedBy(described.secretKey ?? '', claims, request, query) : undefined
    return claimPairs(described, code === 'SignatureDoesNotMatch', isValid)
  }

  #isSignedWith(secretKey: string, claims: SignatureClaims, request: HttpRequest, target: Target): boolean {
    const signingKey = this.#signingKeys.get(claims.accessKey, secretKey, claims.scope)
    return isSignedBy(signingKey, claims, readPayloadHash(claims.mode, request, target), request, target)
  }

  #checkSignature(claims: SignatureClaims, payloadHash: string, request: HttpRequest, target: Target): Verified {
    const { accessKey, scope } = claims
    const credential = this.#lookup(accessKey)
    const signingKey = this.#signingKeys.get(accessKey, credential?.secretKey ?? this.#nobodysSecret, scope)
    const matches = isSignedBy(signingKey, claims, payloadHash, request, target)
    return { credential: proven(credential, matches, accessKey), signingKey }
  }
}

/** @throws S3Error InvalidAccessKeyId, SignatureDoesNotMatch */
function proven(credential: Credential | undefined, matches: boolean, accessKey: string): Credential {
  if (credential === undefined) throw new S3Error('InvalidAccessKeyId', { details: [['AWSAccessKeyId', accessKey]] })
  if (!matches) throw new S3Error('SignatureDoesNotMatch', { details: [['AWSAccessKeyId', accessKey]] })
  return credential
}

/** The claims of a refused request; undefined where they cannot be read, which is the reason of the refusal. */
function claimsIfAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof S3Error) return undefined
    throw error
  }
}

/** Only one of them would be judged. */
function refuseSeveralHosts(request: HttpRequest): void {
  const hosts = request.headers.filter(([name]) => name === 'host').length
  if (hosts > 1) throw new S3Error('InvalidRequest', { message: 'The request has more than one Host header.' })
}

function isSignedBy(
  signingKey: SigningKey,
  claims: SignatureClaims,
  payloadHash: string,
  request: HttpRequest,
  target: Target,
): boolean {
  const { scope, signedNames, signedHeaders } = claims
  const canonical = canonicalText({
    method: request.method,
    path: target.canonicalPath,
    query: target.query.canonical(),
    signedNames,
    signedHeaders,
    header: (name) => request.header(name),
    payloadHash,
  })
  return equalsHex(signingKey.sign(stringToSign(claims.timestamp, scope, canonical)), claims.signature)
}

/**
 * Undefined for an anonymous request.
 * @param target undefined when it cannot be read; then only the header is
 */
function readClaims(request: HttpRequest, target: Target | undefined, now: Milliseconds): SignatureClaims | undefined {
  // An empty header is what a client without credentials sends; it claims nothing.
  const authorization = request.header('authorization') || undefined
  const query = target?.query ?? NO_PARAMETERS
  const presigned =
    query.entries.length > 0 &&
    (query.has('X-Amz-Algorithm') || query.has('X-Amz-Credential') || query.has('X-Amz-Signature'))
  const signatureV2 = isVersionTwo(query)
  if (authorization !== undefined) {
    if (presigned || signatureV2) {
      const message = 'Only one way to sign is allowed: the Authorization header or query parameters.'
      throw new S3Error('InvalidArgument', { message, details: [['ArgumentName', 'Authorization']] })
    }
    return headerClaims(authorization, request, now)
  }
  if (signatureV2) throw unsupportedMechanism(request.method === 'GET' || request.method === 'HEAD')
  return presigned ? presignedClaims(query) : undefined
}

const SHA256_HEX = /^[0-9a-fA-F]{64}$/
const STREAMING = /^STREAMING-[A-Z0-9-]+$/

/** The payload hash of the canonical request. */
function readPayloadHash(mode: SignatureClaims['mode'], request: HttpRequest, target: Target): string {
  const name = 'x-amz-content-sha256'
  const value = mode === 'header' ? request.header(name) : (effectiveHeader(request, target, name) ?? UNSIGNED_PAYLOAD)
  if (value === undefined) {
    throw new S3Error('InvalidRequest', { message: `Missing required header for this request: ${name}` })
  }
  if (value === UNSIGNED_PAYLOAD || SHA256_HEX.test(value) || STREAMING.test(value)) return value
  throw invalidArgument(name, value, `${name} must be ${UNSIGNED_PAYLOAD} or the SHA-256 of the body in hex.`)
}

function claimedPayload(payloadHash: string, claims: SignatureClaims, signingKey: SigningKey): ClaimedPayload {
  if (payloadHash === UNSIGNED_PAYLOAD) return { kind: 'unsigned' }
  if (!payloadHash.startsWith(STREAMING_PREFIX)) return { kind: 'sha256', hex: payloadHash.toLowerCase() }
  const { mode, timestamp, scope, signature } = claims
  const signatures = mode === 'header' ? new ChunkSignatures(signingKey, timestamp, scope, signature) : undefined
  return { kind: 'streaming', mode: payloadHash, signatures }
}

/** Whether `checkTime` would accept a presigned URL. */
function isInTime({ timeMilliseconds, expiresSeconds = 0 }: SignatureClaims, now: Milliseconds): boolean {
  return now >= timeMilliseconds - SKEW_MILLISECONDS_MAXIMUM && now <= timeMilliseconds + expiresSeconds * 1000
}

function checkTime(claims: SignatureClaims, now: Milliseconds): void {
  const { timeMilliseconds, expiresSeconds } = claims
  // Formatted only for a refusal, since it costs as much as checking a header.
  const serverTime = () => new Date(now).toISOString()
  if (expiresSeconds === undefined) {
    if (Math.abs(now - timeMilliseconds) <= SKEW_MILLISECONDS_MAXIMUM) return
    const details = [
      ['RequestTime', claims.timestamp],
      ['ServerTime', serverTime()],
      ['MaxAllowedSkewMilliseconds', String(SKEW_MILLISECONDS_MAXIMUM)],
    ] as const
    throw new S3Error('RequestTimeTooSkewed', { details })
  }
  if (now < timeMilliseconds - SKEW_MILLISECONDS_MAXIMUM) {
    throw new S3Error('AccessDenied', { message: 'Request is not valid yet', details: [['ServerTime', serverTime()]] })
  }
  const expires = timeMilliseconds + expiresSeconds * 1000
  if (now <= expires) return
  const details = [
    ['X-Amz-Expires', String(expiresSeconds)],
    ['Expires', new Date(expires).toISOString()],
    ['ServerTime', serverTime()],
  ] as const
  throw new S3Error('AccessDenied', { message: 'Request has expired', details })
}

/** Refuses unsigned headers that affect the request: any holder of the URL could have added them. */
function refuseUnsignedHeaders(claims: SignatureClaims, request: HttpRequest): void {
  const unsigned = claims.signedNames.includes('host') ? [] : ['host']
  let hosts = 0
  for (const [name] of request.headers) {
    if (name === 'host') hosts += 1
    else if (name.startsWith('x-amz-') && !claims.signedNames.includes(name)) unsigned.push(name)
  }
  if (hosts > 1) throw new S3Error('InvalidRequest', { message: 'The request has more than one Host header.' })
  if (unsigned.length === 0) return
  const message = 'There were headers present in the request which were not signed'
  throw new S3Error('AccessDenied', { message, details: [['HeadersNotSigned', unsigned.join(', ')]] })
}
