/**
 * Cache of presigned URLs that were verified and admitted, so that a repeated URL is not verified again. The cache
 * never admits a request that full verification would refuse: the request must be equal in everything that was signed
 * and in everything that selected its operation, and time and credential are checked on every use
 * (spec/decisions/0083-what-a-front-end-keeps.md).
 */
import type { HttpRequest } from '../../http/exchange.ts'
import type { Operation } from '../handling/operation.ts'
import { QueryParameters } from '../request/query-parameters.ts'
import type { Target } from '../request/target.ts'
import type { Credential, Identity } from '../signing/identity.ts'
import { presignedClaims, type SignatureClaims } from './signature-claims.ts'

/** The cache is cleared when full. */
const URLS_MAXIMUM = 10_240
/** Longer URLs are verified each time, to bound the memory of the cache. */
const URL_LENGTH_MAXIMUM = 1024

/** The result of verifying one URL. */
interface VerifiedUrl {
  readonly method: string
  readonly path: string
  readonly host: string
  readonly target: Target
  readonly operation: Operation
  readonly claims: SignatureClaims
  /** Secret that signed the URL; a credential with another secret makes the entry invalid. */
  readonly secretKey: string
  readonly identity: Identity
}

/** The verified URLs of one thread. */
export class VerifiedUrls {
  /** By query, which contains the signature of exactly one method, path and host. */
  readonly #urls = new Map<string, VerifiedUrl>()
  readonly #maximum: number

  constructor(maximum: number = URLS_MAXIMUM) {
    this.#maximum = maximum
  }

  get size(): number {
    return this.#urls.size
  }

  /** The entry of the URL, if nothing in this request could change the result of verification. */
  find(request: HttpRequest): VerifiedUrl | undefined {
    const known = this.#urls.get(request.query)
    if (known === undefined || known.path !== request.path || known.method !== request.method) return undefined
    return hasNoMoreThan(request, known.host) ? known : undefined
  }

  /** Adds an admitted request: verified, recognized, with supported headers only, authorized. */
  add(request: HttpRequest, target: Target, operation: Operation, identity: Identity, secretKey: string): void {
    const { method, path, query } = request
    const host = request.header('host')
    if (identity.mode !== 'presigned' || host === undefined || !hasNoMoreThan(request, host)) return
    const claims = presignedClaims(target.query)
    if (claims.signedHeaders !== 'host' || path.length + query.length > URL_LENGTH_MAXIMUM) return
    if (this.#urls.size >= this.#maximum) this.#urls.clear()
    // A new object, without the cached canonical text of the verification.
    const kept = { ...target, query: new QueryParameters(target.query.entries) }
    this.#urls.set(query, { method, path, host, target: kept, operation, claims, secretKey, identity })
  }
}

/** The signer's identity by the credential as it is now; undefined when its secret has changed or it is gone. */
export function identityNow(url: VerifiedUrl, credential: Credential | undefined): Identity | undefined {
  if (credential === undefined || credential.secretKey !== url.secretKey) return undefined
  const { accessKey, principal, credentialId, policies } = credential
  const { mode, payload } = url.identity
  return { accessKey, principal, credentialId, mode, payload, policies }
}

/** Whether a request has exactly one Host, `host`, and no header that affects verification or the operation. */
function hasNoMoreThan(request: HttpRequest, host: string): boolean {
  let hosts = 0
  for (const [name, value] of request.headers) {
    if (name === 'host') {
      if (value !== host) return false
      hosts += 1
    } else if (name.startsWith('x-amz-') || name === 'authorization' || name === 'content-encoding') return false
  }
  return hosts === 1
}
