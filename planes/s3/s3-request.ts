import type { AuditContext } from '../../engine/events/audit.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { SignedIdentity } from './authenticate.ts'
import type { Operation } from './operation-table.ts'
import type { Target } from './target.ts'

/**
 * How much of a request is in the journal already. A change is recorded by the engine in the batch that makes it; what
 * the engine has not recorded the pipeline records when the answer is known.
 */
export type Journaled =
  | { readonly kind: 'nothing' }
  /** The attempt of a long upload, by its sequence. */
  | { readonly kind: 'attempt'; readonly sequence: number }
  | { readonly kind: 'outcome' }

/** An authenticated, recognized and authorized request, as an operation receives it. */
export interface S3Request {
  readonly http: HttpRequest
  readonly target: Target
  readonly identity: SignedIdentity
  readonly operation: Operation
  readonly requestId: string
  /** Operations that change something set this as they put records into the journal. */
  journaled: Journaled
}

/** The audit context of a request. `metadata` names the S3 operation, since `s3:PUT` alone says little. */
export function auditContext(
  http: HttpRequest,
  target: Target | undefined,
  operation: Operation | undefined,
  identity: { readonly principal: string; readonly credentialId: string } | undefined,
  requestId: string,
): AuditContext {
  return {
    principal: identity?.principal ?? 'anonymous',
    credentialId: identity?.credentialId,
    sourceAddress: http.remoteAddress,
    requestId,
    operation: `s3:${http.method}`,
    resource: resourceOf(target),
    metadata: operation === undefined ? [] : ['api', operation.name],
  }
}

/** The specification's form of a resource; a request of the whole service names every bucket. */
export function resourceOf(target: Target | undefined): string {
  if (target?.bucket === undefined) return 'bucket:*'
  return target.key === undefined ? `bucket:${target.bucket}` : `bucket:${target.bucket}/${target.key}`
}

/** The audit context of a request that an operation has in hand. */
export function auditOf(request: S3Request): AuditContext {
  return auditContext(request.http, request.target, request.operation, request.identity, request.requestId)
}

/** Bucket of a request whose operation has one. */
export function bucketName(request: S3Request): string {
  if (request.target.bucket === undefined) throw new Error(`${request.operation.name} needs a bucket`)
  return request.target.bucket
}

/** Key of a request whose operation has one. */
export function objectKey(request: S3Request): string {
  if (request.target.key === undefined) throw new Error(`${request.operation.name} needs a key`)
  return request.target.key
}
