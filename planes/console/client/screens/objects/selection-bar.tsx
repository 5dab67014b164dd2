import { useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { Name } from '../../parts/name.tsx'
import { say } from '../../parts/status.tsx'
import { counted, formatCount } from '../../text/format.ts'
import { Deletion } from './delete-objects.ts'

interface SelectionBarProps {
  readonly bucket: string
  readonly keys: ReadonlySet<string>
  readonly clear: () => void
  readonly changed: () => void
}

const NAMES_SHOWN = 5

/** Actions on the selected objects. */
export function SelectionBar({ bucket, keys, clear, changed }: SelectionBarProps) {
  const [asking, setAsking] = useState(false)
  const [done, setDone] = useState(0)
  const deletion = useRef(new Deletion(bucket, keys))
  useEffect(() => {
    deletion.current = new Deletion(bucket, keys)
    setDone(0)
  }, [bucket, keys])
  if (keys.size === 0) return null
  const close = () => {
    setAsking(false)
    if (deletion.current.deleted > 0) changed()
  }
  const remove = async () => {
    await deletion.current.run(setDone)
    const { deleted } = deletion.current
    say(
      deleted === keys.size ? `${counted(deleted, 'object')} deleted.` : `Stopped: ${deleted} of ${keys.size} deleted.`,
    )
    close()
  }
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
        <ConfirmByName
          title={`Delete ${counted(keys.size, 'object')}`}
          verb="Delete"
          name={bucket}
          onClose={close}
          onConfirm={remove}
          onStop={() => deletion.current.stop()}
        >
          <Some keys={keys} />
          <p>With versioning their versions stay, and each gets a delete marker. Without it they are gone for ever.</p>
          {done === 0 ? null : <progress max={keys.size} value={done} aria-label="Deleted" />}
        </ConfirmByName>
      ) : null}
    </div>
  )
}

function Some({ keys }: { readonly keys: ReadonlySet<string> }) {
  const shown = [...keys].slice(0, NAMES_SHOWN)
  return (
    <ul class="names">
      {shown.map((key) => (
        <li key={key}>
          <Name of={key} />
        </li>
      ))}
      {keys.size > shown.length ? <li>and {formatCount(keys.size - shown.length)} more</li> : null}
    </ul>
  )
}
