import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'
import { formatBytes, formatCount, parseBytes } from '../../text/format.ts'
import type { BucketPart, Quota } from './bucket-types.ts'

const EMPTY_HINT = 'Empty: no limit.'

export function QuotaSection({ bucket, changed }: BucketPart) {
  const [editing, setEditing] = useState(false)
  const { bytes, objects } = limitsOf(bucket.quota)
  return (
    <section class="section">
      <h2>Quota</h2>
      <Limit label="Bytes" used={bucket.usage.bytes} limit={bytes} format={formatBytes} />
      <Limit label="Objects" used={bucket.usage.objects} limit={objects} format={formatCount} />
      {may(ADMINISTRATORS) ? (
        <button type="button" onClick={() => setEditing(true)}>
          Change the quota
        </button>
      ) : null}
      {editing ? <QuotaDialog bucket={bucket} changed={changed} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

/** The members of a quota that are numbers; undefined is unlimited. */
function limitsOf({ bytes, objects }: Quota): {
  readonly bytes: number | undefined
  readonly objects: number | undefined
} {
  return {
    bytes: bytes.mode === 'limit' ? Number(bytes.bytes) : undefined,
    objects: objects.mode === 'limit' ? Number(objects.objects) : undefined,
  }
}

interface LimitProps {
  readonly label: string
  readonly used: number
  readonly limit: number | undefined
  readonly format: (value: number) => string
}

function Limit({ label, used, limit, format }: LimitProps) {
  if (limit === undefined) {
    return (
      <p>
        {label}: {format(used)} <span class="faint">no limit</span>
      </p>
    )
  }
  return (
    <p>
      <label>
        {label}: {format(used)} of {format(limit)}
        <meter min={0} max={Math.max(1, limit)} high={limit * 0.8} value={used} />
      </label>
    </p>
  )
}

function QuotaDialog({ bucket, changed, onClose }: BucketPart & { readonly onClose: () => void }) {
  const limits = limitsOf(bucket.quota)
  const [bytes, setBytes] = useState(limits.bytes === undefined ? '' : formatBytes(limits.bytes))
  const [objects, setObjects] = useState(limits.objects === undefined ? '' : String(limits.objects))
  const bytesValue =
    bytes.trim() === '' ? undefined : bytes === formatBytes(limits.bytes ?? -1) ? limits.bytes : parseBytes(bytes)
  const objectsValue = objects.trim() === '' ? undefined : Number(objects)
  const bytesProblem = bytes.trim() !== '' && bytesValue === undefined ? 'Not a size, such as 10 GiB.' : undefined
  const objectsProblem =
    objectsValue !== undefined && !(Number.isSafeInteger(objectsValue) && objectsValue >= 0)
      ? 'Not a whole number.'
      : undefined
  const save = async () => {
    const quota = {
      bytes:
        bytesValue === undefined ? ({ mode: 'unlimited' } as const) : { mode: 'limit' as const, bytes: bytesValue },
      objects:
        objectsValue === undefined
          ? ({ mode: 'unlimited' } as const)
          : { mode: 'limit' as const, objects: objectsValue },
    }
    await call('PUT /buckets/{bucket}/quota', { path: { bucket: bucket.name }, body: { quota } })
    say('The quota was changed.')
    changed()
    onClose()
  }
  return (
    <FormDialog
      title="Quota"
      verb="Save"
      ready={bytesProblem === undefined && objectsProblem === undefined}
      onClose={onClose}
      onSubmit={save}
    >
      <p>Uploads that would pass a limit are refused. Existing objects stay.</p>
      <Field
        label="Bytes"
        value={bytes}
        onInput={setBytes}
        hint={`Such as 10 GiB. ${EMPTY_HINT}`}
        problem={bytesProblem}
      />
      <Field
        label="Objects"
        value={objects}
        onInput={setObjects}
        inputMode="numeric"
        hint={EMPTY_HINT}
        problem={objectsProblem}
      />
    </FormDialog>
  )
}
