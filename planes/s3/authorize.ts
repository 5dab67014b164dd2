import type { Identity, SignedIdentity } from './authenticate.ts'
import { S3Error } from './errors.ts'

/**
 * Who may do what. The root credential may do everything; a request without a signature may do nothing, and is told
 * nothing about what is there (S9).
 * @throws S3Error AccessDenied
 */
export function authorize(identity: Identity): SignedIdentity {
  if (identity.kind === 'anonymous') throw new S3Error('AccessDenied')
  return identity
}
