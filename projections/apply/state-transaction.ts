import type { VersionSelector } from '../../engine/commands/version-name.ts'
import { type Change, type ChangeHandlers, type ChangeNamed, handlerOf } from '../../engine/events/changes.ts'
import type { CorsRule } from '../../engine/events/values.ts'
import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import type { CredentialUse } from '../../engine/journal/credential-uses.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import {
  type BucketId,
  type PayloadId,
  type Sequence,
  type UploadId,
  uploadIdOf,
  type VolumeNumber,
} from '../../engine/brands.ts'
import { RowDamagedError } from '../../engine/errors.ts'
import type { BucketState, LogicalUsage, ObjectState, PartState, UploadState } from '../../engine/state-ports.ts'
import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { StateTransaction } from '../../engine/state-store.ts'
import { BucketRows } from './bucket-rows.ts'
import { Counters } from './counters.ts'
import { PayloadLedger } from './payload-ledger.ts'
import { TABLES, type Tables } from '../tables/table-list.ts'
import { getAccessCode, putAccessCode } from '../access/tables.ts'
import { putApplied } from '../tables/applied.ts'
import { noteBatch } from '../tables/audit-index.ts'
import { noteRun } from '../tables/audit-runs.ts'
import { getBucketTags, getCors, putBucketTags, putCors } from '../tables/bucket-settings.ts'
import { getPayload, getReferences } from '../tables/payloads.ts'
import { isLock } from '../tables/locks.ts'
import { getPart, getUpload, partsOf, uploadsOfBucket } from '../tables/uploads.ts'
import { bucketHasNothing, getVersion, newestVersion, versionKey } from '../tables/versions.ts'
import { UploadRows } from './upload-rows.ts'
import { VersionRows } from './version-rows.ts'
import { getLastRestore, putRestore } from '../tables/restores.ts'
import type { FeatureRows } from './feature-rows.ts'
import { featureHandlers, type RowsOfFeatures, rowsOfFeatures } from './rows-of-features.ts'

/** Further work at the end of a batch, in the same transaction. */
export interface BatchEnding {
  /** Counters were written that cannot be right. */
  readonly recount?: () => void
  /** Called when all rows are written, the position last. */
  readonly seal?: () => void
  /** A row is not as it was written; the rule that reads it gets the error. */
  readonly damaged?: (error: RowDamagedError) => void
}

/**
 * One write transaction over the tables: what the rules read, and what entries do to the rows. The same code runs when
 * a change is made and when it is replayed, so both give the same rows.
 */
export class TableTransaction implements StateTransaction {
  static readonly #handlers: ChangeHandlers<TableTransaction> = {
    ...featureHandlers(({ features }: TableTransaction) => features),
    'bucket.created': (t, change, _, times) => t.#buckets.created(times, change),
    'bucket.deleted': (t, change) => t.#bucketDeleted(change),
    'bucket.versioning-set': (t, change) => t.#buckets.set(change.bucket, { versioning: change.versioning }),
    'bucket.retention-set': (t, change) => t.#buckets.set(change.bucket, { defaultRetention: change.retention }),
    'bucket.quota-set': (t, change) =>
      t.#buckets.set(change.bucket, { quota: { bytes: change.bytes, objects: change.objects } }),
    'bucket.cors-set': (t, change) => putCors(t.#tables.cors, change.bucketId, change.rules),
    'bucket.tagged': (t, change) => putBucketTags(t.#tables.bucketTags, change.bucketId, change.tags),
    'object.written': (t, change, sequence, times) => t.#versions.written(sequence, times, change),
    'object.deleted': (t, change) => t.#versions.deleted(change),
    'marker.written': (t, change, sequence, times) => t.#versions.markerWritten(sequence, times, change),
    'version.deleted': (t, change, _, times) => t.#versions.versionDeleted(times, change),
    'version.locked': (t, change, sequence, times) => t.#versions.locked(sequence, times, change),
    'version.tagged': (t, change) => t.#versions.tagged(change),
    'upload.created': (t, change, sequence, times) => t.#uploads.created(uploadIdOf(sequence), times, change),
    'upload.tagged': (t, change) => t.#uploads.tagged(change),
    'upload.part-written': (t, change, _, times) => t.#uploads.partWritten(times, change),
    'upload.completed': (t, change, sequence) => t.#uploads.completed(sequence, change),
    'upload.aborted': (t, change) => t.#uploads.aborted(change),
    'payload.appended': (t, change, sequence) => t.#payloads.append(sequence, change),
    'payload.moved': (t, change) => t.#payloads.move(change),
    'volume.removed': (t, change) => t.#payloads.volumeRemoved(change.volume),
    'payload.digested': (t, change) => t.#payloads.digested(change.payload, change.digest),
    'journal.recovered': () => undefined,
    'journal.restored': (t, _, sequence) => putRestore(t.#tables.restores, sequence),
    'server.started': () => undefined,
    'server.stopped': () => undefined,
    'clock.observed': () => undefined,
  }

  /** The rows of features, which answer their rules. */
  readonly features: RowsOfFeatures
  readonly #tables: Tables
  readonly #ending: BatchEnding
  readonly #counters: Counters
  readonly #payloads: PayloadLedger
  readonly #versions: VersionRows
  readonly #uploads: UploadRows
  readonly #buckets: BucketRows
  readonly #rows: readonly FeatureRows[]

  constructor(tables: Tables, ending: BatchEnding = {}) {
    this.#tables = tables
    this.#ending = ending
    this.#counters = new Counters(tables)
    this.#buckets = new BucketRows(tables)
    this.#payloads = new PayloadLedger(tables, this.#counters)
    this.#versions = new VersionRows(tables, this.#counters, this.#payloads)
    this.#uploads = new UploadRows(tables, this.#counters, this.#payloads)
    this.features = rowsOfFeatures(tables, this.#versions)
    this.#rows = Object.values(this.features)
  }

  get releasedFiles(): readonly string[] {
    return this.#payloads.releasedFiles
  }

  get rowsTouched(): number {
    return this.#payloads.rowsTouched + this.#uploads.partsTaken
  }

  get settingsChanged(): boolean {
    return this.#buckets.changed || this.#rows.some(({ changed }) => changed === true)
  }

  get accessCode(): Uint8Array {
    return getAccessCode(this.#tables.accessVersion)
  }

  get removedVolumes(): readonly VolumeNumber[] {
    return this.#payloads.removedVolumes
  }

  bucket(name: string): BucketState | undefined {
    return this.#buckets.bucket(name)
  }

  cors(bucketId: BucketId): readonly CorsRule[] {
    return getCors(this.#tables.cors, bucketId)
  }

  bucketTags(bucketId: BucketId): readonly string[] {
    return getBucketTags(this.#tables.bucketTags, bucketId)
  }

  lastRestore(): Sequence | undefined {
    return getLastRestore(this.#tables.restores)
  }

  object(bucketId: BucketId, key: string): ObjectState | undefined {
    return this.#guarded(bucketId, key, this.#versions.current(bucketId, key))
  }

  version(bucketId: BucketId, key: string, version: VersionSelector): ObjectState | undefined {
    return this.#guarded(bucketId, key, getVersion(this.#tables, bucketId, key, version))
  }

  newestVersion(bucketId: BucketId, key: string, except?: Sequence): ObjectState | undefined {
    return this.#guarded(bucketId, key, newestVersion(this.#tables, bucketId, key, except))
  }

  /**
   * A version whose lock is the one in `locks`, which alone is authenticated: an edit of the other rows must release nothing.
   * @throws RowDamagedError
   */
  #guarded(bucketId: BucketId, key: string, version: ObjectState | undefined): ObjectState | undefined {
    if (version === undefined || this.#buckets.hasNoLocks(bucketId)) return version
    const { sequence, lock } = version
    if (isLock(this.#tables.locks, bucketId, key, sequence, lock)) return version
    const error = new RowDamagedError(TABLES.locks, versionKey(bucketId, key, sequence).toString('hex'))
    this.#ending.damaged?.(error)
    throw error
  }

  bucketIsEmpty(bucketId: BucketId): boolean {
    return bucketHasNothing(this.#tables, bucketId)
  }

  logicalUsage(bucketId: BucketId): LogicalUsage {
    return this.#counters.buckets.now(bucketId)
  }

  upload(bucketId: BucketId, key: string, upload: UploadId): UploadState | undefined {
    return getUpload(this.#tables.uploads, bucketId, key, upload)
  }

  uploads(bucketId: BucketId, limit: number): readonly { readonly key: string; readonly upload: UploadId }[] {
    return uploadsOfBucket(this.#tables.uploads, bucketId, limit)
  }

  part(upload: UploadId, part: number): PartState | undefined {
    return getPart(this.#tables.parts, upload, part)
  }

  parts(upload: UploadId): Iterable<PartState> {
    return partsOf(this.#tables.parts, upload)
  }

  payload(payload: PayloadId): PayloadLocation | undefined {
    return getPayload(this.#tables.payloads, payload)?.location
  }

  references(payload: PayloadId): number {
    return getReferences(this.#tables.payloads, payload)
  }

  volumeIsSpent(volume: VolumeNumber): boolean {
    return this.#payloads.volumeIsSpent(volume)
  }

  apply(sequence: Sequence, times: RecordTimes, changes: readonly Change[]): void {
    for (const change of changes) {
      handlerOf(TableTransaction.#handlers, change)(this, change, sequence, times)
    }
    for (const rows of this.#rows) rows.entry?.(sequence, times, changes)
  }

  /** Keeps the last change of access, for changes that are replayed. */
  keepAccessCode(code: Uint8Array): void {
    putAccessCode(this.#tables.accessVersion, code)
  }

  finish(position: AppliedPosition, firstSequence: Sequence, uses: readonly CredentialUse[]): void {
    noteRun(this.#tables, firstSequence, position)
    noteBatch(this.#tables.auditIndex, firstSequence, position)
    for (const rows of this.#rows) rows.finish?.(position, uses)
    if (!this.#counters.flush()) this.#ending.recount?.()
    putApplied(this.#tables.applied, position)
    this.#ending.seal?.()
  }

  #bucketDeleted({ bucket, bucketId }: ChangeNamed<'bucket.deleted'>): void {
    this.#buckets.deleted(bucket)
    putCors(this.#tables.cors, bucketId, [])
    putBucketTags(this.#tables.bucketTags, bucketId, [])
    for (const rows of this.#rows) rows.bucketDeleted?.(bucketId)
    this.#counters.buckets.remove(bucketId)
  }
}
