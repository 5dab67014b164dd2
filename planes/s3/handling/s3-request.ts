import { boundedText } from '../../../engine/events/bounded-text.ts'
import type { RequestJournal } from '../../exchange/request-journal.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import type { FormBody } from '../forms/form-body.ts'
import type { FormFields } from '../forms/form-reader.ts'
import type { ClaimedPayload, Identity } from '../signing/identity.ts'
import type { Target } from '../request/target.ts'

/** An authenticated, recognized and authorized request, as an operation of the whole service receives it. */
export interface S3Request {
  readonly http: HttpRequest
  readonly target: Target
  /** The authenticated caller; undefined for a preflight, which is never signed, and for a public read. */
  readonly identity: Identity | undefined
  /** What the signature says about the body. */
  readonly payload: ClaimedPayload
  /** Maximum size in bytes of the body that the operation reads. */
  readonly bodyBytesMaximum: number
  /** The only way for an operation to change state. */
  readonly journal: RequestJournal
  /** Receives server faults that happen inside a 200 answer. */
  readonly faults: Faults
  /** The form that the request was made of; undefined for a request that is signed in its head. */
  readonly form?: ReceivedForm
}

interface Faults {
  fault(error: unknown): void
}

/** A form whose fields have been read, whose signature is right and whose policy lets it through. */
interface ReceivedForm {
  readonly fields: FormFields
  readonly file: FormBody
}

/** As an operation on a bucket receives it. */
export interface BucketRequest extends S3Request {
  readonly bucket: string
}

/** As an operation on an object receives it. */
export interface ObjectRequest extends BucketRequest {
  readonly key: string
}

/** The resource in the form of the specification. A request to the whole service names every bucket. */
export function resourceOf(target: Target | undefined): string {
  if (target?.bucket === undefined) return 'bucket:*'
  return target.key === undefined ? `bucket:${target.bucket}` : `bucket:${target.bucket}/${target.key}`
}

/** `bucket:`, a bucket of 63 characters, `/`, a key of 1,024 bytes (decision 0010). */
const RECORDED_BYTES_MAXIMUM = 7 + 63 + 1 + 1024

/**
 * The resource as it is recorded. A resource longer than any valid one is truncated and followed by the SHA-256 of the
 * full text, so that long requests do not fill the journal.
 */
export function recordedResource(target: Target | undefined): string {
  return boundedText(resourceOf(target), RECORDED_BYTES_MAXIMUM)
}
