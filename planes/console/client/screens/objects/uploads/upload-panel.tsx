import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isAway } from '../../../api/connection.ts'
import { ErrorBox } from '../../../parts/error-box.tsx'
import { Name } from '../../../parts/name.tsx'
import { counted, formatBytes } from '../../../text/format.ts'
import { visibleText } from '../../../text/visible.ts'
import { cancel, clearFinished, isOver, retry, type Upload, type UploadState, uploads } from './upload-queue.ts'

/** Maximum number of rows; further uploads are only counted. */
const ROWS_MAXIMUM = 50

/** Computed once per change, because there may be thousands of uploads. */
const byState = computed(() => {
  const found: Record<UploadState, Upload[]> = {
    waiting: [],
    sending: [],
    done: [],
    exists: [],
    failed: [],
    cancelled: [],
  }
  for (const upload of uploads.value) found[upload.state.value].push(upload)
  return found
})

/** Uploads that need the user come first, then uploads under way. */
const ORDER: readonly UploadState[] = ['failed', 'exists', 'sending', 'waiting', 'done', 'cancelled']

/** The progress of the uploads of this tab. */
export function UploadPanel() {
  const { waiting, sending, exists, failed, done } = countsOf(byState.value)
  const underWay = waiting + sending
  useWarningBeforeLeaving(underWay > 0)
  if (uploads.value.length === 0) return null
  const shown = ORDER.flatMap((state) => byState.value[state].slice(0, ROWS_MAXIMUM)).slice(0, ROWS_MAXIMUM)
  return (
    <section class="uploads" aria-label="Uploads">
      <header>
        <p role="status">
          {underWay > 0 ? `${counted(underWay, 'upload')} to go` : 'Uploads are done'}, {done} sent
          {failed > 0 ? `, ${failed} failed` : ''}
          {exists > 0 ? `, ${exists} there already` : ''}
          {underWay > 0 && isAway.value ? '. They begin again when the server is back.' : ''}
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
      <ul tabIndex={0} aria-label="Files">
        {shown.map((upload) => (
          <UploadRow upload={upload} key={upload.id} />
        ))}
        {uploads.value.length > shown.length ? <li>and {uploads.value.length - shown.length} more</li> : null}
      </ul>
    </section>
  )
}

function countsOf(found: Readonly<Record<UploadState, readonly Upload[]>>) {
  const { waiting, sending, exists, failed, done } = found
  return {
    waiting: waiting.length,
    sending: sending.length,
    exists: exists.length,
    failed: failed.length,
    done: done.length,
  }
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

/** Warns before the page is closed, which would cancel its uploads. */
function useWarningBeforeLeaving(wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return undefined
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [wanted])
}
