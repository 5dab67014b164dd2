import type { BucketId, UploadId } from '../../engine/brands.ts'
import type { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import type { TableReader } from '../lmdb-environment.ts'
import { getBucketName } from '../tables/bucket-names.ts'
import type { EventFact, VersionFact } from './derive-events.ts'
import type { EventMetadata } from './storage-event.ts'

/** The codecs of the ids that clients see. */
export interface EventIds {
  readonly versionIds: OpaqueIds
  readonly uploadIds: OpaqueIds<UploadId>
}

/** Names held in memory; a bucket never changes its name. */
const NAMES_MAXIMUM = 10_000

/** Gives the numbers of the journal the names that clients know. */
export class EventNames {
  readonly #table: TableReader
  readonly #ids: EventIds
  readonly #names = new Map<BucketId, string>()

  constructor(table: TableReader, ids: EventIds) {
    this.#table = table
    this.#ids = ids
  }

  bucket(bucketId: BucketId): string {
    const known = this.#names.get(bucketId)
    if (known !== undefined) return known
    const name = getBucketName(this.#table, bucketId)
    if (name === undefined) throw new Error(`bucket ${bucketId} has no name`)
    if (this.#names.size >= NAMES_MAXIMUM) this.#names.clear()
    this.#names.set(bucketId, name)
    return name
  }

  version({ sequence, isNull }: VersionFact): string {
    return isNull ? 'null' : this.#ids.versionIds.encode(sequence)
  }

  metadata(facts: EventFact['metadata']): EventMetadata {
    const named: Record<string, string | number | boolean> = {}
    for (const [name, value] of Object.entries(facts)) {
      if (value === undefined) continue
      if (typeof value !== 'object') named[name] = value
      else if ('upload' in value) named[name] = this.#ids.uploadIds.encode(value.upload)
      else if ('bucketId' in value) named[name] = this.bucket(value.bucketId)
      else named[name] = this.version(value)
    }
    return named
  }
}
