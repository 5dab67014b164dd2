import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  /** Help for the input, or the fault in it. */
  readonly hint?: ComponentChildren
  readonly problem?: string | undefined
  /** Whether the input is hidden. */
  readonly secret?: boolean
  /** What a browser may fill in; `off` by default. */
  readonly autoComplete?: 'off' | 'username'
  readonly inputMode?: 'text' | 'numeric'
  readonly autofocus?: boolean
}

/** A line of text with its label. */
export function Field({ label, value, onInput, hint, problem, secret = false, ...input }: FieldProps) {
  const { autoComplete = 'off', inputMode = 'text', autofocus = false } = input
  const id = useId()
  const told = problem ?? hint
  const common = {
    id,
    value,
    autoComplete,
    inputMode,
    autofocus,
    spellcheck: false,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
    ...(problem === undefined ? {} : { 'aria-invalid': true }),
    ...(told === undefined ? {} : { 'aria-describedby': `${id}-hint` }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {secret ? <input type="password" {...common} /> : <input type="text" {...common} />}
      {told === undefined ? null : (
        <small id={`${id}-hint`} class={problem === undefined ? 'faint' : 'problem'}>
          {told}
        </small>
      )}
    </div>
  )
}

interface CheckProps {
  readonly label: ComponentChildren
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly hint?: ComponentChildren
  readonly disabled?: boolean
}

export function Check({ label, checked, onChange, hint, disabled = false }: CheckProps) {
  const id = useId()
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      <div>
        <label for={id}>{label}</label>
        {hint === undefined ? null : (
          <small id={`${id}-hint`} class="faint">
            {hint}
          </small>
        )}
      </div>
    </div>
  )
}

interface ChoiceProps<V extends string> {
  readonly label: string
  readonly value: V
  readonly options: readonly (readonly [value: V, text: string])[]
  readonly onChange: (value: V) => void
}

export function Choice<V extends string>({ label, value, options, onChange }: ChoiceProps<V>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value as V)}>
        {options.map(([option, text]) => (
          <option value={option} key={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface TextAreaProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  /** Help for the input. */
  readonly hint: string
  /** The fault in the input. */
  readonly problem: string | undefined
}

/** Lines of text with their label. */
export function TextArea({ label, value, onInput, hint, problem }: TextAreaProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={Math.max(2, value.split('\n').length)}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        {...(problem === undefined ? {} : { 'aria-invalid': true })}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <small id={`${id}-hint`} class={problem === undefined ? 'faint' : 'problem'}>
        {problem ?? hint}
      </small>
    </div>
  )
}

interface TimeFieldProps {
  readonly label: string
  /** RFC 3339, or empty. */
  readonly value: string
  readonly onInput: (value: string) => void
}

/** A time in the time zone of the browser, to the second. */
export function TimeField({ label, value, onInput }: TimeFieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        value={localOf(value)}
        onInput={(event) => onInput(rfc3339Of(event.currentTarget.value))}
      />
    </div>
  )
}

function localOf(rfc3339: string): string {
  const time = new Date(rfc3339)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function rfc3339Of(local: string): string {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}
