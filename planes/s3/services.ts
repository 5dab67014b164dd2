import type { EngineClient } from '../../engine/client.ts'
import type { OpaqueIds } from '../../engine/opaque-ids.ts'
import type { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import type { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import type { UploadStore } from '../../engine/payloads/upload-store.ts'
import type { CatalogReader } from '../../projections/catalog-reader.ts'
import type { Owner } from './listing-elements.ts'

/** What the operations of the S3 plane work with; one set per front end. */
export interface S3Services {
  readonly engine: EngineClient
  readonly catalog: CatalogReader
  readonly payloads: PayloadReader
  readonly uploads: UploadStore
  readonly space: SpaceGuard
  /** Bodies up to this many bytes travel with the command and go into a volume. */
  readonly inlineBytesMaximum: number
  /** Authenticates continuation tokens; the same after a restart. */
  readonly tokenKey: Buffer
  readonly versionIds: OpaqueIds
  readonly uploadIds: OpaqueIds
  /** Shown as owner of buckets and objects. */
  readonly owner: Owner
  /** Milliseconds since 1970. */
  readonly clock: () => number
}
