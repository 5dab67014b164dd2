import type { Operation } from './handling/operation.ts'

/** One answered request, for metrics and the log. */
export interface FinishedRequest {
  readonly requestId: string
  readonly method: string
  /** Undefined for a request that was refused before its operation was known. */
  readonly operation: Operation | undefined
  /** `system:root`, `service_account` or `anonymous`; only the record names the account. */
  readonly principal: PrincipalKind
  /** The target without names: `/{bucket}/{key}`. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  /** Bytes of the body until the answer. Later bytes are dropped and not counted. */
  readonly receivedBytes: number
  readonly sentBytes: number
  /** Error code in the record of a refused request. */
  readonly code: string | undefined
  /** What a 501 refuses. */
  readonly unsupported: Unsupported | undefined
}

export type PrincipalKind = 'system:root' | 'service_account' | 'anonymous'

/** What a 501 refused, recorded for the operator who reconfigures the client. Both texts are bounded. */
export interface Unsupported {
  /** The header, or the query parameter with a `?` before it; undefined when it is the operation itself. */
  readonly refused: string | undefined
  /** The message of the answer, which a HEAD request does not get. */
  readonly reason: string
}

/** Bucket and key of a request that failed. */
export interface FailedTarget {
  readonly bucket: string
  readonly key: string | undefined
}

export interface S3Telemetry {
  finished(request: FinishedRequest): void
  /** A failure that is a fault of the server. `target`: of the request, for damage. */
  failed(error: unknown, requestId: string, target: FailedTarget | undefined): void
  /** A request that fails by a fault of the server, or a state of it. */
  erred(): void
}
