import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Field } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Name } from './name.tsx'

interface ConfirmByNameProps {
  readonly title: string
  readonly verb: string
  /** The text to be typed. */
  readonly name: string
  readonly onClose: () => void
  readonly onConfirm: () => Promise<void>
  /** Stops a long action before it is complete. */
  readonly onStop?: () => void
  /** Description of what will be lost. */
  readonly children: ComponentChildren
}

/** Asks for a name to be typed before something is destroyed. */
export function ConfirmByName({ title, verb, name, onClose, onConfirm, onStop, children }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={title}
      verb={verb}
      dangerous
      ready={typed === name}
      onClose={onClose}
      onSubmit={onConfirm}
      {...(onStop === undefined ? {} : { onStop })}
    >
      <div class="stack">{children}</div>
      <p>
        To confirm, type{' '}
        <strong>
          <Name of={name} />
        </strong>
      </p>
      <Field label="Name" value={typed} onInput={setTyped} autoComplete="off" />
    </FormDialog>
  )
}
