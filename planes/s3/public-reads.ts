/**
 * Reads without a credential: of what the operator (`s3.public_read_prefixes`) and the policy of the bucket both open to
 * everyone. GET and HEAD of the current object alone (decision 0024).
 */
import { BusyError, type Share, Shares } from '../../engine/shares/shares.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { toS3Error } from './documents/error-response.ts'
import { S3Error } from './errors/s3-errors.ts'
import type { Operation } from './handling/operation.ts'
import { getObject } from './operations/get-object.ts'
import { headObject } from './operations/head-object.ts'
import type { BucketPolicies } from './policies/bucket-policies.ts'
import type { Target } from './request/target.ts'

/** The account of them all: together they have the share of one account of places, and of memory for answers. */
export const PUBLIC_READS = 'public reads'

/** Parameters that say how or what is read: S3 refuses them without a signature, but for unknown ones, which say nothing. */
const REFUSED_PARAMETER = /^(?:versionId$|partNumber$|response-|x-amz-)/i

const places = new Shares('public-reads')

/**
 * Whether a request without a credential may read what it names.
 * @param operation as which the request is recognized
 */
export function isPublicRead(
  operation: Operation | undefined,
  http: HttpRequest,
  { bucket, key, query }: Target,
  policies: BucketPolicies,
): boolean {
  if ((operation !== getObject && operation !== headObject) || bucket === undefined || key === undefined) return false
  if (query.entries.some(([name]) => REFUSED_PARAMETER.test(name))) return false
  const hasBody = (http.contentLength ?? 0) > 0 || http.header('transfer-encoding') !== undefined
  return !hasBody && policies.isPublic(bucket, key)
}

/**
 * A place for a read, until its answer is sent.
 * @param network of the client
 * @throws BusyError
 */
export function enterPublicRead(network: string): Share {
  const place = places.take(network)
  if (place === undefined) throw new BusyError()
  return place
}

/** Strangers may not list, so no answer says which keys exist: as on S3. */
export function withoutNames(failure: unknown): unknown {
  return toS3Error(failure).error.status === 404 ? new S3Error('AccessDenied') : failure
}
