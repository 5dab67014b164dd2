import type { AccountState, CredentialState, PolicyState, TokenState } from '../engine/access-state.ts'
import type { VersionSelector } from '../engine/commands.ts'
import type { BucketCreated, BucketDeleted, Change } from '../engine/events/changes.ts'
import type { PayloadLocation } from '../engine/payloads/payload-reader.ts'
import type {
  AppliedPosition,
  BucketState,
  LogicalUsage,
  ObjectState,
  PartState,
  StateTransaction,
  UploadState,
} from '../engine/state-ports.ts'
import { AccessRows } from './access-rows.ts'
import { Counters } from './counters.ts'
import { numberKey, readNumber } from './keys.ts'
import { PayloadLedger } from './payload-ledger.ts'
import type { Tables } from './table-list.ts'
import { getAccount, getCredential, getPolicy, getToken } from './tables/access.ts'
import { putApplied } from './tables/applied.ts'
import { noteBatch } from './tables/audit-index.ts'
import { getBucket, putBucket, removeBucket } from './tables/buckets.ts'
import { putCors } from './tables/cors.ts'
import { getObject } from './tables/objects.ts'
import { getPayload } from './tables/payloads.ts'
import { getPart, getUpload, partsOf } from './tables/uploads.ts'
import { bucketHasNothing, getVersion, newestVersionBut } from './tables/versions.ts'
import { UploadRows } from './upload-rows.ts'
import { VersionRows } from './version-rows.ts'

/**
 * One write transaction over the tables: what the rules read, and what entries do to the rows. The same code runs when
 * a change is made and when it is replayed, so that both give the same rows.
 */
export class TableTransaction implements StateTransaction {
  readonly #tables: Tables
  readonly #counters: Counters
  readonly #payloads: PayloadLedger
  readonly #versions: VersionRows
  readonly #uploads: UploadRows
  readonly #access: AccessRows

  constructor(tables: Tables) {
    this.#tables = tables
    this.#counters = new Counters(tables)
    this.#payloads = new PayloadLedger(tables, this.#counters)
    this.#versions = new VersionRows(tables, this.#counters, this.#payloads)
    this.#uploads = new UploadRows(tables, this.#counters, this.#payloads)
    this.#access = new AccessRows(tables)
  }

  get releasedFiles(): readonly string[] {
    return this.#payloads.releasedFiles
  }

  get accessChanged(): boolean {
    return this.#access.changed
  }

  get removedVolumes(): readonly number[] {
    return this.#payloads.removedVolumes
  }

  bucket(name: string): BucketState | undefined {
    return getBucket(this.#tables.buckets, name)
  }

  object(bucketId: number, key: string): ObjectState | undefined {
    return getObject(this.#tables.objects, bucketId, key)
  }

  version(bucketId: number, key: string, version: VersionSelector): ObjectState | undefined {
    return getVersion(this.#tables, bucketId, key, version)
  }

  newestVersionBut(bucketId: number, key: string, sequence: number): ObjectState | undefined {
    return newestVersionBut(this.#tables, bucketId, key, sequence)
  }

  bucketIsEmpty(bucketId: number): boolean {
    return bucketHasNothing(this.#tables, bucketId)
  }

  logicalUsage(bucketId: number): LogicalUsage {
    return this.#counters.bucketNow(bucketId)
  }

  upload(bucketId: number, key: string, upload: number): UploadState | undefined {
    return getUpload(this.#tables.uploads, bucketId, key, upload)
  }

  part(upload: number, part: number): PartState | undefined {
    return getPart(this.#tables.parts, upload, part)
  }

  parts(upload: number): Iterable<PartState> {
    return partsOf(this.#tables.parts, upload)
  }

  payload(payload: number): PayloadLocation | undefined {
    return getPayload(this.#tables.payloads, payload)?.location
  }

  account(account: string): AccountState | undefined {
    return getAccount(this.#tables.accounts, account)
  }

  credential(accessKey: string): CredentialState | undefined {
    return getCredential(this.#tables.credentials, accessKey)
  }

  policy(policy: string): PolicyState | undefined {
    return getPolicy(this.#tables.policies, policy)
  }

  token(token: string): TokenState | undefined {
    return getToken(this.#tables.tokens, token)
  }

  volumeIsSpent(volume: number): boolean {
    // A volume that is newer than every row is written first in this very batch: then the newest row's is not.
    for (const { key } of this.#tables.volumeUsage.rows({ reverse: true, limit: 1 })) {
      return (
        volume < readNumber(key, 0) &&
        this.#tables.volumeUsage.get(numberKey(volume)) !== undefined &&
        this.#counters.volume(volume).payloads === 0
      )
    }
    return false
  }

  apply(sequence: number, timeMicroseconds: number, changes: readonly Change[]): void {
    for (const change of changes) this.#applyOne(sequence, timeMicroseconds, change)
  }

  finish(position: AppliedPosition, firstSequence: number): void {
    noteBatch(this.#tables.auditIndex, firstSequence, position)
    this.#counters.flush()
    putApplied(this.#tables.applied, position)
  }

  #applyOne(sequence: number, timeMicroseconds: number, change: Change): void {
    switch (change.name) {
      case 'bucket.created':
        return this.#bucketCreated(timeMicroseconds, change)
      case 'bucket.deleted':
        return this.#bucketDeleted(change)
      case 'bucket.versioning-set':
        return this.#bucketChanged(change.bucket, { versioning: change.versioning })
      case 'bucket.retention-set':
        return this.#bucketChanged(change.bucket, { defaultRetention: change.retention })
      case 'bucket.quota-set':
        return this.#bucketChanged(change.bucket, { quota: change.quota })
      case 'bucket.cors-set':
        return putCors(this.#tables.cors, change.bucketId, change.rules)
      case 'object.written':
        return this.#versions.written(sequence, timeMicroseconds, change)
      case 'object.deleted':
        return this.#versions.deleted(change)
      case 'marker.written':
        return this.#versions.markerWritten(sequence, timeMicroseconds, change)
      case 'version.deleted':
        return this.#versions.versionDeleted(change)
      case 'version.locked':
        return this.#versions.locked(change)
      case 'upload.created':
        return this.#uploads.created(sequence, timeMicroseconds, change)
      case 'upload.part-written':
        return this.#uploads.partWritten(timeMicroseconds, change)
      case 'upload.completed':
        return this.#uploads.completed(sequence, change)
      case 'upload.aborted':
        return this.#uploads.aborted(change)
      case 'payload.moved':
        return this.#payloads.move(change)
      case 'volume.removed':
        return this.#payloads.volumeRemoved(change.volume)
      case 'payload.digested':
        return this.#payloads.digested(change.payload, change.digest)
      case 'account.created':
      case 'account.status-set':
      case 'account.deleted':
      case 'credential.issued':
      case 'credential.status-set':
      case 'credential.removed':
      case 'policy.created':
      case 'policy.attached':
      case 'policy.detached':
      case 'token.issued':
      case 'token.revoked':
        return this.#access.apply(sequence, timeMicroseconds, change)
      case 'journal.recovered':
      case 'server.started':
      case 'server.stopped':
      case 'clock.observed':
        return
    }
  }

  #bucketCreated(createdMicroseconds: number, change: BucketCreated): void {
    const { bucketId: id, bucket: name, region, lockEnabled } = change
    const versioning = lockEnabled ? 'enabled' : 'off'
    const quota = { bytes: undefined, objects: undefined }
    const bucket = { id, name, region, createdMicroseconds, versioning, lockEnabled, quota } as const
    putBucket(this.#tables.buckets, { ...bucket, defaultRetention: undefined })
  }

  #bucketChanged(name: string, changed: Partial<BucketState>): void {
    const bucket = getBucket(this.#tables.buckets, name)
    if (bucket === undefined) throw new Error(`bucket ${name} is changed but not there`)
    putBucket(this.#tables.buckets, { ...bucket, ...changed })
  }

  #bucketDeleted({ bucket, bucketId }: BucketDeleted): void {
    removeBucket(this.#tables.buckets, bucket)
    putCors(this.#tables.cors, bucketId, [])
    this.#counters.forgetBucket(bucketId)
  }
}
