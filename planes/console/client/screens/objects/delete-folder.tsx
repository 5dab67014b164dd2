import { useEffect, useRef, useState } from 'preact/hooks'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { Name } from '../../parts/name.tsx'
import { say } from '../../parts/status.tsx'
import { counted } from '../../text/format.ts'
import { FolderDeletion } from './delete-objects.ts'
import { typedName } from './object-actions.tsx'

interface DeleteFolderProps {
  readonly bucket: string
  readonly prefix: string
  readonly changed: () => void
}

/** Deletes every object whose key has the prefix. */
export function DeleteFolder({ bucket, prefix, changed }: DeleteFolderProps) {
  const [asking, setAsking] = useState(false)
  const [done, setDone] = useState<number>()
  const deletion = useRef(new FolderDeletion(bucket, prefix))
  // Without the dialog there would be no progress to see.
  useEffect(() => () => deletion.current.stop(), [])
  const close = () => {
    setAsking(false)
    if (deletion.current.deleted > 0) changed()
    deletion.current = new FolderDeletion(bucket, prefix)
    setDone(undefined)
  }
  const remove = async () => {
    setDone(deletion.current.deleted)
    await deletion.current.run(setDone)
    say(`${counted(deletion.current.deleted, 'object')} deleted.`)
    close()
  }
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete all of this
      </button>
      {asking ? (
        <ConfirmByName
          title={prefix.endsWith('/') ? 'Delete a folder' : 'Delete all that begins so'}
          verb="Delete"
          name={typedName(prefix.replace(/\/$/, ''))}
          onClose={close}
          onConfirm={remove}
          onStop={() => deletion.current.stop()}
        >
          <p>
            Every object whose key begins with <Name of={prefix} />, also those that are not listed yet. With versioning
            their versions stay, and each gets a delete marker. Without it they are gone for ever.
          </p>
          {done === undefined ? null : (
            <>
              <progress aria-label="Deletion" />
              <p role="status">{counted(done, 'object')} deleted so far</p>
            </>
          )}
        </ConfirmByName>
      ) : null}
    </>
  )
}
