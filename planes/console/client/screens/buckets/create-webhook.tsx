import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Check, Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Secret } from '../../parts/copy-button.tsx'
import type { Webhook } from './bucket-types.ts'

type EventType = Webhook['event_types'][number]

/** Descriptions of event types. */
const EVENT_TEXTS: Readonly<Record<EventType, string>> = {
  'bucket.created': 'A bucket was created',
  'bucket.deleted': 'A bucket was deleted',
  'object.created': 'An object was written',
  'object.updated': 'An object was overwritten',
  'object.deleted': 'An object or a version was deleted',
  'object.restored': 'An earlier version was restored',
  'multipart.completed': 'A multipart upload was completed',
  'multipart.aborted': 'A multipart upload was aborted',
  'object.tagged': 'Tags were set',
  'object.untagged': 'Tags were removed',
}
const EVENT_TYPES = Object.keys(EVENT_TEXTS) as EventType[]

interface CreateWebhookProps {
  readonly changed: () => void
  readonly onClose: () => void
}

export function CreateWebhook({ changed, onClose }: CreateWebhookProps) {
  const [target, setTarget] = useState('')
  const [types, setTypes] = useState<readonly EventType[]>(EVENT_TYPES)
  const [bucket, setBucket] = useState('')
  const [prefix, setPrefix] = useState('')
  const [secret, setSecret] = useState<string>()
  const create = async () => {
    const filters = {
      bucket_filter: bucket === '' ? null : bucket,
      object_prefix_filter: prefix === '' ? null : prefix,
    }
    const created = await call('POST /webhooks', { body: { target_url: target, event_types: types, ...filters } })
    setSecret(created.signing_secret)
    changed()
  }
  if (secret !== undefined) return <SigningSecret secret={secret} onClose={onClose} />
  const toggle = (type: EventType, wanted: boolean) => {
    setTypes(EVENT_TYPES.filter((each) => (each === type ? wanted : types.includes(each))))
  }
  return (
    <FormDialog
      title="Create a webhook"
      verb="Create"
      ready={target !== '' && types.length > 0}
      onClose={onClose}
      onSubmit={create}
    >
      <Field label="Address" value={target} onInput={setTarget} hint="https://… on a public address." />
      <Field label="Bucket" value={bucket} onInput={setBucket} hint="Empty: all buckets." />
      <Field label="Prefix of keys" value={prefix} onInput={setPrefix} hint="Empty: all keys." />
      <fieldset>
        <legend>Events</legend>
        {EVENT_TYPES.map((type) => (
          <Check
            key={type}
            label={EVENT_TEXTS[type]}
            checked={types.includes(type)}
            onChange={(wanted) => toggle(type, wanted)}
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}

/** The secret that signs deliveries, shown only once. */
export function SigningSecret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The signing secret" onClose={onClose}>
      <p>The receiver checks signatures with it. It is not shown again.</p>
      <Secret label="Signing secret" value={secret} />
      <footer class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  )
}
