import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { Empty, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import type { Webhook } from './bucket-types.ts'
import { CreateWebhook } from './create-webhook.tsx'
import { WebhookCard } from './webhook-card.tsx'

/** Every webhook, to which storage events are sent. */
export function WebhooksScreen(_props: ScreenProps) {
  const [creating, setCreating] = useState(false)
  const loaded = useLoaded(async (signal): Promise<readonly Webhook[]> => {
    return (await call('GET /webhooks', {}, signal)).webhooks
  }, [])
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Webhooks</h1>
        {may(ADMINISTRATORS) ? (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create a webhook
          </button>
        ) : null}
      </header>
      <Loading of={loaded}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title="Nothing is sent anywhere yet">
              <p>A webhook gets what is written and deleted, as signed requests to an address of yours.</p>
            </Empty>
          ) : (
            <ul class="cards">
              {webhooks.map((webhook) => (
                <WebhookCard webhook={webhook} changed={loaded.reload} key={webhook.id} />
              ))}
            </ul>
          )
        }
      </Loading>
      {creating ? <CreateWebhook changed={loaded.reload} onClose={() => setCreating(false)} /> : null}
    </div>
  )
}
