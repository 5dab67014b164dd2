import { performance } from 'node:perf_hooks'
import { systemMilliseconds } from '../../engine/clock.ts'
import type { HashThreads } from '../../engine/hashing/hash-threads.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { ChainVerdicts } from '../../engine/journal/chain-verdicts.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { ProofSigner } from '../../engine/keys/proof-signer.ts'
import { proofSigningSeed } from '../../engine/keys/store-keys.ts'
import type { ConcurrencyGate } from '../../planes/http/limits/concurrency-gate.ts'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import type { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import type { RequestClass } from '../../planes/metrics/metric-table.ts'
import { ManagementAuthenticator } from '../../planes/management/access/authenticate.ts'
import type { CounterHistory } from '../../planes/metrics/counter-history.ts'
import { ChainRuns } from '../../planes/management/audit/chain-runs.ts'
import { DownloadTickets } from '../../planes/management/downloads/download-tickets.ts'
import type { EventStreams } from '../../planes/exchange/event-streams.ts'
import { FoldedReads } from '../../planes/management/checkpoints/folded-reads.ts'
import { HeavyWork } from '../../planes/management/heavy-work.ts'
import { createManagementHandler, type ManagementOptions } from '../../planes/management/management-handler.ts'
import { readMetrics } from '../../planes/metrics/exposition.ts'
import type { ReadinessCheck } from '../../planes/management/services.ts'
import type { ManagementServices } from '../../planes/management/services.ts'
import { Witness } from '../../planes/management/checkpoints/witness.ts'
import { StorageInspection } from '../../planes/management/storage/storage-inspection.ts'
import type { SharingSettings } from '../../engine/links/settings.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { RecordIndex } from '../../projections/record-index/record-index.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import { S3_ACTIONS } from '../../planes/s3/authorize.ts'
import { BackupNote } from '../backup/backup-note.ts'
import type { Config } from '../config/config-types.ts'
import { damagedIndex } from './background-workers.ts'
import { profileOverrides } from '../config/s3-profiles.ts'
import type { ServerCredentials } from '../config/server-credentials.ts'
import type { Logger } from './log/logger.ts'
import { type ScrapeSources, scrapeValues } from './metrics/scrape-values.ts'
import { behindOf, type DegradationSources, degradations } from './degradations.ts'
import type { CertificateReload } from './tls/certificate-reload.ts'
import type { StoreSession } from './store/store-session.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'
import type { FrontEnds } from './threads/front-ends.ts'
import type { SnapshotMaker } from '../../workers/make-snapshots.ts'
import { type CheckpointWorkers, checkpointFacts } from '../checkpoints/start.ts'
import { buildCommit, packageVersion } from '../version.ts'
import type { Webhooks } from '../webhooks/start.ts'

interface ManagementParts {
  readonly config: Config
  readonly driver: HttpDriver
  readonly credentials: ServerCredentials
  readonly log: Logger
  readonly engine: EngineThread
  readonly hashing: Pick<HashThreads, 'threads'>
  readonly frontEnds: Pick<FrontEnds, 'threads'>
  readonly metrics: MetricSlots
  /** The region of the main thread in the metrics. */
  readonly metricsThread: number
  readonly gate: ConcurrencyGate
  readonly counterHistory: CounterHistory
  readonly eventStreams: EventStreams
  readonly store: StoreSession
  readonly webhooks: Webhooks
  readonly workers: ScrapeSources['workers']
  readonly snapshots: Pick<SnapshotMaker, 'facts'>
  readonly degradations: DegradationSources
  readonly checkpoints: Pick<CheckpointWorkers, 'signing' | 'publication'>
  /** Known once the listeners are bound. */
  readonly sharing: () => SharingSettings
}

/** Puts the management plane together. */
export function managementHandler(
  parts: ManagementParts,
  certificates: Pick<CertificateReload, 'served'>,
  ready: () => Promise<readonly ReadinessCheck[]>,
): HttpHandler {
  const { config, credentials, log, store } = parts
  return createManagementHandler({
    services: managementServices(parts, certificates, ready),
    authenticator: new ManagementAuthenticator(
      {
        systemToken: config['management.system_token']?.reveal(),
        rootAccessKey: credentials.rootAccessKey,
        rootSecretKey: credentials.rootSecretKey.reveal(),
      },
      store.access,
      store.expiryClock,
    ),
    gate: parts.gate,
    erred: errorCounter(parts.metrics, parts.metricsThread),
    timed: requestTimer(parts.metrics, parts.metricsThread),
    scrapeToken: config['metrics.scrape_token']?.reveal(),
    observe: observer(config['log.requests'], log),
  })
}

function errorCounter(metrics: MetricSlots, thread: number): () => void {
  const region = metrics.region(thread)
  const slot = metrics.slot('object_store_errors_total')
  return () => {
    region[slot] = (region[slot] ?? 0) + 1
  }
}

function damageCounter(metrics: MetricSlots, thread: number, log: Logger): ManagementServices['damageFound'] {
  const region = metrics.region(thread)
  return (finder, what) => {
    const slot = metrics.damageSlot(finder)
    region[slot] = (region[slot] ?? 0) + 1
    if (what !== undefined) log.error({ foundBy: finder, damage: what }, 'an answer met damage')
  }
}

function requestTimer(metrics: MetricSlots, thread: number): NonNullable<ManagementOptions['timed']> {
  const duration = (one: RequestClass<'management'>) => metrics.requestDuration(thread, 'management', one)
  const durations = {
    read: duration('read'),
    write: duration('write'),
    delete: duration('delete'),
    other: duration('other'),
  }
  return (requestClass, seconds) => durations[requestClass].observe(seconds)
}

/** Logs answered requests as configured, and faults of the server always. */
function observer(requests: Config['log.requests'], log: Logger): NonNullable<ManagementOptions['observe']> {
  return ({ error, isCutOff, ...exchange }) => {
    if (error !== undefined) {
      const what = isCutOff ? 'an answer of the management plane was cut off' : 'a management request failed'
      log.error({ ...exchange, err: error }, what)
    } else if (requests === 'all' || (requests === 'errors' && exchange.status >= 400)) {
      log.info(exchange, 'management request')
    }
  }
}

function scrapeSources(parts: ManagementParts, certificates: Pick<CertificateReload, 'served'>): ScrapeSources {
  const { config, engine, hashing, eventStreams, frontEnds, store, workers, snapshots, checkpoints } = parts
  const backups = new BackupNote(nodeDisk, store.paths, engine.deploymentId)
  const main = { name: 'main', activeMilliseconds: () => performance.eventLoopUtilization().active }
  return {
    disk: nodeDisk,
    paths: store.paths,
    catalog: store.catalog,
    concurrencyLimit: config['limits.maximum_concurrent_operations'],
    eventStreams,
    version: packageVersion(),
    commit: buildCommit(),
    certificates: () => certificates.served,
    threads: () => [main, engine, ...frontEnds.threads, ...hashing.threads],
    workers,
    snapshots: () => snapshots.facts,
    chain: parts.degradations.chain,
    degradations: () => degradations(parts.degradations),
    clockBehind: () => behindOf(parts.degradations),
    checkpoints: {
      facts: () => checkpointFacts(checkpoints),
      last: () => store.checkpoints.last(),
      lateSeconds: () => checkpoints.signing.lateSeconds,
    },
    backup: (head) => backups.read(head).backup,
    reservedBytes: config['storage.reserved_mib'] * 1024 ** 2,
    clock: systemMilliseconds,
  }
}

/** Cosigns the checkpoints of other logs, as configured. */
function witnessOf({ config, engine, store }: ManagementParts): Witness {
  return new Witness({
    name: `${config['checkpoints.origin']}/${engine.deploymentId}/witness`,
    key: new SigningKey(store.witnessSeed),
    logs: config['checkpoints.witness_for'].map((key) => readVerifierKey(key)),
    reader: store.checkpoints,
    clock: systemMilliseconds,
  })
}

/** Keeps what requests find out about the chain. */
function chainRuns({ engine, store, log }: ManagementParts): ChainRuns {
  const verdicts = new ChainVerdicts(nodeDisk, store.paths, engine.deploymentId)
  return new ChainRuns(verdicts, systemMilliseconds, (error) => {
    log.error({ err: error }, 'the verdict of a verification of the chain could not be kept')
  })
}

function managementServices(
  parts: ManagementParts,
  certificates: Pick<CertificateReload, 'served'>,
  ready: () => Promise<readonly ReadinessCheck[]>,
): ManagementServices {
  const { config, credentials, engine: thread, metrics, store, webhooks, snapshots } = parts
  const sources = scrapeSources(parts, certificates)
  const { engine, paths, catalog, access, events, payloads, uploads, space, secrets, versionIds } = store
  const damageFound = damageCounter(metrics, parts.metricsThread, parts.log)
  const recordIndex = new RecordIndex(nodeDisk, paths, damagedIndex(parts.log))
  return {
    engine,
    catalog,
    access,
    audit: new AuditLog(nodeDisk, paths, store.environment, undefined, recordIndex),
    chain: { kept: parts.degradations.chain, runs: chainRuns(parts) },
    checkpoints: new CheckpointLog(nodeDisk, paths, store.checkpoints, (size, what) => {
      if (what !== undefined) damageFound('trees', what)
      parts.checkpoints.signing.mend(size)
    }),
    witness: witnessOf(parts),
    checkpointKeys: store.checkpointKeys,
    events,
    payloads,
    uploads,
    space,
    inlineBytesMaximum: config['storage.inline_limit_bytes'],
    rootAccessKey: credentials.rootAccessKey,
    secrets,
    webhooks: {
      reader: store.webhooks,
      secrets: store.webhookSecrets,
      rules: webhooks.rules,
      ownFault: (target) => webhooks.ownFault(target),
      test: (webhook) => webhooks.test(webhook),
    },
    sharing: {
      tokens: store.capabilityTokens,
      settings: parts.sharing,
      hashPassword: (password, owner) => store.passwords.hash(password, owner),
    },
    proofs: new ProofSigner(proofSigningSeed(credentials.masterKey)),
    versionIds,
    httpDriver: parts.driver,
    s3: { profile: config['s3.profile'], overrides: profileOverrides(config), extensions: config['s3.extensions'] },
    actions: S3_ACTIONS,
    storage: new StorageInspection(nodeDisk, paths, catalog, thread.start),
    snapshots: () => snapshots.facts,
    checkpointFacts: () => checkpointFacts(parts.checkpoints),
    heavy: new HeavyWork(),
    foldedReads: new FoldedReads(systemMilliseconds),
    version: packageVersion(),
    commit: buildCommit(),
    deploymentId: thread.deploymentId,
    clock: systemMilliseconds,
    expiryClock: store.expiryClock,
    ready,
    metrics: () => readMetrics(metrics, scrapeValues(sources)),
    downloads: new DownloadTickets(store.expiryClock),
    counterHistory: parts.counterHistory,
    eventStreams: parts.eventStreams,
    damageFound,
  }
}
