import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'
import type { ObjectVersion } from './object-types.ts'

interface CopyObjectProps {
  readonly object: ObjectVersion
  readonly onClose: () => void
  readonly changed: () => void
}

/** Copies a version to another key or bucket, by reference. */
export function CopyObject({ object, onClose, changed }: CopyObjectProps) {
  const [bucket, setBucket] = useState(object.bucket)
  const [key, setKey] = useState(object.key)
  const isSame = bucket === object.bucket && key === object.key
  const copy = async () => {
    await call('POST /buckets/{bucket}/object-copy/{key}', {
      path: { bucket, key },
      body: { source_bucket: object.bucket, source_key: object.key, source_version_id: object.version_id },
    })
    say('The object was copied.')
    changed()
    onClose()
  }
  return (
    <FormDialog
      title="Copy an object"
      verb="Copy"
      ready={bucket !== '' && key !== '' && !isSame}
      onClose={onClose}
      onSubmit={copy}
    >
      <Field label="Bucket" value={bucket} onInput={setBucket} />
      <Field
        label="Key"
        value={key}
        onInput={setKey}
        hint={isSame ? 'Choose another key or another bucket.' : 'Replaces the object that has this key.'}
      />
    </FormDialog>
  )
}
