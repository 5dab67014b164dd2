import { useId } from 'preact/hooks'

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
