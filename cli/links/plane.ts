import type { ConcurrencyGate } from '../../planes/http/limits/concurrency-gate.ts'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import type { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { mounted } from '../../planes/http/mounted-handler.ts'
import { AttemptLimits } from '../../planes/links/attempt-limits.ts'
import type { SharingServices } from '../../planes/links/services.ts'
import { ShareTickets } from '../../planes/links/share-tickets.ts'
import { createEmbedHandler, createShareHandler, type SharingTelemetry } from '../../planes/links/sharing-plane.ts'
import type { Config } from '../config/config-types.ts'
import type { Logger } from '../server/log/logger.ts'
import { SharingCounters } from './telemetry.ts'
import type { RequestLines } from '../server/log/request-lines.ts'
import type { StoreSession } from '../server/store/store-session.ts'

/** The parts in the main thread. */
interface MainParts {
  readonly config: Config
  readonly store: StoreSession
  readonly gate: ConcurrencyGate
  readonly metrics: MetricSlots
  /** The region of the main thread in the metrics. */
  readonly metricsThread: number
  readonly log: Logger
  readonly requestLines: RequestLines | undefined
}

interface EmbedParts {
  readonly store: StoreSession
  /** The setting `sharing.enabled`. */
  readonly isEnabled: boolean
  readonly gate: ConcurrencyGate
  readonly telemetry: SharingTelemetry
}

/** Also with needless escapes or repeated slashes, so that no other listener records the token. */
const SHARES = /^\/+(?:s|%73)(?:\/|%2f)/i
/**
 * Names of buckets have at least three characters. Shares are not here, and nothing is found below `/s/`: as the name of an
 * object their token would be in the record of the request.
 */
const EMBEDS = /^\/+(?:[es]|%65|%73)(?:\/|%2f)/i

/** A listener with shares below `/s/`. Made once: attempts at passwords are counted for all listeners together. */
export function shareHandler(parts: MainParts): (rest: HttpHandler) => HttpHandler {
  const { config, store, gate, metrics, metricsThread, log, requestLines } = parts
  const services = {
    ...servicesOf(store, config['sharing.enabled']),
    tickets: new ShareTickets(store.ticketKey),
    limits: new AttemptLimits(),
    hashing: store.passwords,
  }
  const logs = { faults: log, requests: requestLines }
  const telemetry = new SharingCounters(metrics.shared, metricsThread, logs, config['log.requests'])
  const shares = createShareHandler({ services, gate, telemetry })
  return (rest) => mounted(SHARES, shares, rest)
}

/** The S3 listener with embeds below `/e/`. */
export function withEmbeds({ store, isEnabled, gate, telemetry }: EmbedParts, rest: HttpHandler): HttpHandler {
  return mounted(EMBEDS, createEmbedHandler({ services: servicesOf(store, isEnabled), gate, telemetry }), rest)
}

function servicesOf(
  { engine, catalog, payloads, capabilityTokens: tokens, expiryClock }: StoreSession,
  isEnabled: boolean,
): SharingServices {
  return { engine, catalog, payloads, tokens, isEnabled, expiryClock }
}
