import type { Microseconds, Milliseconds } from '../../engine/brands.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import type { ReadVerdicts } from '../../engine/journal/chain-verdicts.ts'
import type { WebhookState } from '../../engine/webhooks/state.ts'
import type { PasswordRecord } from '../../engine/events/values.ts'
import type { TargetRules } from '../../engine/webhooks/target.ts'
import type { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import type { ProofSigner } from '../../engine/keys/proof-signer.ts'
import type { CapabilityTokens } from '../../engine/links/capability-tokens.ts'
import type { SecretBox } from '../../engine/keys/secret-box.ts'
import type { HttpDriver } from '../http/http-driver.ts'
import type { DamageFinder } from '../metrics/metric-table.ts'
import type { AuditLog } from '../../projections/audit/audit-log.ts'
import type { EventLog } from '../../projections/events/event-log.ts'
import type { CheckpointFacts } from '../../projections/checkpoints/checkpoint-facts.ts'
import type { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import type { SnapshotFacts } from '../../projections/snapshots/snapshot-facts.ts'
import type { AccessReader } from '../../projections/access/reader.ts'
import type { WebhookReader } from '../../projections/webhooks/reader.ts'
import type { PayloadSources } from '../objects/read-object.ts'
import type { SharingSettings } from '../../engine/links/settings.ts'
import type { Extension, Profile } from '../objects/s3-extensions.ts'
import type { PayloadStores } from '../objects/receive-payload.ts'
import type { CounterHistory } from '../metrics/counter-history.ts'
import type { DownloadTickets } from './downloads/download-tickets.ts'
import type { EventStreams } from '../exchange/event-streams.ts'
import type { FoldedReads } from './checkpoints/folded-reads.ts'
import type { HeavyWork } from './heavy-work.ts'
import type { MetricReading } from '../metrics/exposition.ts'
import type { ChainRuns } from './audit/chain-runs.ts'
import type { StorageInspection } from './storage/storage-inspection.ts'
import type { Witness } from './checkpoints/witness.ts'

/** One part of the server that must work before it can serve traffic. */
export interface ReadinessCheck {
  /** A fixed name, such as `journal`. */
  readonly name: string
  readonly ready: boolean
  /** Whether most requests are served even while it is not ready. */
  readonly degrades?: boolean
  /** Why it is not ready. A fixed sentence without paths, keys or addresses, because everyone can read it. */
  readonly reason?: string
  /** What it is about, by name; only system administrators read it. */
  readonly detail?: string
}

/** Result of sending a test event. */
interface WebhookTest {
  /** Id of the test event. */
  readonly event: string
  readonly timeMicroseconds: Microseconds
  readonly status: number | undefined
  readonly error: string | undefined
}

interface S3Settings {
  readonly profile: Profile
  /** Names of settings with another value than the profile gives them. */
  readonly overrides: readonly string[]
  readonly extensions: readonly Extension[]
}

interface WebhookServices {
  readonly reader: WebhookReader
  /** Seals signing secrets. */
  readonly secrets: SecretBox
  readonly rules: TargetRules
  /** Why a valid target is refused that is this server itself; undefined for another. */
  readonly ownFault: (target: string) => string | undefined
  /** Sends a test event once; never fails. */
  readonly test: (webhook: WebhookState) => Promise<WebhookTest>
}

interface SharingServices {
  readonly tokens: CapabilityTokens
  /** Current settings: the addresses are known only after the listeners are bound. */
  readonly settings: () => SharingSettings
  /** The record against which a password is checked. @throws BusyError */
  readonly hashPassword: (password: string, owner: string) => Promise<PasswordRecord>
}

/** The services of the routes of the management plane. */
export interface ManagementServices extends PayloadSources, PayloadStores {
  readonly engine: EngineClient
  readonly access: AccessReader
  readonly audit: AuditLog
  /** The last verdicts on the chain of a journal with this last sequence, and those that requests add. */
  readonly chain: { readonly kept: (head: number) => ReadVerdicts; readonly runs: ChainRuns }
  readonly checkpoints: CheckpointLog
  readonly witness: Witness
  readonly checkpointKeys: CheckpointKeys
  readonly events: EventLog
  readonly eventStreams: EventStreams
  /** No credential of a service account may have it. */
  readonly rootAccessKey: string
  /** Seals the secrets of service accounts. */
  readonly secrets: SecretBox
  readonly webhooks: WebhookServices
  readonly sharing: SharingServices
  readonly versionIds: OpaqueIds
  readonly proofs: ProofSigner
  /** Every action that a policy can name. */
  readonly actions: ReadonlySet<string>
  readonly storage: StorageInspection
  readonly snapshots: () => SnapshotFacts
  readonly checkpointFacts: () => CheckpointFacts
  readonly heavy: HeavyWork
  readonly foldedReads: FoldedReads
  readonly version: string
  /** What the program was built from; undefined: without git. */
  readonly commit: string | undefined
  readonly httpDriver: HttpDriver
  /** The settings `s3.profile` and `s3.extensions`. */
  readonly s3: S3Settings
  readonly deploymentId: string
  /** Milliseconds since 1970, by the host's clock. */
  readonly clock: () => Milliseconds
  /** The same, never before the journal's last entry: for everything that expires. */
  readonly expiryClock: () => Milliseconds
  readonly ready: () => Promise<readonly ReadinessCheck[]>
  /** Reads every metric now. */
  readonly metrics: () => readonly MetricReading[]
  /** Counts an answer that met damage, and logs what and where it is, when that is in no other line. */
  readonly damageFound: (finder: DamageFinder, what?: string) => void
  readonly downloads: DownloadTickets
  readonly counterHistory: Pick<CounterHistory, 'readings'>
}
