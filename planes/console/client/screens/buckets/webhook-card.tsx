import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Name } from '../../parts/name.tsx'
import { say, sayFailure } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { counted } from '../../text/format.ts'
import type { Webhook } from './bucket-types.ts'
import { SigningSecret } from './create-webhook.tsx'
import { Deliveries } from './deliveries.tsx'

interface WebhookCardProps {
  readonly webhook: Webhook
  readonly changed: () => void
}

export function WebhookCard({ webhook, changed }: WebhookCardProps) {
  const { id, target_url, bucket_filter, object_prefix_filter, enabled, event_types, pending, replaying } = webhook
  const [open, setOpen] = useState(false)
  return (
    <li>
      <p>
        <strong>
          <Name of={target_url} />
        </strong>{' '}
        {enabled ? null : <span class="badge">disabled</span>} {replaying ? <span class="badge">replaying</span> : null}
      </p>
      <p class="faint">
        {counted(event_types.length, 'event type')} of{' '}
        {bucket_filter === null ? 'all buckets' : <Name of={bucket_filter} />}
        {object_prefix_filter === null ? null : (
          <>
            , keys that begin with <Name of={object_prefix_filter} />
          </>
        )}
        . {counted(pending, 'delivery', 'deliveries')} waiting. Created <Time at={webhook.created_at} />.{' '}
        <code>{id}</code>
      </p>
      <p class="actions">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          Deliveries
        </button>
        {may(ADMINISTRATORS) ? (
          <WebhookActions webhook={webhook} changed={changed} tested={() => setOpen(true)} />
        ) : null}
      </p>
      {open ? <Deliveries webhook={id} changed={changed} /> : null}
    </li>
  )
}

interface WebhookActionsProps extends WebhookCardProps {
  readonly tested: () => void
}

function WebhookActions({ webhook: { id, enabled, target_url }, changed, tested }: WebhookActionsProps) {
  const [asking, setAsking] = useState<'delete' | 'secret'>()
  const [secret, setSecret] = useState<string>()
  const path = { id }
  const test = async () => {
    const { status, error } = await call('POST /webhooks/{id}/test', { path })
    say(error === null ? `The test was answered ${status}.` : `The test failed: ${error}`)
    tested()
  }
  const toggle = async () => {
    await call('PUT /webhooks/{id}/status', { path, body: { enabled: !enabled } })
    changed()
  }
  const remove = async () => {
    await call('DELETE /webhooks/{id}', { path })
    say('The webhook was deleted.')
    changed()
  }
  const rotate = async () => {
    setSecret((await call('POST /webhooks/{id}/secret', { path })).signing_secret)
    setAsking(undefined)
  }
  return (
    <>
      <button type="button" onClick={() => void test().catch(sayFailure)}>
        Send a test
      </button>
      <button type="button" onClick={() => void toggle().catch(sayFailure)}>
        {enabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" onClick={() => setAsking('secret')}>
        New secret
      </button>
      <button type="button" class="danger" onClick={() => setAsking('delete')}>
        Delete
      </button>
      {asking === 'delete' ? (
        <ConfirmByName
          title="Delete a webhook"
          verb="Delete"
          name={new URL(target_url).host}
          onClose={() => setAsking(undefined)}
          onConfirm={remove}
        >
          <p>
            <Name of={target_url} /> gets nothing more. What waits is dropped, and the log of deliveries is gone.
          </p>
        </ConfirmByName>
      ) : null}
      {asking === 'secret' ? (
        <FormDialog title="A new signing secret" verb="Make one" onClose={() => setAsking(undefined)} onSubmit={rotate}>
          <p>The secret of now signs along for a day.</p>
        </FormDialog>
      ) : null}
      {secret === undefined ? null : <SigningSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}
