/** Every block, in the order in which they run. */
import type { Block } from './block.ts'
import { LIMIT_BLOCKS } from './limits.ts'
import { MALFORMED_BLOCKS } from './malformed.ts'
import { ACCESS_BLOCKS } from './management/access.ts'
import { AUDIT_BLOCKS } from './management/audit.ts'
import { API_BUCKET_BLOCKS } from './management/buckets.ts'
import { API_MUTATION_BLOCKS } from './management/mutations.ts'
import { ROUTE_BLOCKS } from './management/routes.ts'
import { BUCKET_BLOCKS } from './s3/buckets.ts'
import { COPY_BLOCKS } from './s3/copies.ts'
import { CORS_BLOCKS } from './s3/cors.ts'
import { IDENTITY_BLOCKS } from './s3/identities.ts'
import { LIST_BLOCKS } from './s3/lists.ts'
import { LOCK_BLOCKS } from './s3/locks.ts'
import { MULTIPART_BLOCKS } from './s3/multipart.ts'
import { MUTATION_BLOCKS } from './s3/mutations.ts'
import { OBJECT_BLOCKS } from './s3/objects.ts'
import { OPERATION_BLOCKS } from './s3/operations.ts'
import { READ_BLOCKS } from './s3/reads.ts'
import { SIGNATURE_BLOCKS } from './s3/signatures.ts'
import { VERSION_BLOCKS } from './s3/versions.ts'

export const BLOCKS: readonly Block[] = [
  ...OPERATION_BLOCKS,
  ...BUCKET_BLOCKS,
  ...OBJECT_BLOCKS,
  ...READ_BLOCKS,
  ...VERSION_BLOCKS,
  ...LIST_BLOCKS,
  ...LOCK_BLOCKS,
  ...CORS_BLOCKS,
  ...MULTIPART_BLOCKS,
  ...COPY_BLOCKS,
  ...SIGNATURE_BLOCKS,
  ...IDENTITY_BLOCKS,
  ...MUTATION_BLOCKS,
  ...ROUTE_BLOCKS,
  ...ACCESS_BLOCKS,
  ...API_BUCKET_BLOCKS,
  ...AUDIT_BLOCKS,
  ...API_MUTATION_BLOCKS,
  ...MALFORMED_BLOCKS,
  ...LIMIT_BLOCKS,
]
