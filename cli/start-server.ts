import { availableParallelism } from 'node:os'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import { lockStore, type StoreLock } from '../engine/disk/store-lock.ts'
import { StorePaths } from '../engine/disk/store-paths.ts'
import { PayloadSealer } from '../engine/payloads/sealing.ts'
import { MetricSlots } from '../planes/http/metric-slots.ts'
import { type HttpListener, listen } from '../planes/http/uws-server.ts'
import { CounterHistory } from '../planes/management/counter-history.ts'
import { malformedRequestResponse } from '../planes/management/responses.ts'
import type { ReadinessCheck } from '../planes/management/routes/probes.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import { startWorkers } from './background-workers.ts'
import { CertificateReload, logCertificates } from './certificate-reload.ts'
import { connectionLimits } from './connection-limit.ts'
import { formatAddress } from './config/address.ts'
import type { Address, Config } from './config/config-types.ts'
import { type ServerCredentials, serverCredentials } from './config/server-credentials.ts'
import { exitOfError } from './engine-exit.ts'
import { ExitError, exitTable } from './exit-codes.ts'
import { ListenerTls, type TlsListener } from './listener-tls.ts'
import type { Logger } from './logger.ts'
import { MainStore } from './main-store.ts'
import { managementHandler } from './management-plane.ts'
import { METRIC_OPERATIONS } from './metric-operations.ts'
import type { RunningServer, StartServer } from './running-server.ts'
import {
  CREDENTIAL_SECRET_KEY,
  derivedKey,
  payloadKey,
  UPLOAD_ID_KEY,
  VERSION_ID_KEY,
} from './store/master-key-check.ts'
import { storeOptions } from './store/store-options.ts'
import { EngineThread, EngineThreadError } from './threads/engine-thread-handle.ts'
import { type FrontEndSettings, FrontEnds } from './threads/front-ends.ts'

/** Time that front ends get to answer 503 to those who wait when the engine has failed. */
const FAILURE_GRACE_MILLISECONDS = 1000

/** Everything that runs, to be closed in the reverse order of its start. */
interface Parts {
  readonly config: Config
  readonly tls: ListenerTls
  readonly credentials: ServerCredentials
  readonly log: Logger
  readonly paths: StorePaths
  readonly lock: StoreLock
  readonly engine: EngineThread
  readonly metrics: MetricSlots
  readonly counterHistory: CounterHistory
  readonly frontEnds: FrontEnds
  readonly store: MainStore
  readonly sealer: PayloadSealer
}

/** The composition root: the only place that puts the whole server together. */
export const startServer: StartServer = async (config, { log }) => {
  const credentials = serverCredentials(config)
  const tls = new ListenerTls(config)
  const paths = new StorePaths(config.data_dir)
  nodeDisk.makeDirectory(paths.root)
  const lock = await withExitCode(() => lockStore(nodeDisk, paths.root))
  try {
    return await startLocked(config, tls, log, credentials, paths, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Turns a failure of the store into an exit code; other errors pass. */
async function withExitCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const name = error instanceof EngineThreadError ? error.errorName : (error as Error).name
    throw new ExitError(exitOfError(name), (error as Error).message, { cause: error })
  }
}

async function startLocked(
  config: Config,
  tls: ListenerTls,
  log: Logger,
  credentials: ServerCredentials,
  paths: StorePaths,
  lock: StoreLock,
): Promise<RunningServer> {
  const frontEndCount = config['s3.front_ends'] || Math.max(1, availableParallelism() - 1)
  const metrics = MetricSlots.create(METRIC_OPERATIONS, frontEndCount + 1)
  const options = storeOptions(config, credentials.masterKey)
  const accessChanges = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const engine = await withExitCode(() =>
    EngineThread.open({
      dataDirectory: paths.root,
      accessChanges,
      options,
      metrics: metrics.shared,
      thread: frontEndCount,
    }),
  )
  logOpening(log, engine)
  const sealer = new PayloadSealer(payloadKey(credentials.masterKey, Buffer.from(engine.deploymentId, 'hex')))
  const store = new MainStore(paths, engine, sealer)
  const server = new Server({
    config,
    tls,
    credentials,
    log,
    paths,
    lock,
    engine,
    metrics,
    counterHistory: new CounterHistory(metrics, Date.now),
    store,
    sealer,
    frontEnds: new FrontEnds(log, (message) => server.fail('failed', message)),
  })
  try {
    const settings = frontEndSettings(config, credentials, paths, engine, metrics, frontEndCount)
    await server.start({ ...settings, accessChanges, tls: tls.files('s3') }, frontEndCount)
  } catch (error) {
    await server.stop()
    throw new ExitError('failed', (error as Error).message, { cause: error })
  }
  return server
}

function logOpening(log: Logger, engine: EngineThread): void {
  const { created, replayedRecords, discardedProjections, cut } = engine.report
  log.info({ deploymentId: engine.deploymentId, created, replayedRecords, discardedProjections }, 'the store is open')
  if (cut === undefined) return
  const { segment, offset, length } = cut
  log.warn({ segment, offset, length }, 'an unfinished batch at the end of the journal was cut off and kept aside')
}

function frontEndSettings(
  config: Config,
  credentials: ServerCredentials,
  paths: StorePaths,
  engine: EngineThread,
  metrics: MetricSlots,
  count: number,
): Omit<FrontEndSettings, 'tls' | 'accessChanges'> {
  const deployment = Buffer.from(engine.deploymentId, 'hex')
  const share = (total: number) => Math.max(1, Math.ceil(total / count))
  return {
    dataDirectory: paths.root,
    metrics: metrics.shared,
    deploymentId: engine.deploymentId,
    start: engine.start,
    host: config['s3.bind'].host,
    connectionsMaximum: connectionLimits(count).frontEnd,
    rootAccessKey: credentials.rootAccessKey,
    rootSecretKey: credentials.rootSecretKey.reveal(),
    rootEnabled: config['root.s3_enabled'],
    tokenKey: derivedKey(credentials.masterKey, 'continuation-token', deployment),
    credentialKey: derivedKey(credentials.masterKey, CREDENTIAL_SECRET_KEY, deployment),
    versionIdKey: derivedKey(credentials.masterKey, VERSION_ID_KEY, deployment),
    uploadIdKey: derivedKey(credentials.masterKey, UPLOAD_ID_KEY, deployment),
    payloadKey: payloadKey(credentials.masterKey, deployment),
    encryptionEnabled: config['storage.encryption_enabled'],
    inlineBytesMaximum: config['storage.inline_limit_bytes'],
    reservedBytes: config['storage.reserved_mib'] * 1024 ** 2,
    operationsMaximum: share(config['limits.maximum_concurrent_operations']),
    queueMaximum: share(config['limits.maximum_queued_operations']),
    queueWaitMilliseconds: config['limits.queue_wait_seconds'] * 1000,
    stallTimeoutMilliseconds: config['server.stall_timeout_seconds'] * 1000,
    graceMilliseconds: config['server.shutdown_grace_period_seconds'] * 1000,
    logLevel: config['log.level'],
    logRequests: config['log.requests'],
  }
}

class Server implements RunningServer {
  readonly ended: Promise<number>
  readonly deploymentId: string
  readonly #parts: Parts
  #resolveEnded: (code: number) => void = () => undefined
  readonly #certificateReload: CertificateReload
  #management: HttpListener | undefined
  #workers: Supervisor | undefined
  #exitCode: number = exitTable.ok.code
  #stopping: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.deploymentId = parts.engine.deploymentId
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#certificateReload = new CertificateReload(parts.log, parts.tls, {
      s3: () => parts.frontEnds.reload(),
      api: () => this.#management?.reloadTls() ?? false,
    })
    parts.engine.onFailure((error) => this.fail(exitOfError(error.errorName), error.message))
  }

  get s3Address(): string {
    return formatAddress(this.#bound('s3'))
  }

  get apiAddress(): string {
    return formatAddress(this.#bound('api'))
  }

  get s3Url(): string {
    return this.#parts.tls.url('s3', this.#bound('s3'))
  }

  get apiUrl(): string {
    return this.#parts.tls.url('api', this.#bound('api'))
  }

  get s3SelfSigned(): boolean {
    return this.#parts.tls.isSelfSigned('s3')
  }

  async start(settings: FrontEndSettings, frontEndCount: number): Promise<void> {
    const { config, tls, log, paths, engine, frontEnds, store, counterHistory } = this.#parts
    counterHistory.start()
    await frontEnds.start(settings, config['s3.bind'].port, frontEndCount, engine)
    this.#management = await listen({
      ...config['api.bind'],
      tls: tls.files('api'),
      exclusive: true,
      connectionsMaximum: connectionLimits(frontEndCount).management,
      handler: managementHandler(this.#parts, async () => this.#readiness()),
      refusal: malformedRequestResponse,
      stallTimeoutMilliseconds: config['server.stall_timeout_seconds'] * 1000,
      onHandlerError: (error) => log.error({ err: error }, 'an answer of the management plane was cut off'),
    })
    logCertificates(log, tls)
    this.#workers = startWorkers(log, paths, engine.start, store)
  }

  reload(): Promise<void> {
    return this.#certificateReload.run()
  }

  /** Ends the server because a part of it failed. Those who wait are told 503 first. */
  fail(exit: Parameters<typeof exitOfName>[0], message: string): void {
    if (this.#stopping !== undefined) return
    this.#parts.log.fatal({ reason: message }, 'the server ends: a part of it failed')
    this.#exitCode = exitOfName(exit)
    this.#stopping = this.#close(FAILURE_GRACE_MILLISECONDS)
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#close(this.#parts.config['server.shutdown_grace_period_seconds'] * 1000)
    return this.#stopping
  }

  async #close(graceMilliseconds: number): Promise<void> {
    const { frontEnds, engine, store, lock, counterHistory } = this.#parts
    counterHistory.stop()
    await frontEnds.stop(graceMilliseconds)
    await this.#management?.close(graceMilliseconds)
    await this.#workers?.stop()
    store.disconnect()
    await engine.stop()
    await store.close()
    await lock.release()
    this.#resolveEnded(this.#exitCode)
  }

  /** Where a listener is bound, with the port it really got. */
  #bound(listener: TlsListener): Address {
    const port = listener === 's3' ? this.#parts.frontEnds.port : (this.#management?.port ?? 0)
    return { ...this.#parts.config[`${listener}.bind`], port }
  }

  /** Object storage, metadata and the audit store (which is the journal) must all work. */
  #readiness(): ReadinessCheck[] {
    const stopping = this.#stopping !== undefined
    return [
      { name: 'server', ready: !stopping, reason: 'the server is stopping' },
      { name: 'audit', ready: this.#parts.engine.healthy, reason: 'the journal cannot be written' },
      { name: 'metadata', ready: this.#metadataWorks(), reason: 'the catalog cannot be read' },
      {
        name: 'object storage',
        ready: nodeDisk.exists(this.#parts.paths.volumes),
        reason: 'the payload directory is missing',
      },
    ]
  }

  #metadataWorks(): boolean {
    try {
      this.#parts.store.catalog.totals()
      return true
    } catch {
      return false
    }
  }
}

function exitOfName(name: keyof typeof exitTable): number {
  return exitTable[name].code
}
