import { useRef, useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Name } from '../../parts/name.tsx'
import { say } from '../../parts/status.tsx'
import { counted, formatCount } from '../../text/format.ts'

interface SelectionBarProps {
  readonly bucket: string
  readonly keys: ReadonlySet<string>
  readonly clear: () => void
  readonly changed: () => void
}

/** Deletions that are under way at the same time. */
const AT_ONCE = 4
const NAMES_SHOWN = 5

/** What can be done with the objects that are ticked. */
export function SelectionBar({ bucket, keys, clear, changed }: SelectionBarProps) {
  const [asking, setAsking] = useState(false)
  const [done, setDone] = useState(0)
  const control = useRef(new AbortController())
  if (keys.size === 0) return null
  const remove = async () => {
    control.current = new AbortController()
    setDone(0)
    await deleteAll(bucket, [...keys], () => setDone((before) => before + 1), control.current.signal)
    say(`${counted(keys.size, 'object')} deleted.`)
    setAsking(false)
    changed()
  }
  const close = () => {
    control.current.abort()
    setAsking(false)
  }
  const shown = [...keys].slice(0, NAMES_SHOWN)
  return (
    <div class="selection-bar" role="region" aria-label="Selection">
      <span>{counted(keys.size, 'object')} selected</span>
      <button type="button" onClick={clear}>
        Clear
      </button>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete
      </button>
      {asking ? (
        <FormDialog
          title={`Delete ${counted(keys.size, 'object')}`}
          verb="Delete"
          dangerous
          onClose={close}
          onSubmit={remove}
        >
          <ul class="names">
            {shown.map((key) => (
              <li key={key}>
                <Name of={key} />
              </li>
            ))}
            {keys.size > shown.length ? <li>and {formatCount(keys.size - shown.length)} more</li> : null}
          </ul>
          <p>With versioning their versions stay, and each gets a delete marker. Without it they are gone for ever.</p>
          {done === 0 ? null : <progress max={keys.size} value={done} aria-label="Deleted" />}
        </FormDialog>
      ) : null}
    </div>
  )
}

async function deleteAll(bucket: string, keys: string[], deleted: () => void, signal: AbortSignal): Promise<void> {
  const work = async () => {
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      signal.throwIfAborted()
      await call('DELETE /buckets/{bucket}/object/{key}', { path: { bucket, key } }, signal)
      deleted()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
