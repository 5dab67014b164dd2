import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { OpaqueIds } from '../engine/opaque-ids.ts'
import type { PayloadSealer } from '../engine/payloads/sealing.ts'
import { SpaceGuard } from '../engine/payloads/space-guard.ts'
import { UploadStore } from '../engine/payloads/upload-store.ts'
import { ProofSigner } from '../engine/proof-signer.ts'
import { SecretBox } from '../engine/secret-box.ts'
import { ConcurrencyGate } from '../planes/http/concurrency-gate.ts'
import type { HttpHandler } from '../planes/http/exchange.ts'
import type { MetricSlots } from '../planes/http/metric-slots.ts'
import { ManagementAuthenticator } from '../planes/management/authenticate.ts'
import type { CounterHistory } from '../planes/management/counter-history.ts'
import { createManagementHandler, type ManagementOptions } from '../planes/management/management-handler.ts'
import { readMetrics } from '../planes/management/metrics.ts'
import type { ReadinessCheck } from '../planes/management/routes/probes.ts'
import type { ManagementServices } from '../planes/management/services.ts'
import { StorageInspection } from '../planes/management/storage-inspection.ts'
import { AuditLog } from '../projections/audit-log.ts'
import { LockReader } from '../projections/lock-reader.ts'
import { S3_ACTIONS } from '../planes/s3/authorize.ts'
import type { Config } from './config/config-types.ts'
import type { ServerCredentials } from './config/server-credentials.ts'
import type { Logger } from './logger.ts'
import type { MainStore } from './main-store.ts'
import { scrapeValues } from './scrape-values.ts'
import { CREDENTIAL_SECRET_KEY, derivedKey, proofSigningSeed, VERSION_ID_KEY } from './store/master-key-check.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'
import { packageVersion } from './version.ts'

/** The payload files of the main thread; front ends have the numbers below. */
const MAIN_THREAD = 255

/** What the management plane is made of. */
export interface ManagementParts {
  readonly config: Config
  readonly credentials: ServerCredentials
  readonly log: Logger
  readonly paths: StorePaths
  readonly engine: EngineThread
  readonly metrics: MetricSlots
  readonly counterHistory: CounterHistory
  readonly store: MainStore
  readonly sealer: PayloadSealer
}

/** The management plane, put together. */
export function managementHandler(
  parts: ManagementParts,
  ready: () => Promise<readonly ReadinessCheck[]>,
): HttpHandler {
  const { config, credentials, log, store } = parts
  return createManagementHandler({
    services: managementServices(parts, ready),
    authenticator: new ManagementAuthenticator(
      {
        systemToken: config['management.system_token']?.reveal(),
        rootAccessKey: credentials.rootAccessKey,
        rootSecretKey: credentials.rootSecretKey.reveal(),
      },
      store.access,
      Date.now,
    ),
    gate: new ConcurrencyGate({
      operationsMaximum: config['limits.maximum_concurrent_operations'],
      queueMaximum: config['limits.maximum_queued_operations'],
      waitMillisecondsMaximum: config['limits.queue_wait_seconds'] * 1000,
    }),
    scrapeToken: config['metrics.scrape_token']?.reveal(),
    observe: observer(config['log.requests'], log),
  })
}

/** Logs what was answered, as far as the configuration asks for it; a fault of the server always. */
function observer(requests: Config['log.requests'], log: Logger): NonNullable<ManagementOptions['observe']> {
  return ({ error, ...exchange }) => {
    if (error !== undefined) log.error({ ...exchange, err: error }, 'a management request failed')
    else if (requests === 'all' || (requests === 'errors' && exchange.status >= 400)) {
      log.info(exchange, 'management request')
    }
  }
}

function managementServices(
  parts: ManagementParts,
  ready: () => Promise<readonly ReadinessCheck[]>,
): ManagementServices {
  const { config, credentials, paths, engine, metrics, store, sealer } = parts
  const deployment = Buffer.from(engine.deploymentId, 'hex')
  const limit = config['limits.maximum_concurrent_operations']
  const { catalog, access, payloads } = store
  return {
    engine: store.engine,
    catalog,
    access,
    audit: new AuditLog(nodeDisk, paths, store.environment),
    locks: new LockReader(store.environment),
    payloads,
    uploads: new UploadStore(
      nodeDisk,
      paths,
      engine.start,
      MAIN_THREAD,
      config['storage.encryption_enabled'] ? sealer : undefined,
    ),
    space: new SpaceGuard(nodeDisk, paths.root, config['storage.reserved_mib'] * 1024 ** 2),
    inlineBytesMaximum: config['storage.inline_limit_bytes'],
    secrets: new SecretBox(derivedKey(credentials.masterKey, CREDENTIAL_SECRET_KEY, deployment)),
    proofs: new ProofSigner(proofSigningSeed(credentials.masterKey)),
    versionIds: new OpaqueIds(derivedKey(credentials.masterKey, VERSION_ID_KEY, deployment)),
    actions: S3_ACTIONS,
    storage: new StorageInspection(nodeDisk, paths, catalog, engine.start),
    version: packageVersion(),
    deploymentId: engine.deploymentId,
    clock: Date.now,
    ready,
    metrics: () => readMetrics(metrics, scrapeValues(nodeDisk, paths, catalog, limit)),
    counterHistory: parts.counterHistory,
  }
}
