import { useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { Field } from '../../../parts/field.tsx'
import { FormDialog } from '../../../parts/form-dialog.tsx'
import { useLoaded } from '../../../parts/use-loaded.ts'
import { LinkAddress } from './link-address.tsx'
import { type Lifetime, LifetimeChoice, type LinkTarget, secondsOf } from './link-fields.tsx'

/** Fewest characters that the server takes. */
const PASSWORD_MINIMUM = 8

/** Makes a link that people download an object by. */
export function CreateShare({ bucket, objectKey: key, changed, onClose }: LinkTarget) {
  const settings = useLoaded((signal) => call('GET /sharing/settings', {}, signal), []).value
  const [lifetime, setLifetime] = useState<Lifetime>('86400')
  const [password, setPassword] = useState('')
  const [most, setMost] = useState('')
  const [address, setAddress] = useState<string>()
  const maximum = most.trim() === '' ? null : Number(most)
  const isMaximum = maximum === null || (Number.isSafeInteger(maximum) && maximum >= 1)
  const isPassword = password.length >= PASSWORD_MINIMUM
  const needsPassword = settings?.require_password === true
  const create = async () => {
    const limits = { expires_in_seconds: secondsOf(lifetime), maximum_downloads: maximum }
    const body = password === '' ? limits : { ...limits, password }
    setAddress((await call('POST /buckets/{bucket}/object-shares/{key}', { path: { bucket, key }, body })).url)
    changed()
  }
  if (address !== undefined) return <LinkAddress kind="share" address={address} onClose={onClose} />
  return (
    <FormDialog
      title="Share an object"
      verb="Make a link"
      ready={isMaximum && (password === '' ? !needsPassword : isPassword)}
      onClose={onClose}
      onSubmit={create}
    >
      <p>Whoever has the link can download what this key holds, without an account.</p>
      <LifetimeChoice value={lifetime} onChange={setLifetime} maximum={settings?.maximum_lifetime_seconds ?? null} />
      <Field
        label="Password"
        secret
        value={password}
        onInput={setPassword}
        hint={needsPassword ? 'This store asks for one.' : 'Empty: none. Send it another way than the link.'}
        problem={password === '' || isPassword ? undefined : `At least ${PASSWORD_MINIMUM} characters.`}
      />
      <Field
        label="Downloads at most"
        value={most}
        onInput={setMost}
        inputMode="numeric"
        hint="Empty: as many as come."
        problem={isMaximum ? undefined : 'Not a whole number of 1 or more.'}
      />
    </FormDialog>
  )
}
