import { boundedText } from '../../engine/events/bounded-text.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { ClaimedPayload, Identity } from './identity/authenticate.ts'
import type { Target } from './request/target.ts'

/** An authenticated, recognized and authorized request, as an operation of the whole service receives it. */
export interface S3Request {
  readonly http: HttpRequest
  readonly target: Target
  /** Who asks; undefined for a preflight, which is nobody's. */
  readonly identity: Identity | undefined
  /** What the signature says about the body. */
  readonly payload: ClaimedPayload
  /** The largest body that the operation reads. */
  readonly bodyBytesMaximum: number
  /** Changes go through it, and only through it. */
  readonly journal: RequestJournal
  /** Told of faults of the server that are a part of an answer, and not the answer. */
  readonly faults: Faults
}

interface Faults {
  fault(error: unknown): void
}

/** As an operation on a bucket receives it. */
export interface BucketRequest extends S3Request {
  readonly bucket: string
}

/** As an operation on an object receives it. */
export interface ObjectRequest extends BucketRequest {
  readonly key: string
}

/** The specification's form of a resource; a request of the whole service names every bucket. */
export function resourceOf(target: Target | undefined): string {
  if (target?.bucket === undefined) return 'bucket:*'
  return target.key === undefined ? `bucket:${target.bucket}` : `bucket:${target.bucket}/${target.key}`
}

/** `bucket:`, a bucket of 63 characters, `/`, a key of 1,024 bytes (decision 0010). */
const RECORDED_BYTES_MAXIMUM = 7 + 63 + 1 + 1024

/**
 * The resource as records have it. One that is longer than that of any bucket or object is there by its beginning and
 * the SHA-256 of the whole: whoever sends it must not fill the journal with it.
 */
export function recordedResource(target: Target | undefined): string {
  return boundedText(resourceOf(target), RECORDED_BYTES_MAXIMUM)
}
