import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { say } from '../../parts/status.tsx'
import { TimeField } from '../../parts/field.tsx'

interface ReplayProps {
  readonly webhook: string
  readonly changed: () => void
}

/** Requests that the events of a time range are delivered again. */
export function Replay({ webhook, changed }: ReplayProps) {
  const [asking, setAsking] = useState(false)
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const close = () => setAsking(false)
  const replay = async () => {
    const body = { since, ...(until !== '' && { until }) }
    await call('POST /webhooks/{id}/replay', { path: { id: webhook }, body })
    say('The replay has begun.')
    close()
    changed()
  }
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Replay
      </button>
      {asking ? (
        <FormDialog title="Replay events" verb="Replay" ready={since !== ''} onClose={close} onSubmit={replay}>
          <p>What happened in this time is delivered once more, under the same ids of events.</p>
          <TimeField label="From" value={since} onInput={setSince} />
          <TimeField label="Until, or now" value={until} onInput={setUntil} />
        </FormDialog>
      ) : null}
    </>
  )
}
