/**
 * Presigned URLs that were verified and admitted, so that those who send one again and again do not have it verified
 * again and again. Nothing passes by this that would not pass without: a request must be the same in all that was signed
 * and in all that decided what it asks for, and its time and its credential are looked at each time
 * (spec/decisions/0098-what-a-read-of-4-kib-costs.md).
 */
import type { HttpRequest } from '../../http/exchange.ts'
import type { Operation } from '../operation.ts'
import { QueryParameters } from '../request/query-parameters.ts'
import type { Target } from '../request/target.ts'
import type { Credential, Identity } from './authenticate.ts'
import { presignedClaims, type SignatureClaims } from './signature-claims.ts'

/** Full, all are forgotten. */
const URLS_MAXIMUM = 10_240
/** Longer ones are verified each time, so that what is kept is bounded. */
const URL_LENGTH_MAXIMUM = 1024

/** What is known of a request by its URL. */
interface VerifiedUrl {
  readonly method: string
  readonly path: string
  readonly host: string
  readonly target: Target
  readonly operation: Operation
  readonly claims: SignatureClaims
  /** Of the credential that signed it; one that has another secret did not. */
  readonly secretKey: string
  readonly identity: Identity
}

/** The URLs that one thread has verified. */
export class VerifiedUrls {
  /** By query: it holds the signature, which is of one method, path and host alone. */
  readonly #urls = new Map<string, VerifiedUrl>()
  readonly #maximum: number

  constructor(maximum: number = URLS_MAXIMUM) {
    this.#maximum = maximum
  }

  get size(): number {
    return this.#urls.size
  }

  /** Undefined unless a request with this URL was admitted, and nothing in this one could make a difference. */
  find(request: HttpRequest): VerifiedUrl | undefined {
    const known = this.#urls.get(request.query)
    if (known === undefined || known.path !== request.path || known.method !== request.method) return undefined
    return hasNoMoreThan(request, known.host) ? known : undefined
  }

  /** Takes in a request that was admitted: verified, recognized, with nothing unsupported, authorized. */
  add(request: HttpRequest, target: Target, operation: Operation, identity: Identity, secretKey: string): void {
    const { method, path, query } = request
    const host = request.header('host')
    if (identity.mode !== 'presigned' || host === undefined || !hasNoMoreThan(request, host)) return
    const claims = presignedClaims(target.query)
    if (claims.signedHeaders !== 'host' || path.length + query.length > URL_LENGTH_MAXIMUM) return
    if (this.#urls.size >= this.#maximum) this.#urls.clear()
    // Without the canonical text that the signature was checked with.
    const kept = { ...target, query: new QueryParameters(target.query.entries) }
    this.#urls.set(query, { method, path, host, target: kept, operation, claims, secretKey, identity })
  }
}

/** The identity of whoever signed a URL, by the credential as it is now; undefined when its secret is another one. */
export function identityNow(url: VerifiedUrl, credential: Credential | undefined): Identity | undefined {
  if (credential === undefined || credential.secretKey !== url.secretKey) return undefined
  const { accessKey, principal, credentialId, policies } = credential
  const { mode, payload } = url.identity
  return { accessKey, principal, credentialId, mode, payload, policies }
}

/** Whether a request has one Host, this one, and no header that a signature covers or that decides what is asked for. */
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
