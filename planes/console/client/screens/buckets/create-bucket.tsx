import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import { Check, Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'

/** S3's rule for names of buckets; the server decides. */
const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

export function CreateBucket({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [lock, setLock] = useState(false)
  const isName = NAME.test(name)
  const create = async () => {
    await call('POST /buckets', { body: { name, object_lock: lock } })
    say(`Bucket ${name} was created.`)
    onClose()
    go(hrefOf(['buckets', name, 'objects']))
  }
  return (
    <FormDialog title="Create a bucket" verb="Create" ready={isName} onClose={onClose} onSubmit={create}>
      <Field
        label="Name"
        value={name}
        onInput={setName}
        autoComplete="off"
        hint="3 to 63 small letters, digits, hyphens and dots. It cannot be changed."
        problem={name === '' || isName ? undefined : 'Not a valid bucket name: 3 to 63 of a-z 0-9 - and dots.'}
      />
      <Check
        label="Object Lock"
        hint="Versions can be protected from deletion. It brings versioning, and cannot be turned off again."
        checked={lock}
        onChange={setLock}
      />
    </FormDialog>
  )
}
