import type { Milliseconds, UploadId } from '../../../engine/brands.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import type { PayloadSources } from '../../objects/read-object.ts'
import type { PayloadStores } from '../../objects/receive-payload.ts'
import type { Extensions, UnsignedChunks } from '../../objects/s3-extensions.ts'
import type { BucketPolicies } from '../policies/bucket-policies.ts'
import type { Credential } from '../signing/identity.ts'
import type { NotificationParts } from '../notifications/notification-source.ts'
import type { Owner } from '../documents/listing-elements.ts'

/** The services of S3 operations; one set per front end. */
export interface S3Services extends PayloadSources, PayloadStores {
  readonly engine: EngineClient
  /** Authenticates continuation tokens; the same after a restart. */
  readonly tokenKey: Buffer
  readonly versionIds: OpaqueIds
  readonly uploadIds: OpaqueIds<UploadId>
  /** Extensions turned on by the setting `s3.extensions`. */
  readonly extensions: Extensions
  /** Whether new payloads are encrypted at rest: the setting `storage.encryption_enabled`. */
  readonly encrypts: boolean
  /** The setting `s3.unsigned_chunks_over_http`. */
  readonly unsignedChunksOverHttp: UnsignedChunks
  /** The credentials that may sign now. */
  readonly credentials: { lookup(accessKey: string): Credential | undefined }
  /** The policies of buckets as they are now. */
  readonly bucketPolicies: BucketPolicies
  /** What listeners of notifications read. */
  readonly notifications: NotificationParts
  /** Shown as owner of buckets and objects. */
  readonly owner: Owner
  /** Milliseconds since 1970. */
  readonly clock: () => Milliseconds
}
