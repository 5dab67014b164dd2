import type { MessagePort } from 'node:worker_threads'
import { PortEngineClient } from '../../engine/client/port-client.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { BodyHashing } from '../../engine/hashing/body-hashing.ts'
import { HashThreads } from '../../engine/hashing/hash-threads.ts'
import type { StoreLock } from '../../engine/disk/store-lock.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { PIECE_BYTES } from '../../engine/payloads/piece-pool.ts'
import { ConcurrencyGate } from '../../planes/http/limits/concurrency-gate.ts'
import { createSharedGate } from '../../planes/http/limits/gate-memory.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { CounterHistory } from '../../planes/metrics/counter-history.ts'
import { EventStreams } from '../../planes/exchange/event-streams.ts'
import { CommitCounts } from '../../projections/catalog/commit-counts.ts'
import type { SnapshotMaker } from '../../workers/make-snapshots.ts'
import { type CheckpointWorkers, checkpointWorkers } from '../checkpoints/start.ts'
import { keepRefusedStart, keepStart } from './chain-of-start.ts'
import { frontEndCountOf } from './chosen-driver.ts'
import type { Config } from '../config/config-types.ts'
import { keyAdvice, type ServerCredentials } from '../config/server-credentials.ts'
import { isOfOtherKey } from './engine-exit.ts'
import { ExitError } from '../exit-codes.ts'
import { logOpening } from './log/engine-log.ts'
import { ListenerTls } from './tls/listener-tls.ts'
import type { Logger } from './log/logger.ts'
import { publishGate, publishMissed } from './metrics/published-metrics.ts'
import { expectedResults, METRIC_OPERATIONS } from './metrics/metric-operations.ts'
import type { RequestLines } from './log/request-lines.ts'
import { snapshotMaker } from './snapshots.ts'
import { Starting } from './starting.ts'
import { storeOptions } from './store/store-options.ts'
import { StoreSession } from './store/store-session.ts'
import { EngineThread } from './threads/engine-thread-handle.ts'
import { type FrontEndSettings, FrontEnds } from './threads/front-ends.ts'
import { auditBytesMaximum, concurrencyLimits, frontEndSettings, sessionSettings } from './threads/thread-settings.ts'
import { withExitCode } from './engine-exit.ts'

/** Number of the main thread in the names of its payload files; front ends have lower numbers. */
const MAIN_THREAD = 255
/** Everything that runs. */
export interface Parts {
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
  /** What listened during a long replay. */
  readonly starting: Starting
}

/** What is there before the store is opened. */
export type LockedParts = Pick<Parts, 'config' | 'driver' | 'tls' | 'credentials' | 'log' | 'requestLines' | 'lock'> & {
  readonly paths: StorePaths
}

/** How the front ends are started. */
interface FrontEndStart {
  readonly settings: FrontEndSettings
  readonly count: number
}

/**
 * Opens the store in its thread, and makes every other part of the server.
 * @param signal ends the start while it reads the journal
 * @param fail ends the server, whose parts these become
 * @throws ExitError
 */
export async function openParts(
  locked: LockedParts,
  signal: AbortSignal | undefined,
  fail: (message: string) => void,
): Promise<{ readonly parts: Parts; readonly frontEnds: FrontEndStart }> {
  const { config, credentials, driver, lock, log, paths, tls } = locked
  const frontEndCount = frontEndCountOf(config, driver)
  const expected = expectedResults(new Set(config['s3.extensions']))
  const metrics = MetricSlots.create(METRIC_OPERATIONS, frontEndCount + 2, expected)
  const options = { ...storeOptions(config, credentials), lockPath: lock.path }
  const starting = new Starting(locked)
  const engine = await withExitCode(() =>
    EngineThread.open(
      { dataDirectory: paths.root, options, metrics: metrics.shared, thread: frontEndCount },
      { replayed: (report) => starting.replayed(report), signal },
    ),
  ).catch(async (error: ExitError) => {
    await starting.close()
    keepRefusedStart(paths, log, error.cause)
    throw isOfOtherKey(error) ? new ExitError('masterKey', `${error.message}; ${keyAdvice(config)}`) : error
  })
  logOpening(log, engine)
  keepStart(paths, log, engine)
  // Of the front ends, and of the main thread for the management plane.
  const sharedGate = createSharedGate(frontEndCount + 1)
  const gate = new ConcurrencyGate(concurrencyLimits(config), sharedGate, frontEndCount)
  publishGate(gate, metrics.shared, frontEndCount + 1)
  const session = sessionSettings(config, credentials, engine)
  const port = engine.connect()
  const client = new PortEngineClient(port, auditBytesMaximum(config, frontEndCount))
  publishMissed(client, metrics.shared, frontEndCount + 1)
  const hashing = new HashThreads(fail)
  const counts = new CommitCounts(engine.commitCounts)
  const hasher = new BodyHashing(hashing.connect(), PIECE_BYTES, () => hashing.start())
  const store = new StoreSession(session, MAIN_THREAD, client, hasher, counts)
  const parts = {
    ...locked,
    starting,
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
    snapshots: snapshotMaker(log, config, store, session, engine.report.refusedSnapshots),
    checkpoints: checkpointWorkers(log, config, store, session),
    frontEnds: new FrontEnds(log, fail),
  }
  const settings = {
    ...frontEndSettings(config, credentials, session, metrics, sharedGate, frontEndCount),
    driver,
    commitCounts: engine.commitCounts,
    tls: tls.files('s3'),
  }
  return { parts, frontEnds: { settings, count: frontEndCount } }
}
