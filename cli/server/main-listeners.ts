import type { HttpHandler } from '../../planes/http/exchange.ts'
import type { HttpDriver } from '../../planes/http/http-driver.ts'
import { listen } from '../../planes/http/listen.ts'
import type { HttpListener, ListenOptions } from '../../planes/http/listener.ts'
import { CONSOLE_ASSETS_DIRECTORY, type ConsoleAsset, readConsoleAssets } from '../../planes/console/console-assets.ts'
import { createConsoleHandler } from '../../planes/console/console-handler.ts'
import { TICKET_PATH } from '../../planes/management/downloads/ticket-request.ts'
import { malformedRequestResponse } from '../../planes/management/responses.ts'
import type { Config } from '../config/config-types.ts'
import type { connectionLimits } from './connection-limit.ts'
import type { Logger } from './log/logger.ts'
import { refusedCounter } from './refused-connections.ts'
import type { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import type { ListenerTls } from './tls/listener-tls.ts'

/** The listeners of the main thread: management, and the console. */
type MainListener = 'api' | 'console'

interface MainListenerParts {
  readonly config: Config
  readonly driver: HttpDriver
  readonly tls: ListenerTls
  readonly log: Logger
  readonly limits: ReturnType<typeof connectionLimits>
  readonly metrics: Pick<MetricSlots, 'shared'>
  /** The region of the main thread in the metrics. */
  readonly metricsThread: number
  /** Of the management plane, which both listeners serve. */
  readonly management: HttpHandler
  /** Puts the routes of shares in front of a listener. */
  readonly withShares: (rest: HttpHandler) => HttpHandler
  /** Patience with stalling clients, and trusted proxies. */
  readonly patience: Pick<ListenOptions, 'stallTimeoutMilliseconds' | 'minimumBytes' | 'isCrowded' | 'trustedProxies'>
}

/** Starts, reloads and closes the listeners of the main thread. */
export class MainListeners {
  readonly #open = new Map<MainListener, HttpListener>()

  /** @throws Error naming host and port of a listener that fails; `close` then closes the others */
  async start(parts: MainListenerParts): Promise<void> {
    const { config, limits, management, withShares } = parts
    await this.#listen(parts, 'api', limits.management, withShares(management))
    if (!config['console.enabled']) return
    await this.#listen(parts, 'console', limits.console, withShares(consoleHandler(parts)))
  }

  async #listen(
    parts: MainListenerParts,
    name: MainListener,
    connections: number,
    handler: HttpHandler,
  ): Promise<void> {
    const { config, driver, tls, log, patience, metrics, metricsThread } = parts
    const listener = await listen({
      driver,
      ...config[`${name}.bind`],
      tls: tls.files(name),
      exclusive: true,
      connectionsMaximum: connections,
      onConnectionRefused: refusedCounter(metrics.shared, metricsThread, name),
      handler,
      refusal: malformedRequestResponse,
      ...patience,
      onHandlerError: (error) => log.error({ err: error, listener: name }, 'a response was cut off'),
    })
    this.#open.set(name, listener)
  }

  /** The actual port; undefined when it does not listen. */
  port(name: MainListener): number | undefined {
    return this.#open.get(name)?.port
  }

  /** Makes one read its certificate again; returns whether it serves a new one. */
  reload(name: MainListener): boolean {
    return this.#open.get(name)?.reloadTls() ?? false
  }

  async close(graceMilliseconds: number): Promise<void> {
    await Promise.all([...this.#open.values()].map((listener) => listener.close(graceMilliseconds)))
  }
}

/** The files of the console, and the management plane below /api/v1. */
function consoleHandler({ config, log, management }: MainListenerParts): HttpHandler {
  const assets = readAssets(log)
  const requests = config['log.requests']
  return createConsoleHandler({
    assets,
    mounts: ['/api/v1/', TICKET_PATH].map((path) => ({ path, handler: management })),
    observe: (exchange) => {
      if (requests === 'all' || (requests === 'errors' && exchange.status >= 400)) log.info(exchange, 'console request')
    },
  })
}

function readAssets(log: Logger): ReadonlyMap<string, ConsoleAsset> {
  const assets = readConsoleAssets(CONSOLE_ASSETS_DIRECTORY)
  if (assets.size === 0) log.warn('the console was not built, so its port serves no pages: npm run build')
  return assets
}
