import type { AccountState, CredentialState, PolicyState, TokenState } from '../../engine/access/state.ts'
import type { EmbedState, ShareState } from '../../engine/links/state.ts'
import type { ReplayState, WebhookState } from '../../engine/webhooks/state.ts'
import type { VersionSelector } from '../../engine/commands/version-name.ts'
import * as access from '../../engine/access/changes.ts'
import {
  type Change,
  type ChangeHandlers,
  type ChangeNamed,
  handledBy,
  handlerOf,
} from '../../engine/events/changes.ts'
import * as checkpoints from '../../engine/checkpoints/changes.ts'
import * as deliveries from '../../engine/webhooks/delivery-changes.ts'
import * as sharing from '../../engine/links/changes.ts'
import * as webhooks from '../../engine/webhooks/changes.ts'
import type { CorsRule, ScrubProgress } from '../../engine/events/values.ts'
import type { AccessChain } from '../../engine/access/access-authentication.ts'
import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import {
  type BucketId,
  type Microseconds,
  type PayloadId,
  type Sequence,
  type UploadId,
  uploadIdOf,
  type VolumeNumber,
} from '../../engine/brands.ts'
import type { BucketState, LogicalUsage, ObjectState, PartState, UploadState } from '../../engine/state-ports.ts'
import type { CheckpointState, HandoverState, ReceiptState, WitnessedLog } from '../../engine/checkpoints/state.ts'
import type { LifecycleRuleState } from '../../engine/lifecycle/state.ts'
import type { StateTransaction } from '../../engine/state-store.ts'
import { AccessRows } from '../access/rows.ts'
import { BucketRows } from './bucket-rows.ts'
import { CheckpointRows } from '../checkpoints/rows.ts'
import { EventRows } from '../events/rows.ts'
import { Counters } from './counters.ts'
import { LifecycleRows } from '../lifecycle/rows.ts'
import { PayloadLedger } from './payload-ledger.ts'
import { SharingRows } from '../links/rows.ts'
import type { Tables } from '../tables/table-list.ts'
import { accountRows, credentialRows, getAccessChain, policyRows, putAccessChain, tokenRows } from '../access/tables.ts'
import { putApplied } from '../tables/applied.ts'
import { noteBatch } from '../tables/audit-index.ts'
import { getLastRestore, putRestore } from '../checkpoints/tables.ts'
import { getCors, putCors } from '../tables/cors.ts'
import { getBucketOfRule, getLifecycleRules } from '../lifecycle/tables.ts'
import { getPayload, getReferences } from '../tables/payloads.ts'
import { applyScrub, getScrub } from '../scrub/tables.ts'
import { linksOfKey } from '../links/tables.ts'
import { getPart, getUpload, partsOf } from '../tables/uploads.ts'
import { bucketHasNothing, getVersion, newestVersion } from '../tables/versions.ts'
import { UploadRows } from './upload-rows.ts'
import { VersionRows } from './version-rows.ts'
import { WebhookRows } from '../webhooks/rows.ts'

/** Further work at the end of a batch, in the same transaction. */
export interface BatchEnding {
  /** Counters were written that cannot be right. */
  readonly recount?: () => void
  /** Called when all rows are written, the position last. */
  readonly seal?: () => void
}

/**
 * One write transaction over the tables: what the rules read, and what entries do to the rows. The same code runs when
 * a change is made and when it is replayed, so both give the same rows.
 */
export class TableTransaction implements StateTransaction {
  static readonly #handlers: ChangeHandlers<TableTransaction> = {
    'bucket.created': (t, change, _, time) => t.#buckets.created(time, change),
    'bucket.deleted': (t, change) => t.#bucketDeleted(change),
    'bucket.versioning-set': (t, change) => t.#buckets.set(change.bucket, { versioning: change.versioning }),
    'bucket.retention-set': (t, change) => t.#buckets.set(change.bucket, { defaultRetention: change.retention }),
    'bucket.quota-set': (t, change) =>
      t.#buckets.set(change.bucket, { quota: { bytes: change.bytes, objects: change.objects } }),
    'bucket.cors-set': (t, change) => putCors(t.#tables.cors, change.bucketId, change.rules),
    'lifecycle.rule-set': (t, change) => t.#lifecycle.ruleSet(change),
    'lifecycle.rule-removed': (t, change) => t.#lifecycle.ruleRemoved(change),
    'lifecycle.scanned': (t, change) => t.#lifecycle.scanned(change),
    'lifecycle.version-held': (t, change) => t.#versions.held(change),
    'object.written': (t, change, sequence, time) => t.#versions.written(sequence, time, change),
    'object.deleted': (t, change) => t.#versions.deleted(change),
    'marker.written': (t, change, sequence, time) => t.#versions.markerWritten(sequence, time, change),
    'version.deleted': (t, change, _, time) => t.#versions.versionDeleted(time, change),
    'version.locked': (t, change, sequence, time) => t.#versions.locked(sequence, time, change),
    'upload.created': (t, change, sequence, time) => t.#uploads.created(uploadIdOf(sequence), time, change),
    'upload.part-written': (t, change, _, time) => t.#uploads.partWritten(time, change),
    'upload.completed': (t, change, sequence) => t.#uploads.completed(sequence, change),
    'upload.aborted': (t, change) => t.#uploads.aborted(change),
    'payload.appended': (t, change, sequence) => t.#payloads.append(sequence, change),
    'payload.moved': (t, change) => t.#payloads.move(change),
    'volume.removed': (t, change) => t.#payloads.volumeRemoved(change.volume),
    'payload.digested': (t, change) => t.#payloads.digested(change.payload, change.digest),
    ...handledBy(access, (t: TableTransaction, change, sequence, time) => t.#access.apply(sequence, time, change)),
    ...handledBy(webhooks, (t: TableTransaction, change, sequence, time) => t.#webhooks.apply(sequence, time, change)),
    ...handledBy(deliveries, (t: TableTransaction, change, sequence, time) =>
      t.#webhooks.apply(sequence, time, change),
    ),
    ...handledBy(sharing, (t: TableTransaction, change, _, time) => t.#sharing.apply(time, change)),
    ...handledBy(checkpoints, (t: TableTransaction, change, sequence, time) =>
      t.#checkpoints.apply(sequence, time, change),
    ),
    'scrub.advanced': (t, change, _, time) => applyScrub(t.#tables.scrub, time, change),
    'journal.recovered': () => undefined,
    'journal.restored': (t, _, sequence) => putRestore(t.#tables.restores, sequence),
    'server.started': (t, change, sequence, time) => change.events && t.#events.begin(sequence, time),
    'server.stopped': () => undefined,
    'clock.observed': () => undefined,
  }

  readonly #tables: Tables
  readonly #ending: BatchEnding
  readonly #counters: Counters
  readonly #payloads: PayloadLedger
  readonly #versions: VersionRows
  readonly #uploads: UploadRows
  readonly #access: AccessRows
  readonly #events: EventRows
  readonly #lifecycle: LifecycleRows
  readonly #webhooks: WebhookRows
  readonly #sharing: SharingRows
  readonly #buckets: BucketRows
  readonly #checkpoints: CheckpointRows

  constructor(tables: Tables, ending: BatchEnding = {}) {
    this.#tables = tables
    this.#ending = ending
    this.#counters = new Counters(tables)
    this.#buckets = new BucketRows(tables)
    this.#checkpoints = new CheckpointRows(tables)
    this.#payloads = new PayloadLedger(tables, this.#counters)
    this.#versions = new VersionRows(tables, this.#counters, this.#payloads)
    this.#uploads = new UploadRows(tables, this.#counters, this.#payloads)
    this.#access = new AccessRows(tables)
    this.#events = new EventRows(tables)
    this.#lifecycle = new LifecycleRows(tables)
    this.#webhooks = new WebhookRows(tables)
    this.#sharing = new SharingRows(tables)
  }

  get releasedFiles(): readonly string[] {
    return this.#payloads.releasedFiles
  }

  get rowsTouched(): number {
    return this.#payloads.rowsTouched + this.#uploads.partsTaken
  }

  get settingsChanged(): boolean {
    return this.#access.changed || this.#buckets.changed
  }

  get accessChain(): AccessChain {
    return getAccessChain(this.#tables.accessVersion)
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

  lifecycleRules(bucketId: BucketId): readonly LifecycleRuleState[] {
    return getLifecycleRules(this.#tables.lifecycle, bucketId)
  }

  scrubProgress(): ScrubProgress | undefined {
    return getScrub(this.#tables.scrub)?.progress
  }

  lastCheckpoint(): CheckpointState | undefined {
    return this.#checkpoints.last()
  }

  checkpointHandovers(): readonly HandoverState[] {
    return this.#checkpoints.handovers()
  }

  checkpointOfSize(size: number): CheckpointState | undefined {
    return this.#checkpoints.ofSize(size)
  }

  receiptsOf(size: number): readonly ReceiptState[] {
    return this.#checkpoints.receiptsOf(size)
  }

  withheldCheckpoint(): number | undefined {
    return this.#checkpoints.withheld()
  }

  witnessedLog(origin: string): WitnessedLog | undefined {
    return this.#checkpoints.witnessed(origin)
  }

  lastRestore(): Sequence | undefined {
    return getLastRestore(this.#tables.restores)
  }

  bucketOfLifecycleRule(rule: string): string | undefined {
    return getBucketOfRule(this.#tables.lifecycleRules, rule)
  }

  object(bucketId: BucketId, key: string): ObjectState | undefined {
    return this.#versions.current(bucketId, key)
  }

  version(bucketId: BucketId, key: string, version: VersionSelector): ObjectState | undefined {
    return getVersion(this.#tables, bucketId, key, version)
  }

  newestVersion(bucketId: BucketId, key: string, except?: Sequence): ObjectState | undefined {
    return newestVersion(this.#tables, bucketId, key, except)
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

  account(account: string): AccountState | undefined {
    return accountRows.get(this.#tables.accounts, account)
  }

  credential(accessKey: string): CredentialState | undefined {
    return credentialRows.get(this.#tables.credentials, accessKey)
  }

  policy(policy: string): PolicyState | undefined {
    return policyRows.get(this.#tables.policies, policy)
  }

  policyIsAttached(policy: string): boolean {
    return accountRows.all(this.#tables.accounts).some(({ policies }) => policies.includes(policy))
  }

  token(token: string): TokenState | undefined {
    return tokenRows.get(this.#tables.tokens, token)
  }

  webhook(webhook: string): WebhookState | undefined {
    return this.#webhooks.webhook(webhook)
  }

  get webhookCount(): number {
    return this.#webhooks.count
  }

  replayOf(webhook: string): ReplayState | undefined {
    return this.#webhooks.replayOf(webhook)
  }

  share(share: string): ShareState | undefined {
    return this.#sharing.share(share)
  }

  embed(embed: string): EmbedState | undefined {
    return this.#sharing.embed(embed)
  }

  get shareCount(): number {
    return this.#tables.shares.count()
  }

  get embedCount(): number {
    return this.#tables.embeds.count()
  }

  sharesOfKey(bucketId: BucketId, key: string, limit: number): number {
    return linksOfKey(this.#tables.shareTargets, bucketId, key, limit).length
  }

  embedsOfKey(bucketId: BucketId, key: string, limit: number): number {
    return linksOfKey(this.#tables.embedTargets, bucketId, key, limit).length
  }

  volumeIsSpent(volume: VolumeNumber): boolean {
    return this.#payloads.volumeIsSpent(volume)
  }

  apply(sequence: Sequence, timeMicroseconds: Microseconds, changes: readonly Change[]): void {
    for (const change of changes) {
      handlerOf(TableTransaction.#handlers, change)(this, change, sequence, timeMicroseconds)
    }
    this.#events.entry(sequence, changes)
  }

  /** Keeps the last change of access, for changes that are replayed. */
  keepAccessChain(chain: AccessChain): void {
    putAccessChain(this.#tables.accessVersion, chain)
  }

  finish(position: AppliedPosition, firstSequence: Sequence): void {
    noteBatch(this.#tables.auditIndex, firstSequence, position)
    this.#events.finish(position)
    if (!this.#counters.flush()) this.#ending.recount?.()
    putApplied(this.#tables.applied, position)
    this.#ending.seal?.()
  }

  #bucketDeleted({ bucket, bucketId }: ChangeNamed<'bucket.deleted'>): void {
    this.#buckets.deleted(bucket)
    putCors(this.#tables.cors, bucketId, [])
    this.#lifecycle.bucketDeleted(bucketId)
    this.#counters.buckets.remove(bucketId)
  }
}
