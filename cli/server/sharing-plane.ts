import { systemMilliseconds } from '../../engine/clock.ts'
import type { ConcurrencyGate } from '../../planes/http/concurrency-gate.ts'
import type { HttpHandler } from '../../planes/http/exchange.ts'
import { mounted } from '../../planes/http/mounted-handler.ts'
import { AttemptLimits } from '../../planes/sharing/attempt-limits.ts'
import type { SharingServices } from '../../planes/sharing/services.ts'
import { ShareTickets } from '../../planes/sharing/share-tickets.ts'
import { createEmbedHandler, createShareHandler, type SharingTelemetry } from '../../planes/sharing/sharing-plane.ts'
import type { StoreSession } from './store/store-session.ts'

interface SharingParts {
  readonly store: StoreSession
  /** The setting `sharing.enabled`. */
  readonly isEnabled: boolean
  readonly gate: ConcurrencyGate
  readonly telemetry: SharingTelemetry
}

/** Also where somebody escapes what needs no escape or repeats a slash: then nothing else must record the token. */
const SHARES = /^\/+(?:s|%73)(?:\/|%2f)/i
/**
 * Names of buckets have at least three characters. Shares are not here, and nothing is found below `/s/`: as the name of an
 * object their token would be in the record of the request.
 */
const EMBEDS = /^\/+(?:[es]|%65|%73)(?:\/|%2f)/i

/** A listener with shares below `/s/`. Made once: attempts at passwords are counted for all listeners together. */
export function shareHandler({ store, isEnabled, gate, telemetry }: SharingParts): (rest: HttpHandler) => HttpHandler {
  const services = {
    ...servicesOf(store, isEnabled),
    tickets: new ShareTickets(store.ticketKey),
    limits: new AttemptLimits(),
    hashing: store.passwords,
  }
  const shares = createShareHandler({ services, gate, telemetry })
  return (rest) => mounted(SHARES, shares, rest)
}

/** The S3 listener with embeds below `/e/`. */
export function withEmbeds({ store, isEnabled, gate, telemetry }: SharingParts, rest: HttpHandler): HttpHandler {
  return mounted(EMBEDS, createEmbedHandler({ services: servicesOf(store, isEnabled), gate, telemetry }), rest)
}

function servicesOf(
  { engine, catalog, payloads, capabilityTokens: tokens }: StoreSession,
  isEnabled: boolean,
): SharingServices {
  return { engine, catalog, payloads, tokens, isEnabled, clock: systemMilliseconds }
}
