/** What sends the webhooks of a world: the code of the server, with receivers in place of its sockets. */
import { systemMilliseconds } from '../../../engine/clock.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { WebhookState } from '../../../engine/webhooks/state.ts'
import type { StoreSession } from '../../../cli/server/store/store-session.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { WebhookDelivery } from '../../../workers/webhooks/deliver-webhooks.ts'
import { DeliveryPace } from '../../../workers/webhooks/delivery-pace.ts'
import { WebhookSender } from '../../../workers/webhooks/sender.ts'
import { testEvent } from '../../../workers/webhooks/test-event.ts'
import type { Receivers } from './receivers.ts'

const TIMEOUT_MILLISECONDS = 2000
export const ATTEMPTS_MAXIMUM = 3
const RULES = { allowHttp: true, allowPrivateNetworks: true }

const clock = systemMilliseconds
const timer = () => performance.now()

export function senderOf({ webhookSecrets }: StoreSession, deploymentId: string, receivers: Receivers): WebhookSender {
  return new WebhookSender(
    {
      rules: RULES,
      timeoutMilliseconds: TIMEOUT_MILLISECONDS,
      certificates: undefined,
      secrets: webhookSecrets,
      deploymentId,
      version: '0.0.0-spec',
      clock,
      resolve: (hostname) => Promise.reject(new Error(`${hostname} is no address`)),
      ownListeners: () => [],
    },
    receivers.post,
  )
}

export function deliveryOf(
  engine: Pick<EngineClient, 'execute'>,
  { webhooks, events }: StoreSession,
  sender: WebhookSender,
  receivers: Receivers,
): WebhookDelivery {
  return new WebhookDelivery({
    engine,
    webhooks,
    read: (query) => events.read(query, serverTurns),
    sender,
    pace: new DeliveryPace(timer, () => false),
    clock,
    timer,
    onDamaged: (webhook, after, { sequence: through }) =>
      receivers.unread({ webhook, after: after?.sequence ?? 0, through }),
    maximumAttempts: ATTEMPTS_MAXIMUM,
    pollMilliseconds: 1000,
  })
}

/** The webhooks of a server that is started after its settings are given. */
export class TestedWebhooks {
  readonly rules = RULES
  sender: WebhookSender | undefined

  readonly ownFault = (): undefined => undefined

  readonly test = async (webhook: WebhookState) => {
    if (this.sender === undefined) throw new Error('a request came before the start was over')
    const { id, event } = testEvent(webhook, clock())
    const { timeMicroseconds, status, error } = await this.sender.send(webhook, event, { testId: id })
    return { event: id, timeMicroseconds, status, error }
  }
}
