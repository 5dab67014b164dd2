import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'
import type { BucketPart } from './bucket-types.ts'

export function RetentionSection({ bucket, changed }: BucketPart) {
  const [editing, setEditing] = useState(false)
  const { object_lock, default_retention: retention } = bucket
  return (
    <section class="section">
      <h2>Object Lock</h2>
      <p>
        {object_lock
          ? 'Versions can be protected from deletion.'
          : 'This bucket was created without Object Lock, and cannot get it.'}
      </p>
      {object_lock ? (
        <p>
          Default retention:{' '}
          {retention === null ? 'none' : `${retention.mode}, ${retention.period.value} ${retention.period.unit}`}
        </p>
      ) : null}
      {object_lock && may(ADMINISTRATORS) ? (
        <button type="button" onClick={() => setEditing(true)}>
          Change the default retention
        </button>
      ) : null}
      {editing ? <RetentionDialog bucket={bucket} changed={changed} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

type Mode = 'none' | 'GOVERNANCE' | 'COMPLIANCE'
type Unit = 'days' | 'years'

function RetentionDialog({ bucket, changed, onClose }: BucketPart & { readonly onClose: () => void }) {
  const before = bucket.default_retention
  const [mode, setMode] = useState<Mode>(before?.mode ?? 'none')
  const [unit, setUnit] = useState<Unit>(before?.period.unit ?? 'days')
  const [value, setValue] = useState(String(before?.period.value ?? 30))
  const period = Number(value)
  const isPeriod = Number.isSafeInteger(period) && period >= 1
  const save = async () => {
    const default_retention = mode === 'none' ? null : { mode, period: { unit, value: period } }
    await call('PUT /buckets/{bucket}/default-retention', {
      path: { bucket: bucket.name },
      body: { default_retention },
    })
    say('The default retention was changed.')
    changed()
    onClose()
  }
  return (
    <FormDialog
      title="Default retention"
      verb="Save"
      ready={mode === 'none' || isPeriod}
      onClose={onClose}
      onSubmit={save}
    >
      <p>It holds for versions that are written from now on without a retention of their own.</p>
      <Choice
        label="Mode"
        value={mode}
        onChange={setMode}
        options={[
          ['none', 'None'],
          ['GOVERNANCE', 'Governance: who has the right may bypass it over S3'],
          ['COMPLIANCE', 'Compliance: nobody may bypass it'],
        ]}
      />
      {mode === 'none' ? null : (
        <div class="side-by-side">
          <Field
            label="Period"
            value={value}
            onInput={setValue}
            inputMode="numeric"
            problem={isPeriod ? undefined : 'Not a whole number of 1 or more.'}
          />
          <Choice
            label="Unit"
            value={unit}
            onChange={setUnit}
            options={[
              ['days', 'days'],
              ['years', 'years'],
            ]}
          />
        </div>
      )}
      {mode === 'COMPLIANCE' ? (
        <p class="warning">Nobody can delete such a version before its time, not even the root credential.</p>
      ) : null}
    </FormDialog>
  )
}
