import type { CompiledPolicies } from '../../../engine/access/policy.ts'
import type { ChunkSignatures } from './chunk-signatures.ts'

export interface Credential {
  readonly accessKey: string
  readonly secretKey: string
  /** As audit records name it, such as `service_account:<id>`. */
  readonly principal: string
  readonly credentialId: string
  /** Undefined for the root credential, which may do everything. */
  readonly policies: CompiledPolicies | undefined
}

/** An aws-chunked body with chunk signatures or a trailer. */
export interface StreamedPayload {
  readonly kind: 'streaming'
  /** The value of x-amz-content-sha256, `STREAMING-...`. */
  readonly mode: string
  /** The chain of chunk signatures; undefined for a presigned request. */
  readonly signatures: ChunkSignatures | undefined
}

/** The signed claim about the body: none, its digest (64 lower-case hex digits), or its form. */
export type ClaimedPayload =
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'sha256'; readonly hex: string }
  | StreamedPayload

/** The signer of a request, and the claims that the signature covers. */
export interface Identity {
  readonly accessKey: string
  readonly principal: string
  readonly credentialId: string
  readonly mode: 'header' | 'presigned' | 'form'
  readonly payload: ClaimedPayload
  readonly policies: CompiledPolicies | undefined
}
