import { type RunningWorkers, startWorkers } from './background-workers.ts'
import { ClockWatch } from './clock-watch.ts'
import { CertificateReload, logCertificates } from './tls/certificate-reload.ts'
import { connectionLimits } from './connection-limit.ts'
import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { putBack } from '../../projections/next-projections.ts'
import { formatAddress } from '../config/address.ts'
import type { Address } from '../config/config-types.ts'
import { exitOfError } from './engine-exit.ts'
import { ExitError, type ExitName, exitTable } from '../exit-codes.ts'
import { logRecount, logRoom, logUnrecorded } from './log/engine-log.ts'
import { type TlsListener, tlsListeners } from './tls/listener-tls.ts'
import { MainListeners } from './main-listeners.ts'
import { managementHandler } from './management-plane.ts'
import { workerCounters } from './metrics/worker-values.ts'
import { Readiness } from './readiness.ts'
import { degradationSources } from './degradations.ts'
import type { RunningServer } from './running-server.ts'
import { shareHandler } from '../links/plane.ts'
import { RefusedConnectionsWatch } from './refused-connections.ts'
import { closeQuietly } from './store/opened-parts.ts'
import { SpaceWatch } from './space-watch.ts'
import { sharingSettings } from '../links/addresses.ts'
import { Webhooks } from '../webhooks/start.ts'
import { giveBackMemorySoon } from '../../engine/give-back-memory.ts'
import { FrontEndWatch } from './threads/front-end-watch.ts'
import type { FrontEndSettings } from './threads/front-ends.ts'
import { clientSettings } from './threads/thread-settings.ts'
import type { Parts } from './server-parts.ts'

/** Time for front ends to answer waiting requests with 503 after the engine has failed. */
const FAILURE_GRACE_MILLISECONDS = 1000

/** Of the grace period, at most half, for all that comes after the requests: the clean end of the journal, above all. */
const CLOSE_MILLISECONDS = 2000

/** A server that starts, runs and stops. */
export class Server implements RunningServer {
  readonly ended: Promise<number>
  readonly deploymentId: string
  readonly #parts: Parts
  #resolveEnded: (code: number) => void = () => undefined
  readonly #certificateReload: CertificateReload
  readonly #spaceWatch: SpaceWatch
  readonly #clockWatch: ClockWatch
  readonly #refusedWatch: RefusedConnectionsWatch
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
    this.#refusedWatch = new RefusedConnectionsWatch(parts.log, parts.metrics)
    this.#spaceWatch = new SpaceWatch(parts.log, parts.store.space)
    this.#clockWatch = new ClockWatch(parts.log, {
      clock: systemMilliseconds,
      expiryClock: parts.store.expiryClock,
      toleranceSeconds: parts.config['object_lock.clock_backwards_tolerance_seconds'],
    })
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
    await this.#parts.starting.close('s3')
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
    const { metrics, metricsThread } = this.#parts
    const listening = { config, driver, tls, log, limits, management, withShares, patience, metrics, metricsThread }
    await this.#parts.starting.close()
    await this.#listeners.start(listening)
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
    const failure = new ExitError(exit, message)
    this.#failure = failure
    if (!this.#hasStarted) return
    this.stop().catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'a part of the failed server could not be closed')
      this.#resolveEnded(failure.exitCode)
    })
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
    this.#clockWatch.stop()
    this.#refusedWatch.stop()
    this.#frontEndWatch?.stop()
    const deadline = performance.now() + graceMilliseconds
    const drainMilliseconds = graceMilliseconds - Math.min(CLOSE_MILLISECONDS, graceMilliseconds / 2)
    const stuck = await frontEnds.stop(drainMilliseconds)
    if (stuck.length > 0) this.#failure ??= new ExitError('frontEndStuck', `${stuck.join(', ')} did not stop`)
    await this.#parts.starting.close()
    await this.#listeners.close(Math.max(0, deadline - performance.now()))
    await this.#workers?.stop()
    store.closePayloads()
    await hashing.stop()
    client.flush()
    port.close()
    logUnrecorded(log, await engine.stop())
    await store.close()
    if (!this.#hasStarted) await closeQuietly({ close: () => putBack(nodeDisk, store.paths) })
    await lock.release()
    this.#resolveEnded(this.#failure?.exitCode ?? exitTable.ok.code)
  }

  /** Where a listener is bound, with its actual port. */
  #bound(listener: TlsListener): Address {
    const port = listener === 's3' ? this.#parts.frontEnds.port : (this.#listeners.port(listener) ?? 0)
    return { ...this.#parts.config[`${listener}.bind`], port }
  }
}
