import type { QueryParameter } from '../planes/s3/request/query-parameters.ts'
import { presign } from '../spec/support/signing.ts'

/** An S3 server and the credential to use it with. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly url: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** PEM text of the certificate of a server that made its own. */
  readonly certificate?: string | undefined
}

/** A request without its signature. */
export interface PlainRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Decoded path, such as `/bucket/key`. */
  readonly path: string
  readonly query?: readonly QueryParameter[]
}

/** Longer than any run. */
const EXPIRES_SECONDS = 6 * 3600

/** The presigned URL of a request. */
export function presignedUrl(endpoint: Endpoint, request: PlainRequest): string {
  return presign({
    ...request,
    endpoint: endpoint.url,
    accessKey: endpoint.accessKey,
    secretKey: endpoint.secretKey,
    region: endpoint.region,
    now: Date.now(),
    expiresSeconds: EXPIRES_SECONDS,
  })
}

/** The request target of a presigned URL: path and query. */
export function presignedTarget(endpoint: Endpoint, request: PlainRequest): string {
  return presignedUrl(endpoint, request).slice(endpoint.url.length)
}
