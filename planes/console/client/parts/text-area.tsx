import { useId } from 'preact/hooks'

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
