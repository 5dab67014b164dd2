import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Name } from '../../parts/name.tsx'
import { counted, formatBytes } from '../../text/format.ts'
import { visibleText } from '../../text/visible.ts'
import { cancel, clearFinished, isOver, retry, type Upload, type UploadState, uploads } from './upload-queue.ts'

/** Rows that are shown; the rest is counted. */
const ROWS_MAXIMUM = 50

const counts = computed(() => {
  const found: Record<UploadState, number> = { waiting: 0, sending: 0, done: 0, exists: 0, failed: 0, cancelled: 0 }
  for (const { state } of uploads.value) found[state.value] += 1
  return found
})

/** Those that need somebody first, then those that are under way. */
const ORDER: readonly UploadState[] = ['failed', 'exists', 'sending', 'waiting', 'done', 'cancelled']

/** How the uploads of this tab are getting on. */
export function UploadPanel() {
  const { waiting, sending, exists, failed, done } = counts.value
  const underWay = waiting + sending
  useWarningBeforeLeaving(underWay > 0)
  if (uploads.value.length === 0) return null
  const shown = ORDER.flatMap((state) => uploads.value.filter((upload) => upload.state.value === state)).slice(
    0,
    ROWS_MAXIMUM,
  )
  return (
    <section class="uploads" aria-label="Uploads">
      <header>
        <p role="status">
          {underWay > 0 ? `${counted(underWay, 'upload')} to go` : 'Uploads are done'}, {done} sent
          {failed > 0 ? `, ${failed} failed` : ''}
          {exists > 0 ? `, ${exists} there already` : ''}
        </p>
        <p class="actions">
          {exists > 0 ? (
            <Act text="Replace all" act={() => forEach('exists', (upload) => retry(upload, true))} />
          ) : null}
          {exists > 0 ? <Act text="Keep all" act={() => forEach('exists', cancel)} /> : null}
          {failed > 0 ? <Act text="Try failed ones again" act={() => forEach('failed', retry)} /> : null}
          {waiting > 0 ? <Act text="Cancel waiting ones" act={() => forEach('waiting', cancel)} /> : null}
          {underWay === 0 ? <Act text="Close" act={clearFinished} /> : null}
        </p>
      </header>
      <ul>
        {shown.map((upload) => (
          <UploadRow upload={upload} key={upload.id} />
        ))}
        {uploads.value.length > shown.length ? <li>and {uploads.value.length - shown.length} more</li> : null}
      </ul>
    </section>
  )
}

function forEach(state: UploadState, act: (upload: Upload) => void): void {
  for (const upload of uploads.value) if (upload.state.value === state) act(upload)
}

function Act({ text, act }: { readonly text: string; readonly act: () => void }) {
  return (
    <button type="button" onClick={act}>
      {text}
    </button>
  )
}

const STATE_TEXTS: Readonly<Record<UploadState, string>> = {
  waiting: 'waits',
  sending: 'is sent',
  done: 'done',
  exists: 'There is an object of this name.',
  failed: 'failed',
  cancelled: 'cancelled',
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { key, file, state, sent, error } = upload
  const name = visibleText(key)
  return (
    <li>
      <p>
        <Name of={key} /> <span class="faint">{formatBytes(file.size)}</span>
      </p>
      {state.value === 'sending' ? (
        <progress max={Math.max(1, file.size)} value={sent.value} aria-label={`Sent of ${name}`} />
      ) : (
        <span class={state.value === 'done' ? 'good' : 'faint'}>{STATE_TEXTS[state.value]}</span>
      )}
      {error.value === undefined ? null : <ErrorBox error={error.value} />}
      <p class="actions">
        {state.value === 'exists' ? <Act text="Replace" act={() => retry(upload, true)} /> : null}
        {state.value === 'failed' ? <Act text="Try again" act={() => retry(upload)} /> : null}
        {isOver(upload) ? null : (
          <button type="button" aria-label={`Cancel ${name}`} onClick={() => cancel(upload)}>
            Cancel
          </button>
        )}
      </p>
    </li>
  )
}

/** A page that is closed takes its uploads with it. */
function useWarningBeforeLeaving(wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return undefined
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [wanted])
}
