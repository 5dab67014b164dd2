/** A server in the thread of a spec with both listeners: the S3 plane and the management plane over one engine. */
// Must come first: it sets what the HTTP library reads while it is loaded.
import { microsecondsOf, type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import '../../cli/environment.ts'
import type { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import { proofSigningSeed, type StoreKeys } from '../../engine/keys/store-keys.ts'
import type { EngineClient } from '../../engine/client/engine-client.ts'
import { ChainVerdicts } from '../../engine/journal/chain-verdicts.ts'
import { ChainRuns } from '../../planes/management/audit/chain-runs.ts'
import { ProofSigner } from '../../engine/keys/proof-signer.ts'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import { ConcurrencyGate, type ConcurrencyLimits } from '../../planes/http/limits/concurrency-gate.ts'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import type { ScrapeValues } from '../../planes/metrics/metric-table.ts'
import { SPEC_CHECKPOINT_KEYS } from './checkpoint-signing.ts'
import { HTTP_DRIVER } from './http-driver.ts'
import { ManagementAuthenticator } from '../../planes/management/access/authenticate.ts'
import { CounterHistory } from '../../planes/metrics/counter-history.ts'
import { DownloadTickets } from '../../planes/management/downloads/download-tickets.ts'
import { EventStreams } from '../../planes/exchange/event-streams.ts'
import { HeavyWork } from '../../planes/management/heavy-work.ts'
import { FoldedReads } from '../../planes/management/checkpoints/folded-reads.ts'
import { createManagementHandler, type ManagementExchange } from '../../planes/management/management-handler.ts'
import { readMetrics } from '../../planes/metrics/exposition.ts'
import { malformedRequestResponse } from '../../planes/management/responses.ts'
import type { ReadinessCheck } from '../../planes/management/services.ts'
import type { SharingSettings } from '../../engine/links/settings.ts'
import type { ManagementServices } from '../../planes/management/services.ts'
import { Witness } from '../../planes/management/checkpoints/witness.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { StorageInspection } from '../../planes/management/storage/storage-inspection.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { NO_CHECKPOINTS } from './no-state.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import type { SnapshotFacts } from '../../projections/snapshots/snapshot-facts.ts'
import { S3_ACTIONS } from '../../planes/s3/authorize.ts'
import { ApiClient, bearer } from './api-client.ts'
import { disagreements } from './pages/openapi-check.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY } from './test-clients.ts'
import { type InThreadOptions, type InThreadServer, startInThread } from './test-server.ts'

export const SYSTEM_TOKEN = 'the-system-token-of-the-specs-0123456789'
export const SCRAPE_TOKEN = 'the-scrape-token-of-the-specs'

const SHARING_SETTINGS: SharingSettings = {
  enabled: true,
  maximumLifetimeSeconds: undefined,
  requiresPassword: false,
  shareUrl: 'https://files.example',
  embedUrl: 'https://store.example/embeds',
}

export interface ManagedOptions extends InThreadOptions {
  readonly apiLimits?: Partial<ConcurrencyLimits>
  /** Stands between the management plane and the engine. */
  readonly engine?: (engine: EngineClient) => EngineClient
  readonly snapshots?: ManagementServices['snapshots']
  readonly checkpointFacts?: ManagementServices['checkpointFacts']
  /** By default keys that no store has. */
  readonly checkpointKeys?: (keys: StoreKeys) => CheckpointKeys
  readonly ready?: () => Promise<readonly ReadinessCheck[]>
  /** What `sharing.*` allows. */
  readonly sharing?: () => Partial<SharingSettings>
  /** What `webhooks.*` allows, and how made-up events are sent. */
  readonly webhooks?: Partial<Pick<ManagementServices['webhooks'], 'rules' | 'test' | 'ownFault'>>
  /** Called when the trees of checkpoints are damaged. */
  readonly mend?: (size: number) => void
  /** Null: none is configured. */
  readonly scrapeToken?: string | null
  /** `checkpoints.witness_for`. */
  readonly witnessFor?: readonly string[]
}

export interface ManagedServer extends InThreadServer {
  /** The system administrator, by the system token. */
  readonly api: ApiClient
  readonly apiEndpoint: string
  /** Of the management plane, for another listener that serves it. */
  readonly apiHandler: HttpHandler
  readonly apiGate: ConcurrencyGate
  readonly counterHistory: CounterHistory
  readonly slots: MetricSlots
  readonly heavy: HeavyWork
  readonly streams: EventStreams
  /** Every answer of the management plane so far, as its log has it. */
  readonly exchanges: ManagementExchange[]
  /** What answers had that the OpenAPI document does not say. */
  readonly undocumented: string[]
}

/** What a scrape would read from the disk and the system. */
export const SCRAPED: ScrapeValues = {
  object_store_build_info: [{ labels: { version: '0.0.0-spec', commit: 'unknown', node: 'v20.0.0' }, value: 1 }],
  nodejs_eventloop_active_seconds_total: [{ labels: { thread: 'main' }, value: 1.5 }],
  object_store_tls_certificate_not_after_seconds: [{ labels: { listener: 'api' }, value: 1_900_000_000 }],
  process_cpu_seconds_total: 2.5,
  process_resident_memory_bytes: 1e8,
  process_open_fds: 40,
  process_max_fds: 1024,
  process_start_time_seconds: 1_780_000_000.25,
  object_store_multipart_uploads: 1,
  object_store_multipart_bytes: 700,
  object_store_degraded: [{ labels: { reason: 'clock' }, value: 0 }],
  object_store_clock_behind_seconds: 1.5,
  object_store_operations_concurrency_limit: 256,
  object_store_filesystem_available_bytes: 5e12,
  object_store_filesystem_reserved_bytes: 1e9,
  object_store_filesystem_capacity_bytes: 8e12,
  object_store_temporary_bytes: 0,
  object_store_storage_physical_bytes: 3000,
  object_store_storage_unused_volume_bytes: 500,
  object_store_storage_logical_bytes: 2000,
  object_store_scrub_read_bytes: 4096,
  object_store_scrub_damaged: 0,
  object_store_scrub_completed_seconds: 1_780_000_000.5,
  object_store_scrub_due_seconds: 1_782_000_000.5,
  object_store_backup_completed_seconds: 1_780_000_300.5,
  object_store_backup_sequence: 38,
  object_store_buckets: 2,
  object_store_objects: undefined,
  object_store_event_streams: 0,
  object_store_webhook_deliveries_pending: 0,
  object_store_webhook_deliveries_succeeded_total: 0,
  object_store_webhook_deliveries_failed_total: 0,
  object_store_webhook_attempts_failed_total: 0,
  object_store_lifecycle_scanned_total: 4,
  object_store_lifecycle_removed_total: 3,
  object_store_lifecycle_skipped_total: 1,
  object_store_lifecycle_failed_total: 0,
  object_store_lifecycle_last_pass_timestamp_seconds: 1_780_000_500,
  object_store_lifecycle_lag_seconds: 0,
  object_store_compaction_volumes_removed_total: 0,
  object_store_compaction_moved_bytes_total: 0,
  object_store_journal_compressed_segments: 2,
  object_store_journal_compressed_bytes: 4000,
  object_store_journal_compressed_disk_bytes: 1000,
  object_store_journal_damaged_segments: 0,
  object_store_chain_intact: 1,
  object_store_chain_verified_seconds: 1_780_000_400.5,
  object_store_chain_verified_sequence: 39,
  object_store_checkpoint_size: 40,
  object_store_checkpoint_age_seconds: 2.5,
  object_store_checkpoint_late_seconds: 0,
  object_store_checkpoint_tree_size: 41,
  object_store_checkpoint_mended_hashes_total: 6,
  object_store_checkpoint_refused: 0,
  object_store_checkpoint_unanchored_age_seconds: 7.5,
  object_store_checkpoint_timestamp_failures_total: 3,
  object_store_checkpoint_witness_failures_total: 4,
  object_store_snapshot_age_seconds: 60.5,
  object_store_snapshot_bytes: 8192,
  object_store_snapshot_sequence: 2,
  object_store_snapshots_made_total: 1,
  object_store_snapshot_written_bytes_total: 8192,
  object_store_snapshot_failures_total: 0,
}

const NO_SNAPSHOTS: SnapshotFacts = {
  state: 'waiting',
  newest: undefined,
  count: 0,
  changes: 3,
  bytes: 0,
  made: 0,
  writtenBytes: 12_345,
  failures: 0,
}

export async function startManaged(options: ManagedOptions = {}): Promise<ManagedServer> {
  const server = await startInThread(options)
  const time = options.clock ?? Date.now
  const clock = () => millisecondsOf(time())
  const limits = { operationsMaximum: 256, queueMaximum: 1024, waitMillisecondsMaximum: 10_000, ...options.apiLimits }
  const apiGate = new ConcurrencyGate(limits)
  const slots = MetricSlots.create(['GetObject', 'PutObject'], 1)
  const counterHistory = new CounterHistory(slots, clock)
  const heavy = new HeavyWork()
  const streams = new EventStreams(server.session.events)
  const exchanges: ManagementExchange[] = []
  const undocumented: string[] = []
  const configured = { systemToken: SYSTEM_TOKEN, rootAccessKey: ACCESS_KEY, rootSecretKey: SECRET_KEY }
  const handler = createManagementHandler({
    services: servicesOf(server, { slots, counterHistory, heavy, streams, clock, options }),
    authenticator: new ManagementAuthenticator(configured, server.session.access, server.session.expiryClock),
    gate: apiGate,
    scrapeToken: options.scrapeToken === null ? undefined : (options.scrapeToken ?? SCRAPE_TOKEN),
    observe: (exchange) => {
      exchanges.push(exchange)
      if (exchange.error !== undefined) server.failures.push(exchange.error)
    },
  })
  const listener = await server.ground.listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    refusal: malformedRequestResponse,
    onHandlerError: (error) => void server.failures.push(error),
  })
  const apiEndpoint = `http://127.0.0.1:${listener.port}`
  const api = ApiClient.over(server.ground.managementClient(listener), bearer(SYSTEM_TOKEN), (...answered) => {
    undocumented.push(...disagreements(...answered))
  })
  const close = async () => {
    api.close()
    streams.end()
    await listener.close(2000)
  }
  return {
    ...server,
    api,
    apiEndpoint,
    apiHandler: handler,
    apiGate,
    counterHistory,
    slots,
    heavy,
    streams,
    exchanges,
    undocumented,
    abandon: async () => {
      await close()
      await server.abandon()
    },
    stop: async () => {
      await close()
      await server.stop()
    },
  }
}

function servicesOf(
  server: InThreadServer,
  {
    slots,
    counterHistory,
    heavy,
    streams,
    clock,
    options,
  }: {
    readonly slots: MetricSlots
    readonly heavy: HeavyWork
    readonly streams: EventStreams
    readonly counterHistory: CounterHistory
    readonly clock: () => Milliseconds
    readonly options: ManagedOptions
  },
): ManagementServices {
  const { services, store, paths, ground } = server
  const { access, environment, events, secrets } = server.session
  const { catalog, payloads, uploads, space, inlineBytesMaximum, versionIds } = services
  const verdicts = new ChainVerdicts(ground.disk, paths, store.deploymentId)
  return {
    engine: options.engine?.(store.client) ?? store.client,
    catalog,
    payloads,
    uploads,
    space,
    inlineBytesMaximum,
    versionIds,
    access,
    audit: new AuditLog(ground.disk, paths, environment, ground.verifySpan),
    chain: {
      kept: (head) => verdicts.read(head),
      runs: new ChainRuns(verdicts, clock, (error) => void server.failures.push(error)),
    },
    checkpoints: new CheckpointLog(ground.disk, paths, server.session.checkpoints, (size, what) => {
      if (what !== undefined) slots.region(0)[slots.damageSlot('trees')]! += 1
      options.mend?.(size)
    }),
    witness: new Witness({
      name: `spec.witness/${store.deploymentId}/witness`,
      key: new SigningKey(server.session.witnessSeed),
      logs: (options.witnessFor ?? []).map((key) => readVerifierKey(key)),
      reader: server.session.checkpoints,
      clock,
    }),
    checkpointKeys: options.checkpointKeys?.(server.keys) ?? SPEC_CHECKPOINT_KEYS,
    checkpointFacts: options.checkpointFacts ?? (() => NO_CHECKPOINTS),
    events,
    eventStreams: streams,
    rootAccessKey: ACCESS_KEY,
    secrets,
    webhooks: {
      reader: server.session.webhooks,
      secrets: server.session.webhookSecrets,
      rules: { allowHttp: false, allowPrivateNetworks: false },
      ownFault: () => undefined,
      test: async () => ({ event: 'test-0', timeMicroseconds: microsecondsOf(0), status: 200, error: undefined }),
      ...options.webhooks,
    },
    sharing: {
      tokens: server.session.capabilityTokens,
      settings: () => ({ ...SHARING_SETTINGS, ...options.sharing?.() }),
      hashPassword: (password, owner) => server.session.passwords.hash(password, owner),
    },
    actions: S3_ACTIONS,
    storage: new StorageInspection(ground.disk, paths, catalog, store.start),
    foldedReads: new FoldedReads(clock),
    snapshots: options.snapshots ?? (() => NO_SNAPSHOTS),
    heavy,
    version: '0.0.0-spec',
    commit: undefined,
    httpDriver: HTTP_DRIVER,
    s3: { profile: 'strict', overrides: [], extensions: [] },
    deploymentId: store.deploymentId,
    clock,
    expiryClock: server.session.expiryClock,
    ready: options.ready ?? (async () => [{ name: 'journal', ready: true }]),
    metrics: () => readMetrics(slots, SCRAPED),
    downloads: new DownloadTickets(server.session.expiryClock),
    counterHistory,
    damageFound: (finder) => {
      slots.region(0)[slots.damageSlot(finder)]! += 1
    },
    proofs: new ProofSigner(proofSigningSeed(options.masterKey ?? MASTER_KEY)),
  }
}
