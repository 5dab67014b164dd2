import { useState } from 'preact/hooks'
import { type Answer, call } from '../../../api/call.ts'
import { Field } from '../../../parts/field.tsx'
import { FormDialog } from '../../../parts/form-dialog.tsx'
import { say } from '../../../parts/status.tsx'
import { useLoaded } from '../../../parts/use-loaded.ts'
import { LinkAddress } from './link-address.tsx'
import { type Lifetime, LifetimeChoice, type LinkTarget, secondsOf } from './link-fields.tsx'

const CACHE_SECONDS_MAXIMUM = 3600

/** Makes an address that pages show an object by. */
export function CreateEmbed({ bucket, objectKey: key, changed, onClose }: LinkTarget) {
  const [address, setAddress] = useState<string>()
  const create = async (body: EmbedSettings) => {
    setAddress((await call('POST /buckets/{bucket}/object-embeds/{key}', { path: { bucket, key }, body })).url)
    changed()
  }
  if (address !== undefined) return <LinkAddress kind="embed" address={address} onClose={onClose} />
  return <EmbedForm title="Embed an object" verb="Make an address" onClose={onClose} onSubmit={create} />
}

interface ChangeEmbedProps extends Pick<LinkTarget, 'changed' | 'onClose'> {
  readonly embed: Answer<'GET /embeds/{id}'>
}

/** Changes who may show it, and for how long. The address stays. */
export function ChangeEmbed({ embed, changed, onClose }: ChangeEmbedProps) {
  const change = async (body: EmbedSettings) => {
    await call('PATCH /embeds/{id}', { path: { id: embed.id }, body })
    say('The link was changed.')
    changed()
    onClose()
  }
  return <EmbedForm title="Change an embed" verb="Change" embed={embed} onClose={onClose} onSubmit={change} />
}

interface EmbedSettings {
  readonly allowed_origins: string[]
  readonly cache_seconds: number
  /** Left out: as it is. */
  readonly expires_in_seconds?: number | null
}

interface EmbedFormProps {
  readonly title: string
  readonly verb: string
  /** Undefined for a new one. */
  readonly embed?: ChangeEmbedProps['embed']
  readonly onClose: () => void
  readonly onSubmit: (settings: EmbedSettings) => Promise<void>
}

function EmbedForm({ title, verb, embed, onClose, onSubmit }: EmbedFormProps) {
  const settings = useLoaded((signal) => call('GET /sharing/settings', {}, signal), []).value
  const [origins, setOrigins] = useState(embed?.allowed_origins.join(' ') ?? '')
  const [lifetime, setLifetime] = useState<Lifetime>(embed === undefined ? '2592000' : 'kept')
  const [cache, setCache] = useState(String(embed?.cache_seconds ?? 60))
  const named = origins.split(/[\s,]+/).filter((origin) => origin !== '')
  const seconds = /^\d{1,4}$/.test(cache) ? Number(cache) : Number.POSITIVE_INFINITY
  const submit = () => {
    const expiry = lifetime === 'kept' ? {} : { expires_in_seconds: secondsOf(lifetime) }
    return onSubmit({ allowed_origins: named, cache_seconds: seconds, ...expiry })
  }
  return (
    <FormDialog
      title={title}
      verb={verb}
      ready={named.length > 0 && seconds <= CACHE_SECONDS_MAXIMUM}
      onClose={onClose}
      onSubmit={submit}
    >
      <Field
        label="Origins"
        value={origins}
        onInput={setOrigins}
        hint="Such as https://www.example.org, with spaces between them. * lets in every page."
      />
      <Field
        label="Caches may keep it, in seconds"
        value={cache}
        onInput={setCache}
        inputMode="numeric"
        hint="At most 3600. What they keep outlives a change and a revocation by so much."
      />
      <LifetimeChoice
        value={lifetime}
        onChange={setLifetime}
        maximum={settings?.maximum_lifetime_seconds ?? null}
        keeps={embed !== undefined}
      />
    </FormDialog>
  )
}
