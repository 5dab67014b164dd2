import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'
import type { BucketPart } from './bucket-types.ts'

const TEXTS = {
  off: 'Off: overwriting or deleting an object cannot be undone.',
  enabled: 'Enabled: overwriting and deleting keeps the versions before.',
  suspended: 'Suspended: new objects have no versions; the ones that are there stay.',
} as const

export function VersioningSection({ bucket, changed }: BucketPart) {
  const [asking, setAsking] = useState(false)
  const { name, versioning, object_lock } = bucket
  const status = versioning === 'enabled' ? 'Suspended' : 'Enabled'
  const verb = versioning === 'enabled' ? 'Suspend versioning' : 'Enable versioning'
  const change = async () => {
    await call('PUT /buckets/{bucket}/versioning', { path: { bucket: name }, body: { status } })
    say(versioning === 'enabled' ? 'Versioning is suspended.' : 'Versioning is enabled.')
    changed()
    setAsking(false)
  }
  return (
    <section class="section">
      <h2>Versioning</h2>
      <p>{TEXTS[versioning]}</p>
      {object_lock ? <p class="faint">Object Lock needs versioning: it cannot be suspended here.</p> : null}
      {may(ADMINISTRATORS) && !object_lock ? (
        <button type="button" onClick={() => setAsking(true)}>
          {verb}
        </button>
      ) : null}
      {asking ? (
        <FormDialog title={verb} verb={verb} onClose={() => setAsking(false)} onSubmit={change}>
          <p>
            {versioning === 'enabled'
              ? 'From now on an object that is overwritten is lost. Earlier versions stay until they are deleted.'
              : 'From now on every version is kept, and takes space. It can be suspended, but never be off again.'}
          </p>
        </FormDialog>
      ) : null}
    </section>
  )
}
