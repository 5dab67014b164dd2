import type { MessagePort } from 'node:worker_threads'
import { PortEngineClient } from '../../engine/client/port-client.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { BodyHashing } from '../../engine/hashing/body-hashing.ts'
import { HashThreads } from '../../engine/hashing/hash-threads.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore, type StoreLock } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { PIECE_BYTES } from '../../engine/payloads/piece-pool.ts'
import { ConcurrencyGate } from '../../planes/http/limits/concurrency-gate.ts'
import { createSharedGate } from '../../planes/http/limits/gate-memory.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import { MetricSlots } from '../../planes/http/metrics/metric-slots.ts'
import { CounterHistory } from '../../planes/management/counter-history.ts'
import { EventStreams } from '../../planes/management/events/event-streams.ts'
import { CommitCounts } from '../../projections/catalog/commit-counts.ts'
import type { SnapshotMaker } from '../../workers/make-snapshots.ts'
import { type RunningWorkers, startWorkers } from './background-workers.ts'
import { type CheckpointWorkers, checkpointWorkers } from '../checkpoints/start.ts'
import { CertificateReload, logCertificates } from './tls/certificate-reload.ts'
import { connectionLimits } from './connection-limit.ts'
import { chosenDriver, frontEndCountOf } from './chosen-driver.ts'
import { formatAddress } from '../config/address.ts'
import type { Address, Config } from '../config/config-types.ts'
import { keyAdvice, type ServerCredentials, serverCredentials } from '../config/server-credentials.ts'
import { exitOfError, isOfOtherKey } from './engine-exit.ts'
import { ExitError, type ExitName, exitTable } from '../exit-codes.ts'
import { logOpening, logRecount, logRoom, logUnrecorded } from './engine-log.ts'
import { ListenerTls, type TlsListener, tlsListeners } from './tls/listener-tls.ts'
import type { Logger } from './logger.ts'
import { MainListeners } from './main-listeners.ts'
import { managementHandler } from './management-plane.ts'
import { publishGate } from './metrics/gate-metrics.ts'
import { publishMissed } from './metrics/missed-metrics.ts'
import { workerCounters } from './metrics/worker-values.ts'
import { expectedResults, METRIC_OPERATIONS } from './metrics/metric-operations.ts'
import { Readiness } from './readiness.ts'
import { degradationSources } from './degradations.ts'
import type { RunningServer, StartServer } from './running-server.ts'
import type { RequestLines } from './request-lines.ts'
import { shareHandler } from '../links/plane.ts'
import { snapshotMaker } from './snapshots.ts'
import { SpaceWatch } from './space-watch.ts'
import { isOnOneFileSystem } from './store/payload-places.ts'
import { storeOptions } from './store/store-options.ts'
import { StoreSession } from './store/store-session.ts'
import { sharingSettings } from '../links/addresses.ts'
import { targetCertificates, Webhooks } from '../webhooks/start.ts'
import { witnessPolicyOf } from '../checkpoints/witness-policy.ts'
import { EngineThread, EngineThreadError } from './threads/engine-thread-handle.ts'
import { giveBackMemorySoon } from './threads/give-back-memory.ts'
import { FrontEndWatch } from './threads/front-end-watch.ts'
import { type FrontEndSettings, FrontEnds } from './threads/front-ends.ts'
import {
  auditBytesMaximum,
  clientSettings,
  concurrencyLimits,
  frontEndSettings,
  sessionSettings,
} from './threads/thread-settings.ts'

/** Number of the main thread in the names of its payload files; front ends have lower numbers. */
const MAIN_THREAD = 255
/** Time for front ends to answer waiting requests with 503 after the engine has failed. */
const FAILURE_GRACE_MILLISECONDS = 1000

/** Of the grace period, at most half, for all that comes after the requests: the clean end of the journal, above all. */
const CLOSE_MILLISECONDS = 2000

/** Everything that runs. */
interface Parts {
  readonly config: Config
  readonly driver: HttpDriver
  readonly tls: ListenerTls
  readonly credentials: ServerCredentials
  readonly log: Logger
  /** Of requests by links. */
  readonly requestLines: RequestLines | undefined
  readonly lock: StoreLock
  readonly engine: EngineThread
  readonly hashing: HashThreads
  /** The client of the store, and what connects it to the engine. */
  readonly client: PortEngineClient
  readonly port: MessagePort
  readonly metrics: MetricSlots
  /** The region of the main thread in the metrics. */
  readonly metricsThread: number
  readonly gate: ConcurrencyGate
  readonly counterHistory: CounterHistory
  readonly eventStreams: EventStreams
  readonly frontEnds: FrontEnds
  readonly store: StoreSession
  readonly snapshots: SnapshotMaker
  readonly checkpoints: CheckpointWorkers
}

/** The composition root: puts the whole server together. */
export const startServer: StartServer = async (config, { log, requests }) => {
  const credentials = serverCredentials(config)
  const tls = new ListenerTls(config)
  targetCertificates(config)
  witnessPolicyOf(config)
  const driver = await chosenDriver(config, log)
  const paths = new StorePaths(config.data_dir)
  nodeDisk.makeDirectory(paths.root)
  const lock = await withExitCode(() => lockStore(nodeDisk, paths.root))
  try {
    await withExitCode(async () => isOnOneFileSystem(paths))
    return await startLocked(config, driver, tls, log, requests, credentials, paths, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Gives a failure of the store its exit code. */
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
  driver: HttpDriver,
  tls: ListenerTls,
  log: Logger,
  requestLines: RequestLines | undefined,
  credentials: ServerCredentials,
  paths: StorePaths,
  lock: StoreLock,
): Promise<RunningServer> {
  const frontEndCount = frontEndCountOf(config, driver)
  const expected = expectedResults(new Set(config['s3.extensions']))
  const metrics = MetricSlots.create(METRIC_OPERATIONS, frontEndCount + 2, expected)
  const options = { ...storeOptions(config, credentials), lockPath: lock.path }
  const engine = await withExitCode(() =>
    EngineThread.open({
      dataDirectory: paths.root,
      options,
      metrics: metrics.shared,
      thread: frontEndCount,
    }),
  ).catch((error: ExitError) => {
    throw isOfOtherKey(error) ? new ExitError('masterKey', `${error.message}; ${keyAdvice(config)}`) : error
  })
  logOpening(log, engine)
  // Of the front ends, and of the main thread for the management plane.
  const sharedGate = createSharedGate(frontEndCount + 1)
  const gate = new ConcurrencyGate(concurrencyLimits(config), sharedGate, frontEndCount)
  publishGate(gate, metrics.shared, frontEndCount + 1)
  const session = sessionSettings(config, credentials, engine)
  const port = engine.connect()
  const client = new PortEngineClient(port, auditBytesMaximum(config, frontEndCount))
  publishMissed(client, metrics.shared, frontEndCount + 1)
  const hashing = new HashThreads((message) => server.fail('failed', message))
  const counts = new CommitCounts(engine.commitCounts)
  const hasher = new BodyHashing(hashing.connect(), PIECE_BYTES, () => hashing.start())
  const store = new StoreSession(session, MAIN_THREAD, client, hasher, counts)
  const server = new Server({
    config,
    driver,
    tls,
    credentials,
    log,
    requestLines,
    lock,
    engine,
    hashing,
    client,
    port,
    metrics,
    metricsThread: frontEndCount + 1,
    gate,
    counterHistory: new CounterHistory(metrics, systemMilliseconds),
    eventStreams: new EventStreams(store.events),
    store,
    snapshots: snapshotMaker(log, config, store, session),
    checkpoints: checkpointWorkers(log, config, store, session),
    frontEnds: new FrontEnds(log, (message) => server.fail('failed', message)),
  })
  try {
    const settings = frontEndSettings(config, credentials, session, metrics, sharedGate, frontEndCount)
    await server.start({ ...settings, driver, commitCounts: engine.commitCounts, tls: tls.files('s3') }, frontEndCount)
  } catch (error) {
    await server.stop()
    // An error of the start after a part has failed may only be a consequence.
    throw server.failure ?? new ExitError('failed', (error as Error).message, { cause: error })
  }
  return server
}

class Server implements RunningServer {
  readonly ended: Promise<number>
  readonly deploymentId: string
  readonly #parts: Parts
  #resolveEnded: (code: number) => void = () => undefined
  readonly #certificateReload: CertificateReload
  readonly #spaceWatch: SpaceWatch
  readonly #webhooks: Webhooks
  readonly #listeners = new MainListeners()
  #frontEndWatch: FrontEndWatch | undefined
  #workers: RunningWorkers | undefined
  #hasStarted = false
  #failure: ExitError | undefined
  #stopping: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.deploymentId = parts.engine.deploymentId
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    const listeners = () => tlsListeners.map((name) => this.#bound(name)).filter(({ port }) => port !== 0)
    this.#webhooks = new Webhooks(parts.log, parts.config, parts.store, this.deploymentId, listeners)
    this.#spaceWatch = new SpaceWatch(parts.log, parts.store.space)
    this.#certificateReload = new CertificateReload(parts.log, parts.tls, {
      s3: () => parts.frontEnds.reload(),
      api: () => this.#listeners.reload('api'),
      console: () => this.#listeners.reload('console'),
    })
    parts.engine.onRoomChanged((roomFor) => logRoom(parts.log, roomFor))
    parts.engine.onRecounted((found) => logRecount(parts.log, found))
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

  get consoleUrl(): string | undefined {
    if (this.#listeners.port('console') === undefined) return undefined
    return this.#parts.tls.url('console', this.#bound('console'))
  }

  get s3SelfSigned(): boolean {
    return this.#parts.tls.isSelfSigned('s3')
  }

  async start(settings: FrontEndSettings, frontEndCount: number): Promise<void> {
    const { config, driver, tls, log, engine, hashing, frontEnds, counterHistory } = this.#parts
    const workers = () => ({ deliveries: this.#webhooks.delivery.counts, workers: this.#workers })
    counterHistory.start(() => workerCounters(workers()))
    await frontEnds.start(settings, config['s3.bind'].port, frontEndCount, engine, hashing)
    this.#mustNotHaveFailed()
    const sharing = () => sharingSettings(config, { api: this.apiUrl, s3: this.s3Url })
    const degradations = degradationSources(this.#parts)
    const ready = new Readiness({
      ...this.#parts,
      degradations,
      isSharing: config['sharing.enabled'],
      isStopping: () => this.#stopping !== undefined,
    })
    const management = managementHandler(
      { ...this.#parts, webhooks: this.#webhooks, workers, sharing, degradations },
      this.#certificateReload,
      () => ready.check(),
    )
    const withShares = shareHandler(this.#parts)
    const patience = { ...clientSettings(config), isCrowded: () => this.#parts.gate.isCrowded }
    const limits = connectionLimits(frontEndCount)
    await this.#listeners.start({ config, driver, tls, log, limits, management, withShares, patience })
    this.#mustNotHaveFailed()
    logCertificates(log, tls)
    this.#workers = startWorkers(engine.start, { ...this.#parts, delivery: this.#webhooks.delivery })
    this.#hasStarted = true
    this.#frontEndWatch = new FrontEndWatch(
      () => frontEnds.threads,
      (name, seconds) => this.fail('frontEndStuck', `${name} has not answered for ${seconds} seconds`),
    )
    giveBackMemorySoon()
  }

  /** Why the server ends, if a part of it failed. */
  get failure(): ExitError | undefined {
    return this.#failure
  }

  reload(): Promise<void> {
    return this.#certificateReload.run()
  }

  /**
   * Ends the server because a part of it failed, after waiting requests were answered with 503. A server that still
   * starts ends at the next step of its start: parts that are just opening could not be closed.
   */
  fail(exit: ExitName, message: string): void {
    if (this.#stopping !== undefined || this.#failure !== undefined) return
    this.#parts.log.fatal({ reason: message }, 'the server ends because a part of it failed')
    this.#failure = new ExitError(exit, message)
    if (this.#hasStarted) void this.stop()
  }

  #mustNotHaveFailed(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  stop(): Promise<void> {
    const seconds = this.#parts.config['server.shutdown_grace_period_seconds']
    this.#stopping ??= this.#close(this.#failure === undefined ? seconds * 1000 : FAILURE_GRACE_MILLISECONDS)
    return this.#stopping
  }

  async #close(graceMilliseconds: number): Promise<void> {
    const { frontEnds, client, engine, hashing, log, port, store, lock, counterHistory, eventStreams } = this.#parts
    counterHistory.stop()
    eventStreams.end()
    this.#spaceWatch.stop()
    this.#frontEndWatch?.stop()
    const deadline = performance.now() + graceMilliseconds
    const drainMilliseconds = graceMilliseconds - Math.min(CLOSE_MILLISECONDS, graceMilliseconds / 2)
    const stuck = await frontEnds.stop(drainMilliseconds)
    if (stuck.length > 0) this.#failure ??= new ExitError('frontEndStuck', `${stuck.join(', ')} did not stop`)
    await this.#listeners.close(Math.max(0, deadline - performance.now()))
    await this.#workers?.stop()
    store.closePayloads()
    await hashing.stop()
    client.flush()
    port.close()
    logUnrecorded(log, await engine.stop())
    await store.close()
    await lock.release()
    this.#resolveEnded(this.#failure?.exitCode ?? exitTable.ok.code)
  }

  /** Where a listener is bound, with its actual port. */
  #bound(listener: TlsListener): Address {
    const port = listener === 's3' ? this.#parts.frontEnds.port : (this.#listeners.port(listener) ?? 0)
    return { ...this.#parts.config[`${listener}.bind`], port }
  }
}
