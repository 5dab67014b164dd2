import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { ErrorBox } from './error-box.tsx'

interface FormDialogProps {
  readonly title: string
  /** Text of the button: a verb. */
  readonly verb: string
  readonly dangerous?: boolean
  /** False while the form cannot be sent yet. */
  readonly ready?: boolean
  readonly onClose: () => void
  /** Performs the action. A rejection is shown in the dialog, which stays open with its input. */
  readonly onSubmit: () => Promise<void>
  /** Stops a long action; without it the dialog waits for the end. */
  readonly onStop?: () => void
  readonly children: ComponentChildren
}

/** A dialog with a form that is sent once at a time. */
export function FormDialog(props: FormDialogProps) {
  const { title, verb, dangerous = false, ready = true, onClose, onSubmit, onStop, children } = props
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} busy={busy} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !busy) void submit()
        }}
      >
        {children}
        {error === undefined ? null : <ErrorBox error={error} />}
        <footer class="actions">
          <button type="button" disabled={busy && onStop === undefined} onClick={busy ? onStop : onClose}>
            {busy && onStop !== undefined ? 'Stop' : 'Cancel'}
          </button>
          <button type="submit" class={dangerous ? 'danger' : 'primary'} disabled={!ready || busy}>
            {busy ? 'Working…' : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
