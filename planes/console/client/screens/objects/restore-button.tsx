import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { say, sayFailure } from '../../parts/status.tsx'

interface RestoreButtonProps {
  readonly object: { readonly bucket: string; readonly key: string; readonly version_id: string }
  readonly changed: () => void
}

/** Copies an earlier version to a new current version, so that no version is lost. */
export function RestoreButton({ object: { bucket, key, version_id }, changed }: RestoreButtonProps) {
  const [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    try {
      await call('POST /restore/{bucket}/{key}', { path: { bucket, key }, body: { version_id } })
      say('The version was restored.')
      changed()
    } catch (error) {
      sayFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button type="button" disabled={busy} onClick={() => void restore()}>
      Restore
    </button>
  )
}
