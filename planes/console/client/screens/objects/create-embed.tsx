import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { LinkAddress } from './link-address.tsx'
import { type Lifetime, LifetimeChoice, type LinkTarget, secondsOf } from './link-fields.tsx'

/** Makes an address that pages show an object by. */
export function CreateEmbed({ bucket, objectKey: key, changed, onClose }: LinkTarget) {
  const settings = useLoaded((signal) => call('GET /sharing/settings', {}, signal), []).value
  const [origins, setOrigins] = useState('')
  const [lifetime, setLifetime] = useState<Lifetime>('2592000')
  const [address, setAddress] = useState<string>()
  const named = origins.split(/[\s,]+/).filter((origin) => origin !== '')
  const create = async () => {
    const body = { allowed_origins: named, expires_in_seconds: secondsOf(lifetime) }
    setAddress((await call('POST /buckets/{bucket}/object-embeds/{key}', { path: { bucket, key }, body })).url)
    changed()
  }
  if (address !== undefined) return <LinkAddress kind="embed" address={address} onClose={onClose} />
  return (
    <FormDialog
      title="Embed an object"
      verb="Make an address"
      ready={named.length > 0}
      onClose={onClose}
      onSubmit={create}
    >
      <Field
        label="Origins"
        value={origins}
        onInput={setOrigins}
        hint="Such as https://www.example.org, with spaces between them. * lets in every page."
      />
      <LifetimeChoice value={lifetime} onChange={setLifetime} maximum={settings?.maximum_lifetime_seconds ?? null} />
    </FormDialog>
  )
}
