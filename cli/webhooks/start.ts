/** Puts together what sends webhooks. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { systemMilliseconds } from '../../engine/clock.ts'
import type { WebhookState } from '../../engine/webhooks/state.ts'
import type { TargetRules } from '../../engine/webhooks/target.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { busyMachine } from '../../workers/webhooks/busy-machine.ts'
import { WebhookDelivery } from '../../workers/webhooks/deliver-webhooks.ts'
import { DeliveryPace } from '../../workers/webhooks/delivery-pace.ts'
import { systemResolver } from '../../workers/webhooks/resolver.ts'
import { WebhookSender } from '../../workers/webhooks/sender.ts'
import { testEvent } from '../../workers/webhooks/test-event.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Address, Config } from '../config/config-types.ts'
import type { Logger } from '../server/log/logger.ts'
import { packageVersion } from '../version.ts'
import type { StoreSession } from '../server/store/store-session.ts'

/**
 * Certificates of authorities that targets are trusted by, in addition to Node.js's, as PEM.
 * @throws ConfigError
 */
export function targetCertificates(config: Config): string | undefined {
  const file = config['webhooks.ca_file']
  if (file === undefined) return undefined
  try {
    const text = readFileSync(file, 'utf8')
    // Throws when there is no certificate in it.
    new X509Certificate(text).checkHost('')
    return text
  } catch (error) {
    throw new ConfigError([`webhooks.ca_file: ${(error as Error).message}`])
  }
}

/** Milliseconds of a clock that is never set. */
function timer(): number {
  return performance.now()
}

/** Sends webhooks, and delivers events with them. */
export class Webhooks {
  readonly rules: TargetRules
  readonly delivery: WebhookDelivery
  readonly #sender: WebhookSender

  /** @param ownListeners where this server listens, when something is sent */
  constructor(
    log: Logger,
    config: Config,
    store: StoreSession,
    deploymentId: string,
    ownListeners: () => readonly Address[],
  ) {
    this.rules = {
      allowHttp: config['webhooks.allow_http'],
      allowPrivateNetworks: config['webhooks.allow_private_networks'],
    }
    this.#sender = new WebhookSender({
      rules: this.rules,
      timeoutMilliseconds: config['webhooks.request_timeout_seconds'] * 1000,
      certificates: targetCertificates(config),
      secrets: store.webhookSecrets,
      deploymentId,
      version: packageVersion(),
      clock: systemMilliseconds,
      resolve: systemResolver(),
      ownListeners,
    })
    this.delivery = new WebhookDelivery({
      engine: store.engine,
      webhooks: store.webhooks,
      read: (query) => store.events.read(query, serverTurns),
      sender: this.#sender,
      pace: new DeliveryPace(timer, busyMachine({ timer, records: () => store.events.head.sequence })),
      clock: systemMilliseconds,
      timer,
      onDamaged: (webhook, after, through) =>
        log.error(
          { webhook, after: after?.sequence, through: through.sequence },
          'a part of the journal between these entries cannot be read: the webhook may miss events of it',
        ),
      maximumAttempts: config['webhooks.maximum_attempts'],
      pollMilliseconds: config['webhooks.poll_interval_seconds'] * 1000,
    })
  }

  /** Why a target is refused that is this server itself; undefined for another. */
  ownFault(target: string): string | undefined {
    return this.#sender.ownFault(target)
  }

  /** Sends a made-up event to a webhook, once. */
  async test(webhook: WebhookState) {
    const { id, event } = testEvent(webhook, systemMilliseconds())
    const { timeMicroseconds, status, error } = await this.#sender.send(webhook, event, { testId: id })
    return { event: id, timeMicroseconds, status, error }
  }
}
