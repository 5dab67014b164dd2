import { listen } from '../../planes/http/listen.ts'
import type { HttpListener } from '../../planes/http/listener.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import { malformedRequestResponse } from '../../planes/management/responses.ts'
import { startingHandler, type StartProgress } from '../../planes/management/starting.ts'
import { malformedRequestResponse as malformedS3Response } from '../../planes/s3/documents/error-response.ts'
import { startingS3Handler } from '../../planes/s3/starting.ts'
import type { Config } from '../config/config-types.ts'
import { connectionLimits } from './connection-limit.ts'
import type { Logger } from './log/logger.ts'
import type { ReplayReport } from './store/opened-store.ts'
import { clientSettings } from './threads/thread-settings.ts'
import type { ListenerTls } from './tls/listener-tls.ts'

interface StartingParts {
  readonly config: Config
  readonly driver: HttpDriver
  readonly tls: ListenerTls
  readonly log: Logger
}

const NAMES = ['s3', 'api', 'console'] as const
type StartingName = (typeof NAMES)[number]

/** A replay that is shorter is over before anybody asks. */
const RECORDS_LEAST = 50_000
const LOG_MILLISECONDS = 5000
const RETRY_SECONDS = { least: 1, most: 30 } as const

/**
 * What the server says while its start reads a long journal: a line of the log every 5 s, and on every address an answer that
 * names how far it is, so that nothing takes it for dead. Each of these listeners closes when the server itself listens there.
 */
export class Starting {
  readonly #parts: StartingParts
  readonly #listeners = new Map<StartingName, HttpListener>()
  #opening: Promise<void> | undefined
  #first: { readonly done: number; readonly at: number } | undefined
  #last: ReplayReport = { done: 0, total: 0 }
  #loggedAt = 0

  constructor(parts: StartingParts) {
    this.#parts = parts
  }

  /** Takes how far the start is. */
  replayed(report: ReplayReport): void {
    const now = performance.now()
    this.#last = report
    if (report.total - report.done >= RECORDS_LEAST) this.#opening ??= this.#open()
    if (this.#opening === undefined) return
    if (this.#first !== undefined && now - this.#loggedAt < LOG_MILLISECONDS) return
    this.#first ??= { done: report.done, at: now }
    this.#loggedAt = now
    const { done: records, total } = report
    this.#parts.log.info({ records, total, secondsLeft: this.#secondsLeft() }, 'the start reads the journal')
  }

  /** Resolves when the addresses answer; undefined where none does. */
  get opened(): Promise<void> | undefined {
    return this.#opening
  }

  /** Closes what listens under a name, or everything. */
  async close(...names: readonly StartingName[]): Promise<void> {
    await this.#opening
    const closing = names.length === 0 ? NAMES : names
    await Promise.all(closing.map((name) => this.#listeners.get(name)?.close(0)))
    for (const name of closing) this.#listeners.delete(name)
  }

  /** Undefined before anything was read. */
  #secondsLeft(): number | undefined {
    const { done, total } = this.#last
    const read = done - (this.#first?.done ?? done)
    if (read <= 0) return undefined
    return Math.ceil(((total - done) * (performance.now() - (this.#first?.at ?? 0))) / read / 1000)
  }

  #progress(): StartProgress {
    const { done, total } = this.#last
    const left = this.#secondsLeft()
    const sentence = `The start reads the journal: ${done} of ${total} records`
    const { least, most } = RETRY_SECONDS
    return {
      sentence: left === undefined ? sentence : `${sentence}, about ${left} s left`,
      retryAfterSeconds: Math.min(most, Math.max(least, left ?? most)),
    }
  }

  /** An address that cannot be listened on is no reason to stop the start, which finds that out itself. */
  async #open(): Promise<void> {
    const { config } = this.#parts
    const names = config['console.enabled'] ? NAMES : NAMES.filter((name) => name !== 'console')
    await Promise.all(names.map((name) => this.#listen(name)))
  }

  async #listen(name: StartingName): Promise<void> {
    const { config, driver, tls, log } = this.#parts
    const { host, port } = config[`${name}.bind`]
    // Any free port: clients learn it from the log of the started server.
    if (port === 0) return
    const limits = connectionLimits(1)
    const progress = () => this.#progress()
    try {
      const listener = await listen({
        driver,
        host,
        port,
        tls: tls.files(name),
        exclusive: true,
        connectionsMaximum: { s3: limits.frontEnd, api: limits.management, console: limits.console }[name],
        handler: name === 's3' ? startingS3Handler(progress) : startingHandler(progress),
        refusal: name === 's3' ? malformedS3Response : malformedRequestResponse,
        ...clientSettings(config),
      })
      this.#listeners.set(name, listener)
    } catch (error) {
      log.warn({ err: error, listener: name }, 'nothing answers here while the server starts')
    }
  }
}
