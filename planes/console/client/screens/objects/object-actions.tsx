import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { say, sayFailure } from '../../parts/status.tsx'
import { visibleText } from '../../text/visible.ts'
import { CopyObject } from './copy-object.tsx'
import { folderOf, shortName } from './entries.ts'
import type { ObjectVersion } from './object-types.ts'
import { RestoreButton } from './restore-button.tsx'

interface ObjectActionsProps {
  readonly object: ObjectVersion
  /** Undefined: the current version. */
  readonly version: string | undefined
  readonly close: () => void
  readonly changed: () => void
}

export function ObjectActions({ object, version, close, changed }: ObjectActionsProps) {
  const [asking, setAsking] = useState<'delete' | 'copy'>()
  const stop = () => setAsking(undefined)
  return (
    <p class="actions">
      <button type="button" class="primary" onClick={() => void download(object).catch(sayFailure)}>
        Download
      </button>
      <a href={hrefOf(['evidence', 'bundle'], { bucket: object.bucket, key: object.key, version: object.version_id })}>
        Proof bundle
      </a>
      {may(ADMINISTRATORS) ? (
        <>
          <button type="button" onClick={() => setAsking('copy')}>
            Copy
          </button>
          {object.is_latest ? null : <RestoreButton object={object} changed={changed} />}
          <button type="button" class="danger" onClick={() => setAsking('delete')}>
            {version === undefined ? 'Delete' : 'Delete this version'}
          </button>
        </>
      ) : null}
      {asking === 'delete' && version === undefined ? (
        <DeleteObject object={object} onClose={stop} deleted={() => (close(), changed())} />
      ) : null}
      {asking === 'delete' && version !== undefined ? (
        <DeleteVersion object={object} onClose={stop} deleted={() => (close(), changed())} />
      ) : null}
      {asking === 'copy' ? <CopyObject object={object} onClose={stop} changed={changed} /> : null}
    </p>
  )
}

interface DeleteProps {
  readonly object: Pick<ObjectVersion, 'bucket' | 'key' | 'version_id'>
  readonly onClose: () => void
  readonly deleted: () => void
}

function DeleteObject({ object: { bucket, key }, onClose, deleted }: DeleteProps) {
  const remove = async () => {
    await call('DELETE /buckets/{bucket}/object/{key}', { path: { bucket, key } })
    say(`${visibleText(key)} was deleted.`)
    deleted()
  }
  return (
    <ConfirmByName title="Delete an object" verb="Delete" name={typedName(key)} onClose={onClose} onConfirm={remove}>
      <p>
        With versioning, its versions are kept behind a delete marker. Without it, the object is permanently deleted.
      </p>
    </ConfirmByName>
  )
}

export function DeleteVersion({ object, onClose, deleted }: DeleteProps) {
  const { bucket, key, version_id } = object
  const remove = async () => {
    await call('DELETE /buckets/{bucket}/object-versions/{key}', { path: { bucket, key }, query: { version_id } })
    say('The version was deleted.')
    deleted()
  }
  return (
    <ConfirmByName
      title="Delete a version"
      verb="Delete for ever"
      name={typedName(key)}
      onClose={onClose}
      onConfirm={remove}
    >
      <p>
        The version <code>{version_id}</code> is gone for ever.
      </p>
    </ConfirmByName>
  )
}

/** The text to type as a confirmation: the last segment of the key if it can be typed, otherwise `delete`. */
export function typedName(key: string): string {
  const name = shortName(key, folderOf(key))
  return /^[\x20-\x7e]{1,40}$/.test(name) && name.trim() === name ? name : 'delete'
}

/** Saves a version as a file. The browser downloads it with a ticket, so that it is not held in memory. */
async function download({ bucket, key, version_id }: ObjectVersion): Promise<void> {
  const sent = { path: { bucket, key }, query: { version_id } }
  const { path } = await call('POST /buckets/{bucket}/object-download/{key}', sent)
  const link = document.createElement('a')
  link.href = new URL(path.slice(1), document.baseURI).href
  // With it, an invalid ticket ends in a failed download instead of another page.
  link.download = ''
  link.click()
}
