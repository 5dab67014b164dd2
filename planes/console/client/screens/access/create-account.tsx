import { useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import { Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { IssuedCredential } from './issued-credential.tsx'

interface CreateAccountProps {
  readonly changed: () => void
  readonly onClose: () => void
}

type Created = Answer<'POST /service-accounts'>

/** Creates an account with its first credential, then opens it, since it needs a policy to do anything. */
export function CreateAccount({ changed, onClose }: CreateAccountProps) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [created, setCreated] = useState<Created>()
  if (created !== undefined) {
    const leave = () => {
      onClose()
      go(hrefOf(['access', 'accounts', created.account.id]))
    }
    return <IssuedCredential issued={created.credential} onClose={leave} />
  }
  const create = async () => {
    setCreated(await call('POST /service-accounts', { body: { name, description } }))
    changed()
  }
  return (
    <FormDialog title="Create a service account" verb="Create" ready={name !== ''} onClose={onClose} onSubmit={create}>
      <Field label="Name" value={name} onInput={setName} autofocus />
      <Field label="Description" value={description} onInput={setDescription} hint="What it is for, and whom to ask." />
    </FormDialog>
  )
}
