import { signal } from '@preact/signals'
import { asApiError } from '../api/api-error.ts'
import { ErrorBox } from './error-box.tsx'

interface Message {
  readonly id: number
  readonly text: string
  readonly error?: unknown
}

/** How long a success is shown; a failure stays until it is dismissed. */
const SHOWN_MILLISECONDS = 6000
const MESSAGES_MAXIMUM = 4

const messages = signal<readonly Message[]>([])
let lastId = 0

function show(message: Omit<Message, 'id'>): number {
  lastId += 1
  messages.value = [...messages.value, { ...message, id: lastId }].slice(-MESSAGES_MAXIMUM)
  return lastId
}

function dismiss(id: number): void {
  messages.value = messages.value.filter((message) => message.id !== id)
}

/** Says that something was done. */
export function say(text: string): void {
  const id = show({ text })
  setTimeout(() => dismiss(id), SHOWN_MILLISECONDS)
}

/** Says that something failed, unless it was aborted on purpose. */
export function sayFailure(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return
  show({ text: asApiError(error).message, error })
}

/** The live region of messages; present from the start, so that screen readers announce them. */
export function StatusRegion() {
  return (
    <div class="status-region" role="status" aria-live="polite">
      {messages.value.map(({ id, text, error }) => (
        <div class="message" key={id}>
          {error === undefined ? <p>{text}</p> : <ErrorBox error={error} />}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
