import type { Milliseconds, UploadId } from '../../../engine/brands.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { BodyHasher } from '../../../engine/hashing/body-hashing.ts'
import { CapabilityTokens } from '../../../engine/links/capability-tokens.ts'
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { SecretBox } from '../../../engine/keys/secret-box.ts'
import type { StoreKeys } from '../../../engine/keys/store-keys.ts'
import { PayloadReader } from '../../../engine/payloads/payload-reader.ts'
import { PayloadSealer } from '../../../engine/payloads/sealing.ts'
import { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import { UploadStore } from '../../../engine/payloads/upload-store.ts'
import { PasswordHashing } from '../../../planes/exchange/password-hashing.ts'
import { AccessReader } from '../../../projections/access/reader.ts'
import type { CommitCounts } from '../../../projections/catalog/commit-counts.ts'
import { openNoting } from '../../../projections/damaged-note.ts'
import { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { CheckpointReader } from '../../../projections/checkpoints/reader.ts'
import { EventLog } from '../../../projections/events/event-log.ts'
import { WebhookReader } from '../../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'

/** How often a thread closes volumes that compaction removed. */
const CLOSE_REMOVED_MILLISECONDS = 2000

/** A session's settings for an open store. Plain data, because it is sent to threads. */
export interface SessionSettings {
  readonly dataDirectory: string
  readonly deploymentId: string
  /** Name of the running start. */
  readonly start: string
  readonly keys: StoreKeys
  /** Whether new payloads are encrypted. */
  readonly encryptionEnabled: boolean
  /** Free space that uploads may not use. */
  readonly reservedBytes: number
}

/**
 * The open store of one thread: the client of the engine, readers of the projections and payloads, and the codecs of
 * opaque ids.
 */
export class StoreSession {
  readonly engine: EngineClient
  readonly paths: StorePaths
  readonly environment: ProjectionEnvironment
  readonly catalog: CatalogReader
  readonly access: AccessReader
  readonly events: EventLog
  readonly webhooks: WebhookReader
  readonly checkpoints: CheckpointReader
  /** Sign checkpoints. */
  readonly checkpointKeys: CheckpointKeys
  readonly payloads: PayloadReader
  readonly uploads: UploadStore
  readonly space: SpaceGuard
  readonly versionIds: OpaqueIds
  readonly uploadIds: OpaqueIds<UploadId>
  /** Seals the secrets of service accounts. */
  readonly secrets: SecretBox
  /** Seals the signing secrets of webhooks. */
  readonly webhookSecrets: SecretBox
  /** Makes, finds and opens the tokens of shares and embeds. */
  readonly capabilityTokens: CapabilityTokens
  /** Hashes the passwords of shares. */
  readonly passwords: PasswordHashing
  /** Authenticates the tickets of unlocked shares. */
  readonly ticketKey: Uint8Array
  /** Of the key that cosigns checkpoints of other logs. */
  readonly witnessSeed: Uint8Array
  /** Judges what expires: never before the journal's last entry. */
  readonly expiryClock: () => Milliseconds
  readonly #timer: NodeJS.Timeout

  /**
   * @param thread number of this thread, for the names of its payload files
   * @param hashing of uploads, closed with the payloads
   * @param counts of the engine thread's commits
   * @param clock the host's
   * @param disk that holds the store
   */
  constructor(
    settings: SessionSettings,
    thread: number,
    engine: EngineClient,
    hashing: BodyHasher,
    counts: CommitCounts,
    clock: () => Milliseconds = systemMilliseconds,
    disk: Disk = nodeDisk,
  ) {
    const { dataDirectory, start, keys, encryptionEnabled, reservedBytes } = settings
    const earlier = (
      use: 'payloads' | 'credentialSecrets' | 'webhookSecrets' | 'capabilityTokens' | 'capabilityPasswords',
    ) => keys.earlier.map((one) => one[use])
    const sealer = new PayloadSealer(keys.payloads, earlier('payloads'))
    this.engine = engine
    this.expiryClock = counts.expiryClock(clock)
    this.paths = new StorePaths(dataDirectory)
    this.environment = openNoting(disk, this.paths.projections, { readOnly: true })
    this.catalog = new CatalogReader(this.environment, counts)
    this.access = new AccessReader(this.environment)
    this.webhooks = new WebhookReader(this.environment)
    this.checkpoints = new CheckpointReader(this.environment)
    this.checkpointKeys = new CheckpointKeys(keys)
    this.payloads = new PayloadReader(disk, this.paths, sealer)
    const sealing = encryptionEnabled ? sealer : undefined
    this.uploads = new UploadStore(disk, this.paths, start, thread, hashing, sealing)
    this.space = new SpaceGuard(disk, dataDirectory, reservedBytes)
    this.versionIds = new OpaqueIds(keys.versionIds)
    this.uploadIds = new OpaqueIds<UploadId>(keys.uploadIds)
    this.events = new EventLog(disk, this.paths, this.environment, this)
    this.secrets = new SecretBox(keys.credentialSecrets, earlier('credentialSecrets'))
    this.webhookSecrets = new SecretBox(keys.webhookSecrets, earlier('webhookSecrets'))
    this.capabilityTokens = new CapabilityTokens(keys, earlier('capabilityTokens'))
    this.passwords = new PasswordHashing(keys.capabilityPasswords, earlier('capabilityPasswords'))
    this.ticketKey = keys.capabilityTickets
    this.witnessSeed = keys.witnessSigning
    this.#timer = setInterval(() => this.payloads.closeRemoved(), CLOSE_REMOVED_MILLISECONDS).unref()
  }

  /** Closes the payloads; the engine may still run. */
  closePayloads(): void {
    clearInterval(this.#timer)
    this.uploads.close()
    this.payloads.close()
  }

  /** Closes everything; the engine must have stopped, or run in another thread. */
  async close(): Promise<void> {
    this.closePayloads()
    await this.environment.close()
  }
}
